internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferEngine
internal import TransferProtocol
internal import TransferStore

/// The store, used by one lane of the disk pool.
final class RecordSaver: Sendable {
  private let store: Monitor<TransferStore>
  private let path: String
  private let flusher = WorkQueue(name: "store-flush", stackSize: 64 * 1024)
  private struct Log: ~Copyable {
    var isFlushDue = false
    /// Pages that it has, if it has not been begun anew meanwhile.
    var pages = 0
    /// What was forgotten may still be there; also of the run before, which may have been killed.
    var isToBeEmptied = true
    /// Whether it is being brought into the file.
    var isTakenIn = false
  }
  private let log = Monitor(Log())
  /// From so many pages on the log is brought into the file (4 MiB); from so many by who saves: where one commit follows
  /// the other the log would never begin anew.
  private static let (manyPages, mostPages) = (1000, 4000)
  /// In seconds: what was saved is on the disk so much later at the latest.
  private static let patience = 0.5

  init(_ store: consuming sending TransferStore) {
    path = store.path
    self.store = Monitor(store)
  }

  private func saved(pages: Int, hasForgotten: Bool) {
    let isFirst = log.withLock { log in
      log.pages += pages
      if hasForgotten { log.isToBeEmptied = true }
      defer { log.isFlushDue = true }
      return !log.isFlushDue
    }
    guard isFirst else { return }
    flusher.async(after: Self.patience) { [self] in
      log.withLock { $0.isFlushDue = false }
      // Where the disk refuses it, the log is brought into the file, which is another place.
      if (try? TransferStore.flush(path)) == nil { log.withLock { $0.isToBeEmptied = true } }
      takeLogIn()
    }
  }

  /// Brings the log into the file where it is time for that: on a slow disk it takes long, so that neither who saves nor
  /// a flush waits for it. What can't be done now is tried after a later commit.
  private func takeLogIn() {
    let isDue = log.withLock { log in
      if log.isTakenIn || !(log.isToBeEmptied || log.pages >= Self.manyPages) { return false }
      log.isTakenIn = true
      return true
    }
    guard isDue else { return }
    let isStarted = PosixThread.attempt("store-log", stackSize: 256 << 10) { [self] in
      let (pages, empties) = log.withLock { log in
        defer { log.isToBeEmptied = false }
        return (log.pages, log.isToBeEmptied)
      }
      let isDone = TransferStore.takeIn(logOf: path, emptying: empties)
      log.withLock { log in
        log.isTakenIn = false
        // Else it is begun anew only where nobody has saved meanwhile.
        if isDone && empties { log.pages -= pages } else if empties { log.isToBeEmptied = true }
      }
    }
    if !isStarted { log.withLock { $0.isTakenIn = false } }
  }

  /// What is in a long log is brought into the file while nobody else saves: most of it is there.
  private func beginLogAnew(in store: borrowing TransferStore, beyond pages: Int) {
    let isDue = log.withLock { $0.pages + pages >= Self.mostPages && !$0.isTakenIn }
    guard isDue, store.takeLogIn() else { return }
    log.withLock { $0.pages = -pages }
  }

  /// - Returns: why they could not be stored.
  func save(_ records: [TransferRecord], removing keys: [MediaKey]) -> TransferFailure? {
    let isForgetting = records.contains(where: \.isForgotten)
    do {
      let (pages, isErased) = try store.withLock { store in
        try store.save(records, removing: keys)
        // Before whoever ordered it hears that it is done: from then on the daemon may be killed.
        let isErased = isForgetting && store.erase()
        let pages = store.takeWrittenPages()
        if isErased { log.withLock { $0.pages = -pages } } else { beginLogAnew(in: store, beyond: pages) }
        return (pages, isErased)
      }
      saved(pages: pages, hasForgotten: !keys.isEmpty || isForgetting && !isErased)
      return nil
    } catch {
      let errno = (error as? DatabaseError)?.errno ?? .EIO
      return TransferFailure(
        errno, errno == .ENOSPC ? "no space left on the disk of \(path)" : "cannot remember it: \(error)")
    }
  }

  /// Marks store and cache as of one moment, when nothing changes any more.
  func seal(_ layout: CacheLayout) {
    let seal = Int64.random(in: 1 ... .max)
    guard (try? store.withLock({ store in try store.set(seal: seal) })) != nil else { return }
    layout.set(seal: seal)
  }

  func save(_ settings: TransferSettings) {
    // Said again by the next mount.
    store.withLock { store in try? store.save(settings) }
  }
}
