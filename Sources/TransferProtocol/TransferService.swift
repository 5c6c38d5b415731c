package import PodcastModel
package import PosixKit

/// What the tree and the command line need of the transfers; `TransferClient` gives it by the daemon, tests
/// by a fake. Thread-safe; no call waits: what takes time ends in its completion, on any thread, once.
package protocol TransferService: AnyObject, Sendable {
  /// What is known of a download; nil where nothing ever was. From memory.
  func status(of key: MediaKey) -> TransferStatus?
  /// All that are known, in no order. From memory.
  func allStatuses() -> [TransferStatus]
  /// Calls `observer` after each change with what changed (state, size, generation, error, keep, and about
  /// once a second while bytes come), from one thread. Set once, before anything else.
  func observe(_ observer: @escaping @Sendable (MediaKey) -> Void)

  /// Opens an episode for reading. Ends when its exact size is known, or when the server says that it has
  /// none, or with the failure; at the latest after `read_timeout`.
  func open(
    _ request: TransferRequest, intent: OpenIntent,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable

  /// A reader gets `failure`: the episode's `error` says why, until something of it comes or changes.
  func note(_ failure: TransferFailure, ofReading request: TransferRequest)

  @discardableResult
  func order(_ order: TransferOrder, completion: @escaping OrderCompletion) -> any Cancellable

  var steering: Steering { get }
  /// - Throws: `PosixError` where it cannot be kept.
  func steer(_ steering: Steering) throws
  /// What is in the queue: never evicted. Replaces what was said before.
  func protect(_ keys: [MediaKey])

  /// What came of the daemon's requests, as far as it has told. From memory.
  var httpCounts: HTTPCounts { get }

  /// Why nothing can be asked of the daemon now, in one line; nil while it serves or is not needed. From memory.
  var failure: String? { get }
}

/// The end of an order: nil when it is remembered and `status(of:)` shows the change, else why nobody has said
/// so. One that is given up may have been followed all the same.
package typealias OrderCompletion = @Sendable (TransferFailure?) -> Void

package enum OpenIntent: UInt8, BinaryValue {
  /// Start the download, and learn the size before the open returns.
  case download
  /// Return at once; the first read starts the download (`trigger=read`).
  case downloadAtRead
  /// Return at once; reads fetch just what they ask for (`trigger=never`).
  case fetchOnly
  /// Return at once; reads get what is cached, else EIO (`no_trigger`).
  case cachedOnly
}

/// An open episode: one representation of it, whatever happens to the others.
package protocol OpenEpisode: AnyObject, Sendable {
  var generation: UInt32 { get }
  /// The exact size in bytes, nil where the server gives no length and the end has not come.
  var size: Int64? { get }
  /// Copies bytes that are here: as many as `buffer` takes or the file has; 0 at the end; nil where any of
  /// them is not here. Never waits but for the disk.
  func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int?
  /// How many of `count` bytes at `offset` are here, one behind the other.
  func countCached(at offset: Int64, upTo count: Int) -> Int
  var isWhole: Bool { get }
  /// Waits until `readCached` would answer for that range, or until it cannot any more. The wait ends with a failure where
  /// the episode gets no new byte for `read_timeout`.
  func whenAvailable(
    at offset: Int64, count: Int, completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable
  func close()
}
