package import PodcastModel

/// What a mount or a command tells the daemon. Numbers are the client's own; a client whose daemon died says
/// all that still holds again, so each of these may come twice.
package enum ClientMessage: Hashable, Sendable {
  /// The first message.
  case hello(version: UInt32, observes: Bool, answersAddresses: Bool)
  /// The options of a mount; the latest one's hold.
  case settings(TransferSettings)
  /// An open; answered by `opened` or `openFailed`. `generation` is the one a handle already has (after the
  /// daemon died): it keeps it while it can.
  case open(id: UInt64, TransferRequest, OpenIntent, generation: UInt32?)
  case close(id: UInt64)
  /// A reader waits for the whole of the blocks that it asks for, or for one byte; answered by `available` or
  /// `unavailable`.
  case wait(id: UInt64, open: UInt64, offset: Int64, count: Int64)
  case endWait(id: UInt64)
  /// Answered by `done` where `id` is not 0.
  case start(id: UInt64, TransferRequest)
  case pause(id: UInt64, TransferRequest)
  case drop(id: UInt64, MediaKey)
  /// As `drop`, and a minute later nothing is remembered of it, unless it is wanted again.
  case forget(id: UInt64, MediaKey)
  case setKept(id: UInt64, TransferRequest, Bool)
  /// Out of the queue, with what has come kept.
  case leave(id: UInt64, MediaKey)
  /// The answer to `needAddress`; nil where there is no other one.
  case freshAddress(MediaKey, String?)
  /// These bytes of a generation are not what was written, or can't be read: to come again. Answered by `done` where
  /// `id` is not 0.
  case damaged(id: UInt64, MediaKey, generation: UInt32, [Range<Int64>])
}

extension ClientMessage: FramedMessage {
  private enum Kind: UInt8, BinaryValue {
    case hello = 1, settings, open, close, wait, endWait, start, pause, drop, setKept, freshAddress
    case leave, damaged, forget
  }

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .hello(let version, let observes, let answers): bytes.put(Kind.hello, version, observes, answers)
    case .settings(let settings): bytes.put(Kind.settings, settings)
    case .open(let id, let request, let intent, let generation):
      bytes.put(Kind.open, id, request, intent, generation)
    case .close(let id): bytes.put(Kind.close, id)
    case .wait(let id, let open, let offset, let count): bytes.put(Kind.wait, id, open, offset, count)
    case .endWait(let id): bytes.put(Kind.endWait, id)
    case .start(let id, let request): bytes.put(Kind.start, id, request)
    case .pause(let id, let request): bytes.put(Kind.pause, id, request)
    case .drop(let id, let key): bytes.put(Kind.drop, id, key)
    case .forget(let id, let key): bytes.put(Kind.forget, id, key)
    case .leave(let id, let key): bytes.put(Kind.leave, id, key)
    case .setKept(let id, let request, let kept): bytes.put(Kind.setKept, id, request, kept)
    case .freshAddress(let key, let url): bytes.put(Kind.freshAddress, key, url)
    case .damaged(let id, let key, let generation, let ranges):
      bytes.put(Kind.damaged, id, key, generation, ranges)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .hello:
      self = .hello(
        version: try reader.next(), observes: try reader.next(), answersAddresses: try reader.next())
    case .settings: self = .settings(try reader.next())
    case .open:
      self = .open(
        id: try reader.next(), try reader.next(), try reader.next(), generation: try reader.next())
    case .close: self = .close(id: try reader.next())
    case .wait:
      self = .wait(
        id: try reader.next(), open: try reader.next(), offset: try reader.next(), count: try reader.next())
    case .endWait: self = .endWait(id: try reader.next())
    case .start: self = .start(id: try reader.next(), try reader.next())
    case .pause: self = .pause(id: try reader.next(), try reader.next())
    case .drop: self = .drop(id: try reader.next(), try reader.next())
    case .forget: self = .forget(id: try reader.next(), try reader.next())
    case .leave: self = .leave(id: try reader.next(), try reader.next())
    case .setKept: self = .setKept(id: try reader.next(), try reader.next(), try reader.next())
    case .freshAddress: self = .freshAddress(try reader.next(), try reader.next())
    case .damaged:
      self = .damaged(
        id: try reader.next(), try reader.next(), generation: try reader.next(), try reader.next())
    }
  }
}
