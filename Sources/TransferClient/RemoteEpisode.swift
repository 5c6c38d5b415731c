internal import EpisodeCache
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// An open episode: reads what is here from the data file itself, and asks the daemon for the rest.
final class RemoteEpisode: OpenEpisode {
  let request: TransferRequest
  let intent: OpenIntent
  let readTimeout: Double
  /// The daemon's name for it. (Its address may be another one's as soon as it is gone.)
  let number: UInt64

  private let reader: Monitor<EpisodeReader?>
  private let session: ClientSession

  init(
    request: TransferRequest, intent: OpenIntent, reader: EpisodeReader?, session: ClientSession,
    readTimeout: Double
  ) {
    self.request = request
    self.intent = intent
    self.readTimeout = readTimeout
    self.session = session
    number = session.nextNumber()
    self.reader = Monitor(reader)
  }

  deinit { session.close(number) }

  var current: EpisodeReader? { reader.withLock { $0 } }

  var generation: UInt32 { current?.generation ?? 0 }
  var size: Int64? { current?.total }

  /// Attaches what the daemon has opened. The same generation again: with a fresh view of what is there.
  func attach(_ new: EpisodeReader) { reader.withLock { $0 = new } }

  func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    current?.read(at: offset, into: buffer)
  }

  func countCached(at offset: Int64, upTo count: Int) -> Int {
    current?.available(at: offset, upTo: count) ?? 0
  }

  var isWhole: Bool { current?.isWhole ?? false }

  func lendWhole(_ body: (Int32) -> Int32?) -> Int32? { current?.lendWhole(body) }

  func whenAvailable(
    at offset: Int64, count: Int, completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable {
    if current?.canRead(at: offset, count: count) == true {
      completion(nil)
      return Ended()
    }
    if intent == .cachedOnly {
      completion(TransferFailure(.EIO, "not in the cache"))
      return Ended()
    }
    return session.wait(self, at: offset, count: count, completion: completion)
  }

  func close() { session.close(number) }
}
