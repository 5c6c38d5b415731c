internal import Configuration
internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// The catalogue's file: one connection that writes, and some that only read, so that no reader waits for a
/// writer.
final class CatalogStore: Sendable {
  /// Used under a lock, or by whoever has taken it out of the pool: that makes it Sendable.
  private struct Connection: @unchecked Sendable {
    let database: Database
  }

  private let path: String
  private let writer: Monitor<Connection>
  private let order: WriteOrder
  private let idle = Monitor<[Connection]>([])
  private static let idleLimit = 4
  /// KiB: a refresh's transaction fits into it, so that no page is written twice.
  private static let writerCache = 8000
  let log: LogLimit
  let queue: WorkQueue
  let notices: CommitNotices
  let isFlushDue = Monitor(false)
  private let isReleaseDue = Monitor(false)
  /// The name of a catalogue of another version that this process has set aside.
  let setAside: String?

  /// Opens the file, creating it. One of another version is set aside.
  /// - Parameters:
  ///   - queue: where what is committed is brought into the file itself, and to the disk.
  ///   - notices: who hears of commits.
  ///   - logLimit: bytes of the write-ahead log. Refreshes don't write beyond.
  init(path: String, queue: WorkQueue, notices: CommitNotices, logLimit: Int64 = LogLimit.usual)
    throws(CatalogError)
  {
    self.path = path
    self.queue = queue
    self.notices = notices
    log = LogLimit(path: path, bytes: logLimit, queue: queue)
    order = WriteOrder(gate: path + "-order")
    do {
      // Addresses of private feeds are in it: SQLite makes its other files as this one is.
      _ = try FileDescriptor(opening: path, O_RDWR | O_CREAT, mode: 0o600)
      var options = Database.Options()
      options.vacuumsIncrementally = true
      options.cacheSize = Self.writerCache
      options.checkpointPages = LogLimit.checkpointPages
      options.placeVariable = Self.placeVariable
      var database: Database? = try Database(path: path, options: options)
      if try database.map(Schema.isOther) == true {
        // Closed first: SQLite deletes what lies beside a file by its name.
        database = nil
        setAside = try FormerDatabase.setAside(path)
      } else {
        setAside = nil
      }
      let opened = try database ?? Database(path: path, options: options)
      try Schema.make(in: opened)
      writer = Monitor(Connection(database: opened))
    } catch {
      throw CatalogError(opening: path, error)
    }
  }

  /// Says where the catalogue is.
  static let placeVariable = "XDG_DATA_HOME"

  /// Runs queries, on the calling thread, that all see the same committed state.
  func read<R: Sendable>(_ body: (Database) throws -> R) throws(CatalogError) -> R {
    do {
      let reader = try idle.withLock { $0.popLast() } ?? Self.open(path)
      defer { idle.withLock { if $0.count < Self.idleLimit { $0.append(reader) } } }
      return try reader.database.snapshot { try body(reader.database) }
    } catch {
      throw CatalogError(using: path, error)
    }
  }

  /// Changes the catalogue in one transaction.
  /// - Parameter waitsForDisk: whether it is durable when this returns; else it survives the process, as what
  ///   unlink(2) of any file system does, and `flush` brings it to the disk.
  func write<R: Sendable>(
    _ rank: WriteRank = .verb, waitsForDisk: Bool = true, _ body: (Database) throws -> R
  ) throws(CatalogError) -> R {
    do {
      let result = try order.run(rank) {
        try writer.withLock { connection in
          if rank == .refresh { try log.makeRoom(by: connection.database) }
          let database = connection.database
          if !waitsForDisk { try database.use(.normal) }
          defer { if !waitsForDisk { try? database.use(.full) } }
          return try database.transaction { try body(database) }
        }
      }
      if rank == .refresh { giveMemoryBackSoon() }
      return result
    } catch {
      throw CatalogError(using: path, error)
    }
  }

  /// Brings all that is committed into the file itself, so that a copy of it alone is whole, and empties the log; as
  /// far as nobody is reading just now.
  func checkpoint() {
    _ = try? writer.withLock { connection in try connection.database.checkpoint() }
  }

  /// Bytes of the file that are in use.
  func usedBytes() throws(CatalogError) -> Int64 { try read { try $0.usedBytes() } }

  /// Gives pages that hold nothing back to the disk, a few at a time, so that no verb waits long.
  func giveBack() throws(CatalogError) {
    do {
      var goesOn = false
      repeat {
        goesOn = try order.run(.refresh) { [goesOn] in
          try writer.withLock { try $0.database.giveBackPages(goesOn: goesOn) }
        }
      } while goesOn
    } catch {
      throw CatalogError(using: path, error)
    }
  }

  /// The writer's pages, a moment after a refresh: the next may be hours away.
  private func giveMemoryBackSoon() {
    let isFirst = isReleaseDue.withLock { isDue in
      defer { isDue = true }
      return !isDue
    }
    guard isFirst else { return }
    queue.async(after: 2) { [self] in
      isReleaseDue.withLock { $0 = false }
      writer.withLock { $0.database.releaseMemory() }
      SpareMemory.giveBackSoon(on: queue)
    }
  }

  /// Brings to the disk what was written without waiting for it.
  /// - Throws: where the disk refuses it.
  func flush() throws { try Database.flushLog(of: path) }

  private static func open(_ path: String) throws -> Connection {
    var options = Database.Options()
    options.isReadOnly = true
    options.cacheSize = 1000
    return Connection(database: try Database(path: path, options: options))
  }
}
