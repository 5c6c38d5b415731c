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

  private struct Readers {
    var current: EpisodeReader?
    /// Of the same generation, a file that was deleted: what had come of it can still be read.
    var former: EpisodeReader?

    func first<T>(_ take: (EpisodeReader) -> T?) -> T? { current.flatMap(take) ?? former.flatMap(take) }
  }
  private let readers: Monitor<Readers>
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
    readers = Monitor(Readers(current: reader))
  }

  deinit { session.close(number) }

  var current: EpisodeReader? { readers.withLock { $0.current } }

  var generation: UInt32 { current?.generation ?? 0 }
  var size: Int64? { current?.total }

  /// Attaches what the daemon has opened. The same generation again: with a fresh view of what is there, or another
  /// file in the place of one that was deleted.
  func attach(_ new: EpisodeReader) {
    readers.withLock { readers in
      if let old = readers.current, old.generation == new.generation, !old.isOfSameFile(as: new),
        old.received >= readers.former?.received ?? 0
      {
        readers.former = old
      }
      readers.current = new
    }
  }

  private var all: Readers { readers.withLock { $0 } }

  func canRead(at offset: Int64, count: Int) -> Bool {
    all.first { $0.canRead(at: offset, count: count) ? true : nil } ?? false
  }

  func readCached(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    all.first { $0.read(at: offset, into: buffer) }
  }

  func countCached(at offset: Int64, upTo count: Int) -> Int {
    let readers = all
    return [readers.current, readers.former].compactMap { $0?.available(at: offset, upTo: count) }.max() ?? 0
  }

  var isWhole: Bool { all.first { $0.isWhole ? true : nil } ?? false }

  func whenAvailable(
    at offset: Int64, count: Int, completion: @escaping @Sendable (TransferFailure?) -> Void
  ) -> any Cancellable {
    if canRead(at: offset, count: count) {
      completion(nil)
      return Ended()
    }
    if intent == .cachedOnly {
      session.noteDamage(of: self)
      completion(TransferFailure(.EIO, "not in the cache"))
      return Ended()
    }
    return session.wait(self, at: offset, count: count, completion: completion)
  }

  func close() {
    // What the kernel has read by itself, nobody has looked at.
    current?.noteLength()
    session.noteDamage(of: self)
    session.close(number)
  }
}
