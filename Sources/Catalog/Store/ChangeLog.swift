internal import SQLiteKit

/// The table of commits: what each has changed, written in its own transaction, so that no process misses one
/// or hears of two in the wrong order, however late it looks.
enum ChangeLog {
  /// Commits that the table keeps: who has slept through more looks at everything again.
  static let length: Int64 = 4096
  /// More changes than these of one commit are `everything`.
  private static let changeLimit = 256

  /// Within the transaction that makes the changes.
  /// - Returns: the commit's number.
  static func append(_ changes: [CatalogChange], in database: Database) throws -> Int64 {
    try database.run("UPDATE counter SET commits = commits + 1")
    let number = try count(in: database)
    let told = changes.count > changeLimit ? [.everything] : changes
    try database.run(
      "INSERT OR REPLACE INTO change_log (number, changes) VALUES (?, ?)", number,
      told.map(\.text).joined(separator: "\n"))
    try database.run("DELETE FROM change_log WHERE number <= ?", number - length)
    return number
  }

  /// How many commits there have been.
  static func count(in database: Database) throws -> Int64 {
    // What else has written to the file may have made it anything.
    min(max(try database.first("SELECT commits FROM counter") { $0.int64(0) } ?? 0, 0), 1 << 60)
  }

  /// The commits after `number`, in order; one that says `everything` where some of them are not in the table.
  static func commits(after number: Int64, in database: Database) throws -> [CatalogCommit] {
    let count = try count(in: database)
    if count <= number { return [] }
    let commits = try database.all(
      "SELECT number, changes FROM change_log WHERE number > ? AND number <= ? ORDER BY number", number, count
    ) { row in
      CatalogCommit(
        number: row.int64(0), changes: row.string(1).split(separator: "\n").map { CatalogChange(text: $0) })
    }
    if commits.count == count - number { return commits }
    return [CatalogCommit(number: count, changes: [.everything])]
  }
}
