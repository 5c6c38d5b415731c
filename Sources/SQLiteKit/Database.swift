internal import CSQLite
internal import Glibc
internal import PosixKit
internal import WebValues

/// A connection to an SQLite database.
///
/// It is not Sendable: one thread uses it, or several keep it in a `Monitor`; the compiler sees to that.
package final class Database {
  package struct Options: Sendable {
    package var isReadOnly = false
    /// What reaches the disk before a commit returns.
    package var synchronous = Synchronous.full
    /// Seconds to wait for another connection's write transaction.
    package var busyTimeout = 10.0
    /// Pages in the write-ahead log from which on a commit brings them into the file itself, as far as nobody reads.
    package var checkpointPages = 1000
    /// The environment variable that says where the file is: for messages.
    package var placeVariable: String?
    package var cacheSize = 2000
    /// The file is being made, and is of no use before it is whole: no journal, nothing is brought to the disk.
    package var isBeingMade = false
    /// Nobody changes the file while it is open: no lock is taken, and nothing beside it is looked for
    /// (https://sqlite.org/uri.html#uriimmutable).
    package var isImmutable = false
    /// Called when the file is open and nothing but its header has been read.
    package var whenOpen: (@Sendable () -> Void)?

    package init() {}
  }

  package enum Synchronous: String, Sendable {
    /// A commit survives the process, and with a write-ahead log perhaps not a power loss; the file stays sound.
    case normal
    /// A commit survives a power loss.
    case full
  }

  let handle: OpaquePointer
  private let busyTimeout: Double
  /// Seconds to wait for another connection, and until when it waits now.
  private var patience = 0.0
  private var deadline = MonotonicTime.now
  var statements: [String: Statement] = [:]

  /// Opens `path`, creating the file unless read-only; ":memory:" is a database of its own in memory.
  /// - Throws: `DatabaseError`, which names the file that is at fault, where that is known.
  package convenience init(path: String, options: Options = Options()) throws(DatabaseError) {
    do throws(DatabaseError) {
      try self.init(opening: path, options)
    } catch {
      throw error.naming(filesOf: path, options)
    }
  }

  private init(opening path: String, _ options: Options) throws(DatabaseError) {
    _ = SQLiteLibrary.isConfigured
    var access = options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    if options.isImmutable { access |= SQLITE_OPEN_URI }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      options.isImmutable ? "file:\(PercentEncoding.path(path))?immutable=1" : path, &opened,
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard let opened else { throw DatabaseError(code: SQLITE_NOMEM, message: "out of memory") }
    guard code == SQLITE_OK else {
      let message = String(cString: sqlite3_errmsg(opened))
      sqlite3_close_v2(opened)
      throw DatabaseError(code: code, message: "\(message): \(path)")
    }
    options.whenOpen?()
    handle = opened
    busyTimeout = options.busyTimeout
    waitWhenBusy(options.busyTimeout)
    try script(
      """
      PRAGMA foreign_keys = 1;
      PRAGMA secure_delete = 1;
      PRAGMA cache_size = -\(options.cacheSize);
      PRAGMA temp_store = memory;
      PRAGMA wal_autocheckpoint = \(options.checkpointPages);
      """)
    // Readers and a writer do not wait for each other (https://sqlite.org/wal.html).
    if options.isBeingMade {
      try script("PRAGMA journal_mode = off; PRAGMA locking_mode = exclusive; PRAGMA synchronous = off")
    } else {
      if !options.isReadOnly { try switchToWriteAheadLog(until: .after(options.busyTimeout)) }
      try script("PRAGMA synchronous = \(options.synchronous.rawValue)")
    }
    // The first read maps the file that processes share: what is wrong with that is said here, with the file's name.
    _ = try first("PRAGMA user_version") { $0.int64(0) }
  }

  /// Opens a copy of a database's bytes in memory, to be read.
  package init(copyOf bytes: UnsafeRawBufferPointer) throws(DatabaseError) {
    _ = SQLiteLibrary.isConfigured
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      ":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened, let base = bytes.baseAddress,
      let copy = sqlite3_malloc64(UInt64(bytes.count))
    else {
      sqlite3_close_v2(opened)
      throw DatabaseError(code: SQLITE_NOMEM, message: "out of memory")
    }
    handle = opened
    busyTimeout = 0
    copy.copyMemory(from: base, byteCount: bytes.count)
    // A write-ahead log is a file beside the database, of which there is none (https://sqlite.org/fileformat2.html).
    for place in [18, 19] where place < bytes.count {
      copy.storeBytes(of: 1, toByteOffset: place, as: UInt8.self)
    }
    let count = Int64(bytes.count)
    let result = sqlite3_deserialize(
      opened, "main", copy.assumingMemoryBound(to: UInt8.self), count, count,
      UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY))
    guard result == SQLITE_OK else { throw DatabaseError(code: result, message: "it cannot be opened") }
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(handle)
  }

  /// What reaches the disk before the commits that follow return. Not within a transaction.
  package func use(_ synchronous: Synchronous) throws(DatabaseError) {
    try script("PRAGMA synchronous = \(synchronous.rawValue)")
  }

  /// Brings to the disk what commits have left to the system (`Synchronous.normal`).
  /// - Parameter path: the database's.
  /// - Throws: `PosixError` or `DatabaseError` where the disk refuses it: a power loss may take what was committed.
  package static func flushLog(of path: String) throws {
    do throws(PosixError) {
      try FileDescriptor(openingRegular: path + "-wal", O_RDONLY).synchronize()
    } catch {
      // Nothing has been committed since the last checkpoint.
      if error.errno == .ENOENT { return }
      // The next fdatasync(2) would succeed and do nothing: the system takes those pages for written. A checkpoint
      // writes them once more, into the file itself.
      guard try Database(path: path).checkpoint() else { throw error }
    }
  }

  package func releaseMemory() { sqlite3_db_release_memory(handle) }
  package var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }
  package var changedRows: Int { Int(sqlite3_changes(handle)) }

  /// Rows changed since it was opened, those of a virtual table's own tables included.
  package var totalChanges: Int { Int(sqlite3_total_changes(handle)) }
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Writes what is in the write-ahead log into the file, as far as no reader needs the file as it was, and empties the
  /// log (https://sqlite.org/c3ref/wal_checkpoint_v2.html, TRUNCATE).
  /// - Parameter seconds: to wait for readers, and for another one that is at it; nil for as long as for other connections.
  /// - Returns: whether all of it is in the file.
  @discardableResult
  package func checkpoint(waiting seconds: Double? = nil) throws(DatabaseError) -> Bool {
    if let seconds { waitWhenBusy(seconds) }
    defer { if seconds != nil { waitWhenBusy(busyTimeout) } }
    let deadline = MonotonicTime.after(seconds ?? busyTimeout)
    while true {
      let result = try first("PRAGMA wal_checkpoint(truncate)") { ($0.int(0), $0.int(1), $0.int(2)) }
      guard let (busy, pages, written) = result else { return false }
      // No count of pages: another one is under way, for which SQLite does not wait.
      let isKeptOut = busy != 0 && pages < 0
      if !isKeptOut || MonotonicTime.now >= deadline { return busy == 0 && pages == written }
      sqlite3_sleep(5)
    }
  }

  /// Tries for another connection's lock each millisecond: SQLite's own waits grow to a tenth of a second, and miss the
  /// moment in which a long row of transactions leaves it free.
  private func waitWhenBusy(_ seconds: Double) {
    patience = seconds
    sqlite3_busy_handler(
      handle,
      { database, tries in
        guard let database else { return 0 }
        let waiting = Unmanaged<Database>.fromOpaque(database).takeUnretainedValue()
        if tries == 0 { waiting.deadline = .after(waiting.patience) }
        guard MonotonicTime.now < waiting.deadline else { return 0 }
        sqlite3_sleep(1)
        return 1
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The journal mode is the file's and set once. SQLite does not use the busy timeout when two
  /// connections set it at the same time.
  private func switchToWriteAheadLog(until deadline: MonotonicTime) throws(DatabaseError) {
    while true {
      do throws(DatabaseError) {
        for pragma in ["PRAGMA journal_mode", "PRAGMA journal_mode = wal"] {
          let mode = try first(pragma) { $0.string(0) }
          if mode == "wal" || mode == "memory" { return }
        }
        throw DatabaseError(code: SQLITE_CANTOPEN, message: "no write-ahead log here")
      } catch {
        guard error.isBusy, MonotonicTime.now < deadline else { throw error }
        sqlite3_sleep(5)
      }
    }
  }

  /// Bytes of the pages that hold something.
  package func usedBytes() throws(DatabaseError) -> Int64 {
    let (all, free) = (try number("PRAGMA page_count"), try number("PRAGMA freelist_count"))
    return ((all ?? 0) - (free ?? 0)) * (try number("PRAGMA page_size") ?? 0)
  }
}

/// The library that the catalogue is kept with.
package enum SQLiteLibrary {
  static let isConfigured: Void = podcastfs_sqlite_keep_no_statistics()

  package static var version: String { String(cString: sqlite3_libversion()) }
}
