internal import Configuration
internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// Who may write first.
enum WriteRank: Sendable {
  /// What a user has done, or waits for.
  case verb
  /// What came of a refresh, in pieces of some tens of milliseconds: verbs of all processes come between them.
  case refresh
}

/// The open catalogue. One connection writes and some only read, so no reader waits for a writer.
final class CatalogStore: Sendable {
  /// Used under a lock, or by the one thread that has taken it out of the pool: that makes it Sendable.
  private struct Connection: @unchecked Sendable {
    let database: Database
  }

  private enum Chore { case flush, memory, list }
  let path: String
  let log: LogFile
  /// Device and inode of the file that is open.
  private let file: [UInt64]
  private let clock: @Sendable () -> Int64
  private let writer: Monitor<Connection>
  private let refreshes = Monitor(false)
  private let idle = Monitor<[Connection]>([])
  private let queue: WorkQueue
  private let due = Monitor<Set<Chore>>([])
  let commits: CommitWatch
  /// What a person should know: see `Catalog.takeNote`.
  let notes = Monitor<[String]>([])
  let subscriptionCopy: SubscriptionCopy
  private static let idleLimit = 4
  /// KiB: a refresh's transaction fits into it, so that no page is written twice.
  private static let writerCache = 8000
  /// Pages of the write-ahead log from which on a commit brings them into the file (16 MiB).
  private static let checkpointPages = 4096
  /// Microseconds before each write of a refresh. A verb that waits for SQLite's lock tries more often than that.
  private static let pause: UInt32 = 3000
  /// Seconds that a write waits for another process to end its own. A search stores its results, and ends within ten.
  private static let writePatience = 9.0
  /// Seconds to wait for readers when the log is emptied.
  private static let patience = 0.5
  /// Says where the catalogue is.
  static let placeVariable = "XDG_DATA_HOME"

  /// Opens the file, creating it. One that is damaged or of another version is set aside.
  init(
    path: String, queue: WorkQueue, log: LogFile, clock: @escaping @Sendable () -> Int64
  ) throws(CatalogError) {
    (self.path, self.queue, self.log, self.clock) = (path, queue, log, clock)
    commits = CommitWatch(path: path + "-commits")
    subscriptionCopy = SubscriptionCopy(besides: path)
    do {
      var options = Database.Options()
      options.cacheSize = Self.writerCache
      options.checkpointPages = Self.checkpointPages
      options.busyTimeout = Self.writePatience
      options.placeVariable = Self.placeVariable
      let open = { [options] in
        // Where another file comes between, the open one counts as replaced.
        (file: Self.identity(of: path), database: try Schema.open(path, options))
      }
      try Schema.create(path)
      var told: String?
      let opened: (file: [UInt64], database: Database)
      do { opened = try open() } catch let error as DatabaseError
        where error.isDamaged || error.isOfOtherVersion
      {
        told = try Schema.setAside(path, error) { (try? open()) != nil }
        try Schema.create(path)
        opened = try open()
        commits.announce()
      }
      file = opened.file
      writer = Monitor(Connection(database: opened.database))
      if let told { tell(told) }
    } catch {
      throw CatalogError(opening: path, error)
    }
  }

  private static func identity(of path: String) -> [UInt64] {
    var status = stat()
    return stat(path, &status) == 0 ? [UInt64(status.st_dev), UInt64(status.st_ino)] : []
  }

  /// Whether the file that is open was set aside or removed: nobody finds again what is written into it.
  var isReplaced: Bool { Self.identity(of: path) != file }

  /// Seconds since 1970.
  var now: Int64 { clock() }

  /// Runs queries, on the calling thread, that all see the same committed state.
  func read<R: Sendable>(_ body: (Database) throws -> R) throws(CatalogError) -> R {
    do {
      let reader = try idle.withLock { $0.popLast() } ?? Self.open(path)
      defer { idle.withLock { if $0.count < Self.idleLimit { $0.append(reader) } } }
      return try reader.database.snapshot { try body(reader.database) }
    } catch {
      let isMended: Bool
      do { isMended = try mendsIndex(after: error) } catch { throw refusal(error) }
      if isMended {
        throw CatalogError(.EIO, "the full-text index was damaged, and is filled again: try again")
      }
      throw refusal(error)
    }
  }

  /// - Parameter waitsForDisk: whether it is durable when this returns; else it survives the process, and is on the disk
  ///   half a second later.
  func write<R: Sendable>(
    _ rank: WriteRank = .verb, waitsForDisk: Bool = true, _ body: (Database) throws -> R
  ) throws(CatalogError) -> R {
    let result = try inTurn(rank) { database in
      if !waitsForDisk { try database.use(.normal) }
      defer { if !waitsForDisk { try? database.use(.full) } }
      return try transaction(in: database, body)
    }
    // A disk that refuses the log and the checkpoint refuses the next write too, which says so.
    if !waitsForDisk { soon(.flush, after: 0.5) { try? self.flush() } }
    // The next refresh may be hours away.
    if rank == .refresh { soon(.memory, after: 2) { self.giveMemoryBack() } }
    return result
  }

  /// Changes the catalogue in one transaction and tells everybody what `body` says has changed, once it is durable.
  func change<R: Sendable>(
    _ rank: WriteRank = .verb, waitsForDisk: Bool = true,
    _ body: (Database, inout [CatalogChange]) throws -> R
  ) throws(CatalogError) -> R {
    let (result, changes) = try write(rank, waitsForDisk: waitsForDisk) { database -> (R, [CatalogChange]) in
      var changes: [CatalogChange] = []
      let result = try body(database, &changes)
      if !changes.isEmpty { try ChangeLog.append(changes, in: database) }
      return (result, changes)
    }
    if !changes.isEmpty { commits.announce() }
    if changes.contains(where: \.mayBeOfList) {
      soon(.list, after: SubscriptionCopy.delay) { self.subscriptionCopy.update(from: self) }
    }
    return result
  }

  private func transaction<R>(in database: Database, _ body: (Database) throws -> R) throws -> R {
    try database.transaction {
      let result = try body(database)
      if isReplaced {
        commits.announce()
        throw CatalogError(.EIO, "the catalogue \(path) was replaced while it was open: try again")
      }
      return result
    }
  }

  private func inTurn<R: Sendable>(_ rank: WriteRank, _ body: (Database) throws -> R) throws(CatalogError)
    -> R
  {
    func turn() throws -> R {
      guard rank == .refresh else { return try writer.withLock { try body($0.database) } }
      return try refreshes.withLock { _ in
        usleep(Self.pause)
        return try writer.withLock { try body($0.database) }
      }
    }
    do {
      do { return try turn() } catch {
        guard try mendsIndex(after: error) else { throw error }
        return try turn()
      }
    } catch {
      throw refusal(error)
    }
  }

  /// The error that a caller of the catalogue hears. All errors of its file come here. A damaged file is renamed. Every
  /// process that has it open then notices that another file has its path, and opens that.
  private func refusal(_ error: any Error) -> CatalogError {
    guard let damage = error as? DatabaseError, damage.isDamaged else { return CatalogError(wrapping: error) }
    do {
      if let told = try Schema.setAside(path, damage, unless: { isReplaced }) { tell(told) }
      commits.announce()
      return CatalogError(damage.errno, "the catalogue \(path) was replaced: try again")
    } catch {
      return CatalogError(damage.errno, "the catalogue \(path) is damaged, and stays: \(error)")
    }
  }

  func tell(_ note: String) {
    log.write(note)
    notes.withLock { $0.append(note) }
  }

  /// Makes the full-text index anew where it is what is damaged.
  /// - Returns: whether it was.
  /// - Throws: where it cannot be made anew.
  private func mendsIndex(after error: any Error) throws -> Bool {
    guard let damage = error as? DatabaseError, damage.isDamaged else { return false }
    if damage.isOfIndex {
      do { try makeIndexAnew() } catch let error as DatabaseError where error.isDamaged {
        try makeIndexAnew(hasDamagedPages: true)
      }
      return true
    }
    guard (try? FullText.hasDamagedPages(in: Self.open(path).database)) == true else { return false }
    try makeIndexAnew(hasDamagedPages: true)
    return true
  }

  /// A full-text index that is damaged holds nothing that the rows do not have. Whoever fills it hears of it.
  private func makeIndexAnew(hasDamagedPages: Bool = false) throws {
    try writer.withLock { connection in
      try transaction(in: connection.database) { database in
        if hasDamagedPages { try FullText.replaceTables(in: database) }
        try FullText.makeAnew(in: database)
        try ChangeLog.append([.everything], in: database)
      }
    }
    commits.announce()
  }

  /// Brings all that is committed into the file itself, so that a copy of it alone is whole, and empties the log; as
  /// far as nobody is reading just now.
  func checkpoint() {
    _ = try? writer.withLock { connection in try connection.database.checkpoint(waiting: Self.patience) }
  }

  /// Empties the log soon, so that what the user has forgotten does not stay in it.
  func emptyLog() { queue.async { [self] in checkpoint() } }

  /// Brings to the disk what was written without waiting for it.
  /// - Throws: where the disk refuses it.
  func flush() throws { try Database.flushLog(of: path) }

  private func giveMemoryBack() {
    writer.withLock { $0.database.releaseMemory() }
    SpareMemory.giveBackSoon(on: queue)
  }

  /// Once, however often it is asked for meanwhile.
  private func soon(_ chore: Chore, after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    guard due.withLock({ $0.insert(chore).inserted }) else { return }
    queue.async(after: seconds) { [self] in
      due.withLock { _ = $0.remove(chore) }
      body()
    }
  }

  private static func open(_ path: String) throws -> Connection {
    var options = Database.Options()
    options.isReadOnly = true
    options.cacheSize = 1000
    return Connection(database: try Database(path: path, options: options))
  }
}
