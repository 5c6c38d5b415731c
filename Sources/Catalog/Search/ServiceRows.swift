internal import HTTPKit
internal import SQLiteKit

/// Answers of search services, kept as they came for all processes, as long as each service allows.
enum AnswerCache {
  /// - Parameters:
  ///   - key: what makes two questions the same.
  ///   - now: an answer that came later is of a clock that was set back since.
  static func answer(
    _ key: String, of service: any SearchService, now: Int64, in database: Database
  ) throws -> SearchAnswer? {
    let kept = try database.first(
      "SELECT body, is_from_private_host FROM answer WHERE key = ? AND fetched <= ?2 AND expires > ?2", key,
      now
    ) { (body: $0.blob(0), isPrivate: $0.bool(1)) }
    guard let kept, let found = try? service.podcasts(in: kept.body) else { return nil }
    return SearchAnswer(source: service.name, found: found, mayBePrivate: kept.isPrivate)
  }

  /// - Parameter terms: the words that it answers.
  static func store(
    _ response: HTTPResponse, of service: any SearchService, for key: String, to terms: String, now: Int64,
    in database: Database
  ) throws {
    try removeOld(now: now, in: database)
    let lifetime = lifetime(response.head, of: service)
    if lifetime <= 0 { return }
    try database.run(
      """
      INSERT OR REPLACE INTO answer (key, terms, body, is_from_private_host, fetched, expires)
      VALUES (?, ?, ?, ?, ?, ?)
      """, key, terms, response.body, response.head.isFromPrivateHost, now, now + lifetime)
  }

  private static func lifetime(_ head: HTTPResponseHead, of service: any SearchService) -> Int64 {
    if service.freshness > 0 { return service.freshness }
    let control = head.value("cache-control")?.lowercased() ?? ""
    if control.contains("no-store") || control.contains("no-cache") { return 0 }
    return min(RefreshTimes.maximumAge(control) ?? 0, 24 * 3600)
  }

  static func removeOld(now: Int64, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE expires <= ?1 OR fetched > ?1", now)
  }

  /// Removes all answers to some words, whatever the country, the limit and the services were.
  static func remove(answersTo terms: String, in database: Database) throws {
    try database.run("DELETE FROM answer WHERE terms = ?", terms)
  }
}

/// How often a service may be asked, counted in the catalogue for all processes of the user.
enum CallLimit {
  /// Counts a call, where one is free.
  /// - Returns: nil where it may be made, else the seconds until one is free.
  static func take(_ service: any SearchService, now: Int64, in database: Database) throws -> Int64? {
    guard let limit = service.callsPerMinute else { return nil }
    // A call in the future is of a clock that was set back since.
    try database.run("DELETE FROM service_call WHERE at <= ? OR at > ?", now - 60, now)
    let calls = try database.all(
      "SELECT at FROM service_call WHERE service = ? ORDER BY at", service.name
    ) { $0.int64(0) }
    if calls.count >= limit { return max(calls[calls.count - limit] + 60 - now, 1) }
    try database.run("INSERT INTO service_call (service, at) VALUES (?, ?)", service.name, now)
    return nil
  }

  /// The service says that it was asked too often: nobody asks it for the next minute.
  static func exhaust(_ service: any SearchService, now: Int64, in database: Database) throws {
    for _ in 0..<(service.callsPerMinute ?? 0) {
      try database.run("INSERT INTO service_call (service, at) VALUES (?, ?)", service.name, now)
    }
  }
}
