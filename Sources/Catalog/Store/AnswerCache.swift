internal import PodcastModel
internal import SQLiteKit

/// Answers of search services, stored for all processes: a day long they spare the service the question, and
/// longer they serve when it can't be asked.
enum AnswerCache {
  static let freshness: Int64 = 24 * 3600
  static let longest: Int64 = 30 * 24 * 3600

  /// What makes two questions the same.
  static func key(_ service: any SearchService, _ question: ServiceQuestion) -> String {
    "\(service.name) \(question.url)"
  }

  /// - Parameter age: the most seconds since it came. One of the future is of a clock that was set back since.
  static func answer(_ key: String, age: Int64, now: Int64, in database: Database) throws -> SearchAnswer? {
    let body = try database.first(
      "SELECT body FROM answer WHERE key = ? AND fetched > ? AND fetched <= ?", key, now - age, now
    ) { $0.string(0) }
    guard let body, let json = try? JSONValue(parsing: Array(body.utf8)) else { return nil }
    return SearchAnswer(json: json)
  }

  /// - Parameter terms: the words that it answers.
  static func store(
    _ answer: SearchAnswer, for key: String, to terms: String, now: Int64, in database: Database
  ) throws {
    try removeOld(now: now, in: database)
    try database.run(
      "INSERT OR REPLACE INTO answer (key, terms, body, fetched) VALUES (?, ?, ?, ?)", key, terms,
      answer.json.compactText, now)
  }

  static func removeOld(now: Int64, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE fetched < ? OR fetched > ?", now - longest, now)
  }

  /// Removes all answers to some words, whatever the country, the limit and the services were.
  static func remove(answersTo terms: String, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE terms = ?", terms)
  }
}
