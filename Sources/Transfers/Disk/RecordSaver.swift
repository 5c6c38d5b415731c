internal import PodcastModel
internal import PosixKit
internal import TransferEngine
internal import TransferProtocol
internal import TransferStore

/// The store, used by one lane of the disk pool.
final class RecordSaver: Sendable {
  private let store: Monitor<TransferStore>

  init(_ store: consuming sending TransferStore) { self.store = Monitor(store) }

  /// - Returns: why they could not be stored.
  func save(_ records: [TransferRecord], removing keys: [MediaKey]) -> TransferFailure? {
    do {
      try store.withLock { store in try store.save(records, removing: keys) }
      return nil
    } catch {
      return .lasting("cannot remember it: \(error)")
    }
  }

  func save(_ settings: TransferSettings) {
    // Said again by the next mount.
    store.withLock { store in try? store.save(settings) }
  }
}
