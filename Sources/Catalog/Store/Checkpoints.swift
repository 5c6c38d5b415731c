internal import Glibc
internal import PosixKit
internal import SQLiteKit

/// Brings what is committed from the write-ahead log into the file itself: a moment after the last commit, so that a
/// copy of the file alone is whole; and keeps the log from growing without bound, where somebody always reads.
package final class Checkpoints: Sendable {
  private struct State: ~Copyable {
    var isDue = false
    /// One is under way beside the writer.
    var isAhead = false
    var isStopped = false
    var lastCommit = MonotonicTime.now
    var latest = MonotonicTime.now
    /// Written since one was last begun beside the writer.
    var pages = 0
    /// What was forgotten on a user's word is still in the log.
    var isToBeEmptied = false
    /// Seconds until the next try, while a reader keeps the file as it was.
    var wait = Checkpoints.quiet
  }

  package static let logLimit: Int64 = 64 << 20
  /// Pages of the log from which on a commit does it itself, where nobody reads at that moment (16 MiB).
  static let latestPages = 4096
  /// Pages that have been written from which on it is done while the next transaction is written (4 MiB). The log's size
  /// would say nothing: once it was long it stays so.
  private static let earlyPages = 1024

  private let path: String
  private let queue: WorkQueue
  private let logLimit: Int64
  private let state = Monitor(State())

  /// Seconds after the last commit, and after the first of many that follow each other.
  private static let quiet = 1.0
  private static let longest = 10.0
  /// Seconds between two tries, where somebody reads for long.
  private static let longestWait = 60.0
  /// Seconds that a refresh, and who writes behind it, waits for readers.
  private static let patience = 0.2

  init(path: String, queue: WorkQueue, logLimit: Int64) {
    self.path = path
    self.queue = queue
    self.logLimit = logLimit
  }

  func stop() { state.withLock { $0.isStopped = true } }

  /// There is something to be brought into the file.
  /// - Parameter pages: how many have been written.
  func committed(pages: Int = 0) {
    let isFirst = state.withLock { state in
      state.lastCommit = .now
      state.pages += pages
      if state.isDue || state.isStopped { return false }
      state.isDue = true
      state.latest = .after(Self.longest)
      state.wait = Self.quiet
      return true
    }
    if isFirst { lookAgain(after: Self.quiet) }
    goAhead()
  }

  /// So that who writes much does not do both one after the other.
  private func goAhead() {
    let isFree = state.withLock { state in
      if state.isAhead || state.isStopped || state.pages < Self.earlyPages { return false }
      state.isAhead = true
      state.pages = 0
      return true
    }
    guard isFree else { return }
    queue.async { [self] in
      _ = isWritten()
      state.withLock { $0.isAhead = false }
    }
  }

  private func lookAgain(after seconds: Double) {
    queue.async(after: seconds) { [self] in look() }
  }

  private func look() {
    let wait: Double? = state.withLock { state in
      if state.isStopped { return nil }
      let now = MonotonicTime.now
      let calm = Self.quiet - now.seconds(since: state.lastCommit)
      return calm > 0 && now < state.latest ? calm : 0
    }
    guard let wait else { return }
    if wait > 0 { return lookAgain(after: wait) }
    // What is committed from here on is the next one's.
    state.withLock { $0.isDue = false }
    if isWritten() { return }
    let next: Double? = state.withLock { state in
      if state.isDue || state.isStopped { return nil }
      state.isDue = true
      state.wait = min(state.wait * 2, Self.longestWait)
      return state.wait
    }
    if let next { lookAgain(after: next) }
  }

  /// Something was forgotten on a user's word: it is not to stay in the log until that begins anew.
  func forgot() { state.withLock { $0.isToBeEmptied = true } }

  /// On a connection of its own: nobody waits for it. Where the file was deleted meanwhile, it is not made anew.
  private func isWritten() -> Bool {
    let empties = state.withLock { state in
      defer { state.isToBeEmptied = false }
      return state.isToBeEmptied
    }
    let isDone = isWritten(empties ? .truncate : .passive)
    if empties, !isDone { forgot() }
    return isDone
  }

  private func isWritten(_ kind: Database.Checkpoint) -> Bool {
    do throws(DatabaseError) {
      var options = Database.Options()
      options.mustExist = true
      options.busyTimeout = 0
      return try Database(path: path, options: options).checkpoint(kind)
    } catch {
      // No file, no room: there is nothing to be done here.
      return !error.isBusy
    }
  }

  /// Before a refresh writes.
  /// - Throws: EBUSY where the log has no room for it: somebody reads the file as it was a while ago.
  func makeRoom(by writer: Database) throws {
    guard size > logLimit else { return }
    if try writer.checkpoint(waiting: Self.patience) { return }
    if size > logLimit { throw CatalogError(.EBUSY, "another program keeps the catalogue as it was") }
  }

  /// Bytes of the log.
  private var size: Int64 {
    var status = stat()
    return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
  }
}
