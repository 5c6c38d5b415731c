internal import Glibc
package import PodcastModel
package import SQLiteKit
package import TransferProtocol

/// The daemon's memory: `transfers.sqlite` in the state directory. The daemon alone writes it; clients read it
/// while no daemon runs.
package struct TransferStore {
  private let database: Database
  package let path: String

  package static let fileName = "transfers.sqlite"
  private static let placeVariable = "XDG_STATE_HOME"

  /// Opens the store in `state`, creating it where it is missing.
  /// - Throws: `DatabaseError`.
  package init(state: String) throws {
    path = state + "/" + Self.fileName
    var options = Database.Options()
    options.placeVariable = Self.placeVariable
    database = try Database(path: path, options: options)
    try database.makeTables(version: Self.version, Self.tables)
    // Of what is forgotten no word stays in the file.
    try database.script("PRAGMA secure_delete = 1")
  }

  package static func path(in state: String) -> String { state + "/" + fileName }

  /// The name that a damaged store is kept under.
  package static func damagedName(in state: String) -> String { path(in: state) + ".damaged" }

  /// What is in the place of one of the store's files and is no regular file.
  package enum Stranger: Hashable, Sendable {
    /// In the place of the store or of its log, which has the latest of it.
    case ofMemory(String)
    /// In the place of what SQLite makes anew, named by the end of its name: the store knows as much without it.
    case ofHelper(String, suffix: String)

    package var path: String {
      switch self {
      case .ofMemory(let path), .ofHelper(let path, _): path
      }
    }
  }

  private static let helpers = ["-shm", "-journal"]

  package static func strangers(in state: String) -> [Stranger] {
    ["", "-wal"].map { .ofMemory(path(in: state) + $0) }.filter(isThere)
      + helpers.map { .ofHelper(path(in: state) + $0, suffix: $0) }.filter(isThere)
  }

  private static func isThere(_ stranger: Stranger) -> Bool {
    var status = stat()
    return lstat(stranger.path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
  }

  /// What was in the place of what SQLite makes anew and has been set aside.
  package static func strangersAside(in state: String) -> [String] {
    helpers.map { damagedName(in: state) + $0 }.filter { isThere(.ofMemory($0)) }
  }

  package enum Condition: Hashable, Sendable {
    case missing, sound
    case unreadable(String)
  }

  /// What the store looks like to who only looks.
  package static func condition(in state: String) -> Condition {
    if let stranger = strangers(in: state).first { return .unreadable("\(stranger.path) is no regular file") }
    guard access(path(in: state), F_OK) == 0 else { return .missing }
    do throws(DatabaseError) {
      let store = try TransferStore(reading: state)
      guard try store.database.version() == version else { return .unreadable("it is of another version") }
      let verdict = try store.database.first("PRAGMA quick_check(1)") { $0.string(0) } ?? ""
      return verdict == "ok" ? .sound : .unreadable(verdict)
    } catch {
      return .unreadable(error.message)
    }
  }

  /// Takes a damaged store out of the way, in the place of one before.
  /// - Returns: where it is kept.
  package static func setAside(in state: String) -> String {
    for suffix in ["", "-wal"] + helpers { setAside(suffix, in: state) }
    return damagedName(in: state)
  }

  /// Takes one of the store's files out of the way, by the end of its name.
  /// - Returns: where it is kept; nil where it stays.
  @discardableResult
  package static func setAside(_ suffix: String, in state: String) -> String? {
    let target = damagedName(in: state) + suffix
    // Also an empty directory.
    remove(target)
    return rename(path(in: state) + suffix, target) == 0 ? target : nil
  }

  /// The store for reading; it must exist.
  package init(reading state: String) throws(DatabaseError) {
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    options.placeVariable = Self.placeVariable
    path = state + "/" + Self.fileName
    database = try Database(path: path, options: options)
  }

  /// Raise it with every change of the tables: a store of another version is set aside.
  private static let version = 1

  private static let tables = """
    CREATE TABLE transfer (
      key TEXT PRIMARY KEY NOT NULL,
      url TEXT NOT NULL, media_type TEXT, expected_length INTEGER,
      title TEXT NOT NULL, show TEXT NOT NULL, file_name TEXT NOT NULL,
      allows_private INTEGER NOT NULL, user_agent TEXT,
      state TEXT NOT NULL, generation INTEGER NOT NULL, total INTEGER, received INTEGER NOT NULL,
      error TEXT, kept INTEGER NOT NULL, changed INTEGER NOT NULL, position INTEGER NOT NULL,
      failed INTEGER, not_before INTEGER, attempts INTEGER NOT NULL,
      doubts INTEGER NOT NULL, doubted INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE settings (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL);
    """

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

  /// Keeps `records` and deletes `removed`, in one transaction that is on the disk when this returns.
  package func save(_ records: [TransferRecord], removing removed: [MediaKey] = []) throws {
    try database.transaction {
      for record in records { try save(record) }
      for key in removed { try database.run("DELETE FROM transfer WHERE key = ?", key.text) }
    }
    // What was forgotten is not to stay in the log either.
    if !removed.isEmpty {
      _ = try? database.checkpoint(.truncate, waiting: Self.patience)
    }
  }

  /// Seconds.
  private static let patience = 2.0

  private func save(_ record: TransferRecord) throws(DatabaseError) {
    let request = record.request
    try database.run(
      """
      INSERT OR REPLACE INTO transfer
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      request.key.text, request.url, request.mediaType, request.expectedLength, request.title, request.show,
      request.fileName, request.allowsPrivateHosts, request.userAgent, record.state.name,
      Int64(record.generation), record.total, record.received, record.error, record.isKept, record.changed,
      record.order, record.failed, record.notBefore, record.attempts,
      record.doubts, record.doubted)
  }

  package func settings() throws(DatabaseError) -> TransferSettings? {
    try database.first("SELECT value FROM settings") { TransferSettings(stored: $0.blob(0)) } ?? nil
  }

  package func save(_ settings: TransferSettings) throws(DatabaseError) {
    try database.run("INSERT OR REPLACE INTO settings VALUES (1, ?)", settings.stored)
  }

  private static let columns = """
    SELECT key, url, media_type, expected_length, title, show, file_name, allows_private, user_agent, state,
      generation, total, received, error, kept, changed, position, failed, not_before, attempts,
      doubts, doubted FROM transfer
    """

  /// nil where a row is not one that this program would write.
  private static func record(_ row: borrowing Row) -> TransferRecord? {
    guard let key = MediaKey(row.string(0)), let state = TransferState(name: row.string(9)) else {
      return nil
    }
    var record = TransferRecord(
      request: TransferRequest(
        key: key, url: row.string(1), mediaType: row.stringIfPresent(2),
        expectedLength: row.int64IfPresent(3).map(TransferRecord.bounded), title: row.string(4),
        show: row.string(5), fileName: row.string(6), allowsPrivateHosts: row.bool(7),
        userAgent: row.stringIfPresent(8)))
    record.state = state
    record.generation = UInt32(clamping: row.int64(10))
    record.total = row.int64IfPresent(11).map(TransferRecord.bounded)
    record.received = TransferRecord.bounded(row.int64(12))
    record.error = row.stringIfPresent(13)
    record.isKept = row.bool(14)
    record.changed = TransferRecord.bounded(row.int64(15))
    record.order = TransferRecord.bounded(row.int64(16))
    record.failed = row.int64IfPresent(17).map(TransferRecord.bounded)
    record.notBefore = row.int64IfPresent(18).map(TransferRecord.bounded)
    record.attempts = TransferRecord.bounded(row.int64(19))
    record.doubts = TransferRecord.bounded(row.int64(20))
    record.doubted = TransferRecord.bounded(row.int64(21))
    return record
  }
}
