internal import SQLiteKit

/// The times of views (`ViewTime`), by their numbers.
enum ViewRows {
  private static let prefix = "view/"

  static func times(in database: Database) throws -> [Int64: ViewTime] {
    let rows = try database.all(
      "SELECT name, changed, size FROM folder WHERE name BETWEEN ? AND ?", prefix, prefix + "~"
    ) { (Int64($0.string(0).dropFirst(prefix.utf8.count)), $0.int64(1), $0.int64(2)) }
    return Dictionary(
      rows.compactMap { key, changed, mark in key.map { ($0, ViewTime(mark: mark, changed: changed)) } },
      uniquingKeysWith: { first, _ in first })
  }

  static func set(_ view: Int64, _ time: ViewTime, in database: Database) throws {
    try database.run(
      """
      INSERT INTO folder (name, changed, size) VALUES (?, ?, ?)
      ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, size = excluded.size
      """, "\(prefix)\(view)", time.changed, time.mark)
  }
}
