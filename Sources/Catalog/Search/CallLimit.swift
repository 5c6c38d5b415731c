internal import SQLiteKit

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
