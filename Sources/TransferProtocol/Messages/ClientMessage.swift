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
  /// A reader waits; answered by `available` or `unavailable` for the whole of the blocks that it asks for.
  case wait(id: UInt64, open: UInt64, offset: Int64, count: Int64)
  case endWait(id: UInt64)
  /// Answered by `done` where `id` is not 0.
  case start(id: UInt64, TransferRequest)
  case pause(id: UInt64, TransferRequest)
  case drop(id: UInt64, MediaKey)
  /// As `drop`, and nothing is remembered of it.
  case forget(id: UInt64, MediaKey)
  case setKept(id: UInt64, TransferRequest, Bool)
  /// Out of the queue, with what has come kept.
  case leave(id: UInt64, MediaKey)
  /// The answer to `needAddress`; nil where there is no other one.
  case freshAddress(MediaKey, String?)
  /// These bytes of a generation are not what was written, or can't be read: to come again. Answered by `done` where
  /// `id` is not 0.
  case damaged(id: UInt64, MediaKey, generation: UInt32, [Range<Int64>])

  /// Ranges in one message.
  package static let mostRanges = 4096
}

extension ClientMessage: FramedMessage {
  private enum Kind: UInt8 {
    case hello = 1, settings, open, close, wait, endWait, start, pause, drop, setKept, freshAddress
    case leave, damaged, forget
  }

  package func encode(into writer: inout FrameWriter) {
    switch self {
    case .hello(let version, let observes, let answers):
      writer.put(Kind.hello.rawValue)
      writer.put(version)
      writer.put(observes)
      writer.put(answers)
    case .settings(let settings):
      writer.put(Kind.settings.rawValue)
      settings.encode(into: &writer)
    case .open(let id, let request, let intent, let generation):
      writer.put(Kind.open.rawValue)
      writer.put(id)
      request.encode(into: &writer)
      writer.put(intent.rawValue)
      writer.put(generation)
    case .close(let id): writer.put(Kind.close.rawValue, id)
    case .wait(let id, let open, let offset, let count):
      writer.put(Kind.wait.rawValue, id)
      writer.put(open)
      writer.put(offset)
      writer.put(count)
    case .endWait(let id): writer.put(Kind.endWait.rawValue, id)
    case .start(let id, let request):
      writer.put(Kind.start.rawValue, id)
      request.encode(into: &writer)
    case .pause(let id, let request):
      writer.put(Kind.pause.rawValue, id)
      request.encode(into: &writer)
    case .drop(let id, let key):
      writer.put(Kind.drop.rawValue, id)
      writer.put(key)
    case .forget(let id, let key):
      writer.put(Kind.forget.rawValue, id)
      writer.put(key)
    case .leave(let id, let key):
      writer.put(Kind.leave.rawValue, id)
      writer.put(key)
    case .setKept(let id, let request, let kept):
      writer.put(Kind.setKept.rawValue, id)
      request.encode(into: &writer)
      writer.put(kept)
    case .freshAddress(let key, let url):
      writer.put(Kind.freshAddress.rawValue)
      writer.put(key)
      writer.put(url)
    case .damaged(let id, let key, let generation, let ranges):
      writer.put(Kind.damaged.rawValue, id)
      writer.put(key)
      writer.put(generation)
      writer.put(UInt32(min(ranges.count, Self.mostRanges)))
      for range in ranges.prefix(Self.mostRanges) {
        writer.put(range.lowerBound)
        writer.put(range.upperBound)
      }
    }
  }

  package init(from reader: inout FrameReader) throws(FrameError) {
    guard let kind = Kind(rawValue: try reader.uint8()) else { throw .malformed }
    switch kind {
    case .hello:
      self = .hello(
        version: try reader.uint32(), observes: try reader.bool(), answersAddresses: try reader.bool())
    case .settings: self = .settings(try TransferSettings(from: &reader))
    case .open:
      let id = try reader.uint64()
      let request = try TransferRequest(from: &reader)
      guard let intent = OpenIntent(rawValue: try reader.uint8()) else { throw .malformed }
      self = .open(id: id, request, intent, generation: try reader.optionalUInt32())
    case .close: self = .close(id: try reader.uint64())
    case .wait:
      self = .wait(
        id: try reader.uint64(), open: try reader.uint64(), offset: try reader.int64(),
        count: try reader.int64())
    case .endWait: self = .endWait(id: try reader.uint64())
    case .start: self = .start(id: try reader.uint64(), try TransferRequest(from: &reader))
    case .pause: self = .pause(id: try reader.uint64(), try TransferRequest(from: &reader))
    case .drop: self = .drop(id: try reader.uint64(), try reader.key())
    case .forget: self = .forget(id: try reader.uint64(), try reader.key())
    case .leave: self = .leave(id: try reader.uint64(), try reader.key())
    case .setKept:
      self = .setKept(id: try reader.uint64(), try TransferRequest(from: &reader), try reader.bool())
    case .freshAddress: self = .freshAddress(try reader.key(), try reader.optionalString())
    case .damaged:
      let (id, key, generation) = (try reader.uint64(), try reader.key(), try reader.uint32())
      let count = try reader.uint32()
      guard count <= Self.mostRanges else { throw .malformed }
      var ranges: [Range<Int64>] = []
      for _ in 0..<count {
        let (lower, upper) = (try reader.int64(), try reader.int64())
        guard lower >= 0, lower <= upper else { throw .malformed }
        ranges.append(lower..<upper)
      }
      self = .damaged(id: id, key, generation: generation, ranges)
    }
  }
}
