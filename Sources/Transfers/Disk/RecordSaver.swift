internal import PodcastModel
internal import PosixKit
internal import SQLiteKit
internal import TransferProtocol
internal import TransferStore

/// The store, used by one lane of the disk pool.
final class RecordSaver: Sendable {
  private let store: Monitor<TransferStore>

  init(_ store: consuming sending TransferStore) { self.store = Monitor(store) }

  /// - Returns: why they could not be stored.
  func save(_ records: [TransferRecord], removing keys: [MediaKey]) -> TransferFailure? {
    store.withLock { store in
      do {
        try store.save(records, removing: keys)
        return nil
      } catch {
        let errno = (error as? DatabaseError)?.errno ?? .EIO
        let isFull = errno == .ENOSPC
        return TransferFailure(
          errno, isFull ? "no space left on the disk of \(store.path)" : "cannot remember it: \(error)")
      }
    }
  }

  func save(_ settings: TransferSettings) {
    // The next mount says it again.
    store.withLock { store in try? store.save(settings) }
  }
}
