package import PodcastModel
package import SQLiteKit
package import TransferProtocol

/// The daemon's memory: `transfers.sqlite` in the state directory. The daemon alone writes it; clients read it
/// while no daemon runs.
package struct TransferStore {
  private let database: Database

  package static let fileName = "transfers.sqlite"

  /// Opens the store in `state`, creating it where it is missing.
  /// - Throws: `DatabaseError`.
  package init(state: String) throws {
    database = try Database(path: state + "/" + Self.fileName)
    try database.migrate([Self.first, Self.second])
  }

  /// The store for reading; it must exist.
  package init(reading state: String) throws(DatabaseError) {
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    database = try Database(path: state + "/" + Self.fileName, options: options)
  }

  private static func first(_ database: Database) throws {
    try database.script(
      """
      CREATE TABLE transfer (
        key TEXT PRIMARY KEY NOT NULL,
        url TEXT NOT NULL, media_type TEXT, expected_length INTEGER,
        title TEXT NOT NULL, show TEXT NOT NULL, file_name TEXT NOT NULL,
        allows_private INTEGER NOT NULL, user_agent TEXT,
        state TEXT NOT NULL, generation INTEGER NOT NULL, total INTEGER, received INTEGER NOT NULL,
        error TEXT, kept INTEGER NOT NULL, changed INTEGER NOT NULL, position INTEGER NOT NULL,
        failed INTEGER, not_before INTEGER
      ) WITHOUT ROWID;
      CREATE TABLE settings (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL);
      """)
  }

  /// Back-off goes on where it was.
  private static func second(_ database: Database) throws {
    try database.script("ALTER TABLE transfer ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0")
  }

  /// All that is remembered, in the queue's order.
  package func records() throws(DatabaseError) -> [TransferRecord] {
    try database.all("\(Self.columns) ORDER BY position, key") { Self.record($0) }.compactMap(\.self)
  }

  /// Whether there is something that a daemon would go on with.
  package func hasUnfinished() throws(DatabaseError) -> Bool {
    try database.exists(
      """
      SELECT 1 FROM transfer
      WHERE state IN ('queued', 'downloading') OR (state = 'paused' AND error IS NOT NULL) LIMIT 1
      """)
  }

  /// Keeps `records` and forgets `removed`, in one transaction that is on the disk when this returns.
  package func save(_ records: [TransferRecord], removing removed: [MediaKey] = []) throws {
    try database.transaction {
      for record in records { try save(record) }
      for key in removed { try database.run("DELETE FROM transfer WHERE key = ?", key.text) }
    }
  }

  private func save(_ record: TransferRecord) throws(DatabaseError) {
    let request = record.request
    try database.run(
      """
      INSERT OR REPLACE INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      request.key.text, request.url, request.mediaType, request.expectedLength, request.title, request.show,
      request.fileName, request.allowsPrivateHosts, request.userAgent, record.state.name,
      Int64(record.generation), record.total, record.received, record.error, record.isKept, record.changed,
      record.order, record.failed, record.notBefore, record.attempts)
  }

  package func settings() throws(DatabaseError) -> TransferSettings? {
    try database.first("SELECT value FROM settings") { TransferSettings(stored: $0.blob(0)) } ?? nil
  }

  package func save(_ settings: TransferSettings) throws(DatabaseError) {
    try database.run("INSERT OR REPLACE INTO settings VALUES (1, ?)", settings.stored)
  }

  private static let columns = """
    SELECT key, url, media_type, expected_length, title, show, file_name, allows_private, user_agent, state,
      generation, total, received, error, kept, changed, position, failed, not_before, attempts FROM transfer
    """

  /// nil where a row is not one that this program would write.
  private static func record(_ row: borrowing Row) -> TransferRecord? {
    guard let key = MediaKey(row.string(0)), let state = TransferState(name: row.string(9)) else {
      return nil
    }
    var record = TransferRecord(
      request: TransferRequest(
        key: key, url: row.string(1), mediaType: row.stringIfPresent(2),
        expectedLength: row.int64IfPresent(3), title: row.string(4), show: row.string(5),
        fileName: row.string(6), allowsPrivateHosts: row.bool(7), userAgent: row.stringIfPresent(8)))
    record.state = state
    record.generation = UInt32(clamping: row.int64(10))
    record.total = row.int64IfPresent(11)
    record.received = row.int64(12)
    record.error = row.stringIfPresent(13)
    record.isKept = row.bool(14)
    record.changed = row.int64(15)
    record.order = row.int64(16)
    record.failed = row.int64IfPresent(17)
    record.notBefore = row.int64IfPresent(18)
    record.attempts = row.int64(19)
    return record
  }
}
