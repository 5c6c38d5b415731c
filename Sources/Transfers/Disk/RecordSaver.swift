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
  private let isFlushDue = Monitor(false)
  /// In seconds: what was saved is on the disk so much later at the latest.
  private static let patience = 0.5

  init(_ store: consuming sending TransferStore) {
    path = store.path
    self.store = Monitor(store)
  }

  private func flushSoon() {
    let isFirst = isFlushDue.withLock { isDue in
      defer { isDue = true }
      return !isDue
    }
    guard isFirst else { return }
    flusher.async(after: Self.patience) { [self] in
      isFlushDue.withLock { $0 = false }
      TransferStore.flush(path)
    }
  }

  /// - Returns: why they could not be stored.
  func save(_ records: [TransferRecord], removing keys: [MediaKey]) -> TransferFailure? {
    do {
      try store.withLock { store in try store.save(records, removing: keys) }
      flushSoon()
      return nil
    } catch {
      let errno = (error as? DatabaseError)?.errno ?? .EIO
      return TransferFailure(
        errno, errno == .ENOSPC ? "no space left on the disk of \(path)" : "cannot remember it: \(error)")
    }
  }

  func save(_ settings: TransferSettings) {
    // Said again by the next mount.
    store.withLock { store in try? store.save(settings) }
  }
}
