internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// An open episode: reads what is here from the data file itself, and asks the daemon for the rest.
final class RemoteEpisode: OpenEpisode {
  let request: TransferRequest
  let intent: OpenIntent
  /// The daemon's name for it. (Its address may be another one's as soon as it is gone.)
  let number: UInt64

  private let reader: Monitor<EpisodeReader?>
  private let client: TransferClient

  init(
    request: TransferRequest, intent: OpenIntent, reader: EpisodeReader?, client: TransferClient
  ) {
    self.request = request
    self.intent = intent
    self.client = client
    number = client.nextNumber()
    self.reader = Monitor(reader)
  }

  deinit { client.close(number) }

  var current: EpisodeReader? { reader.withLock { $0 } }
  var generation: UInt32 { current?.generation ?? 0 }
  var size: Int64? { current?.total }
  var isWhole: Bool { current?.isWhole ?? false }

  /// Attaches what the daemon has opened; of the same generation again, with a fresh view of what is there.
  func attach(_ new: EpisodeReader) { reader.withLock { $0 = new } }

  func canRead(at offset: Int64, count: Int) -> Bool {
    current?.canRead(at: offset, count: count) ?? false
  }

  func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    current?.read(at: offset, into: buffer)
  }

  func countCached(at offset: Int64, upTo count: Int) -> Int {
    current?.available(at: offset, upTo: count) ?? 0
  }

  func whenAvailable(
    at offset: Int64, count: Int, completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable {
    if canRead(at: offset, count: count) {
      completion(nil)
      return Cancellation()
    }
    let isDamaged = current?.isDamaged(at: offset, count: count) == true
    if !isDamaged && intent != .cachedOnly {
      return client.wait(self, at: offset, count: count, completion: completion)
    }
    let failure = TransferFailure.lasting(
      isDamaged
        ? "the cache's disk cannot read it: try podcastfs verify"
        : "not in the cache, and this program's reads fetch nothing")
    client.note(failure, ofReading: request)
    completion(failure)
    return Cancellation()
  }

  func close() { client.close(number) }
}
