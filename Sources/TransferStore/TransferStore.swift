internal import Glibc
package import PodcastModel
package import SQLiteKit
package import TransferProtocol

/// `transfers.sqlite` in the state directory. The daemon alone writes it; clients read it while no daemon runs.
package struct TransferStore {
  private let database: Database
  package let state: String
  package var path: String { Self.path(in: state) }

  package static let fileName = "transfers.sqlite"
  private static let placeVariable = "XDG_STATE_HOME"

  /// Makes it where it is missing.
  package init(state: String) throws {
    self.state = state
    var options = Database.Options()
    options.placeVariable = Self.placeVariable
    options.cacheSize = 256
    database = try Database(path: Self.path(in: state), options: options)
    try database.makeTables(version: Self.version, Self.tables)
    // Of what is forgotten no word stays in the file.
    try database.script("PRAGMA secure_delete = 1")
  }

  package static func path(in state: String) -> String { state + "/" + fileName }
  package static func damagedName(in state: String) -> String { path(in: state) + ".damaged" }

  /// Why the store cannot be used; nil where it can, or is missing.
  package static func problem(in state: String) -> String? {
    guard access(path(in: state), F_OK) == 0 else { return nil }
    do throws(DatabaseError) {
      let store = try TransferStore(reading: state)
      guard try store.database.version() == version else { return "it is of another version" }
      let verdict = try store.database.first("PRAGMA quick_check(1)") { $0.string(0) } ?? ""
      return verdict == "ok" ? nil : verdict
    } catch {
      return error.message
    }
  }

  /// Takes a store that can't be used out of the way, in the place of an earlier one.
  package static func setAside(in state: String) -> String {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      unlink(damagedName(in: state) + suffix)
      rename(path(in: state) + suffix, damagedName(in: state) + suffix)
    }
    return damagedName(in: state)
  }

  /// The store for reading; it must exist.
  package init(reading state: String) throws(DatabaseError) {
    var options = Database.Options()
    options.isReadOnly = true
    options.cacheSize = 256
    options.busyTimeout = 2
    options.placeVariable = Self.placeVariable
    self.state = state
    database = try Database(path: Self.path(in: state), options: options)
  }

  /// Raise it with every change of the tables: a store of another version is set aside.
  private static let version = 8

  private static let tables = """
    CREATE TABLE transfer (
      key BLOB PRIMARY KEY NOT NULL, position INTEGER NOT NULL, unfinished INTEGER NOT NULL,
      evictable INTEGER NOT NULL, received INTEGER NOT NULL, generation INTEGER NOT NULL,
      budgeted INTEGER NOT NULL, surplus INTEGER, record BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX transfer_unfinished ON transfer (position) WHERE unfinished;
    CREATE INDEX transfer_bytes ON transfer (evictable, received, generation, budgeted);
    -- When rows changed that are remembered for a size alone.
    CREATE INDEX transfer_surplus ON transfer (surplus) WHERE surplus NOT NULL;
    CREATE TABLE settings (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL);
    """

  /// What is remembered, in the queue's order; without rows that this program would not write.
  /// - Parameter unfinished: only what a daemon goes on with.
  package func records(unfinished: Bool = false) throws(DatabaseError) -> [TransferStatus] {
    let condition = unfinished ? "WHERE unfinished" : ""
    return try database.all(
      "SELECT record FROM transfer \(condition) ORDER BY position, key", as: Self.record
    ).compactMap(\.self)
  }

  package func record(of key: MediaKey) throws(DatabaseError) -> TransferStatus? {
    try database.first("SELECT record FROM transfer WHERE key = ?", key.bytes, as: Self.record) ?? nil
  }

  package func bytes() throws(DatabaseError) -> Int64 {
    try database.first("SELECT SUM(budgeted) FROM transfer") { $0.int64(0) } ?? 0
  }

  /// Keys, generations and bytes of the rows that `condition` is true of.
  package func names(
    where condition: String
  ) throws(DatabaseError) -> [(key: MediaKey, generation: UInt32, received: Int64)] {
    try database.all("SELECT key, generation, received FROM transfer WHERE \(condition)") { row in
      MediaKey(bytes: row.blob(0)).map { ($0, UInt32(clamping: row.int64(1)), row.int64(2)) }
    }.compactMap(\.self)
  }

  private static func record(_ row: borrowing Row) -> TransferStatus? {
    try? TransferStatus(decoding: row.blob(0)[...])
  }

  /// Forgets rows that are there for a size alone, but for the latest.
  package func prune() throws(DatabaseError) {
    try database.run(
      "DELETE FROM transfer WHERE surplus NOT NULL AND key NOT IN (SELECT key FROM transfer"
        + " WHERE surplus NOT NULL ORDER BY surplus DESC LIMIT \(Self.restingRows))")
  }

  private static let restingRows = 4096

  package func hasUnfinished() throws(DatabaseError) -> Bool {
    try database.exists("SELECT 1 FROM transfer WHERE unfinished LIMIT 1")
  }

  /// Keeps `records` and deletes `removed`, in one transaction that is on the disk when this returns.
  package func save(_ records: [TransferStatus], removing removed: [MediaKey] = []) throws {
    try database.transaction {
      for record in records {
        try database.run(
          "INSERT OR REPLACE INTO transfer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", record.key.bytes,
          record.order,
          record.isPending, record.isEvictable, record.received, Int64(record.generation),
          record.budgeted, record.holdsNothing ? record.changed : nil, record.encoded)
      }
      for key in removed { try database.run("DELETE FROM transfer WHERE key = ?", key.bytes) }
    }
    // What was forgotten is not to stay in the log either.
    if !removed.isEmpty {
      _ = try? database.checkpoint(waiting: 2)
    }
  }

  package func settings() throws(DatabaseError) -> TransferSettings? {
    try database.first("SELECT value FROM settings") { try? TransferSettings(decoding: $0.blob(0)[...]) }
      ?? nil
  }

  package func save(_ settings: TransferSettings) throws(DatabaseError) {
    try database.run("INSERT OR REPLACE INTO settings VALUES (1, ?)", settings.encoded)
  }
}
