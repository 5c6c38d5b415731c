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

  /// - Parameter age: the most seconds since it came; nil for any.
  static func answer(_ key: String, age: Int64?, now: Int64, in database: Database) throws -> SearchAnswer? {
    let body = try database.first(
      "SELECT body FROM answer WHERE key = ? AND fetched > ?", key, age.map { now - $0 } ?? .min
    ) { $0.string(0) }
    guard let body, let json = try? JSONValue(parsing: Array(body.utf8)) else { return nil }
    return SearchAnswer(json: json)
  }

  static func store(_ answer: SearchAnswer, for key: String, now: Int64, in database: Database) throws {
    try removeOld(now: now, in: database)
    try database.run(
      "INSERT OR REPLACE INTO answer (key, body, fetched) VALUES (?, ?, ?)", key, answer.json.compactText, now
    )
  }

  static func removeOld(now: Int64, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE fetched < ?", now - longest)
  }

  static func remove(_ key: String, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE key = ?", key)
  }
}
