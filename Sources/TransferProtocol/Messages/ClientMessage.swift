package import PodcastModel

/// What a mount or a command tells the daemon. Numbers are the client's own; a client whose daemon died says
/// all that still holds again, so each of these may come twice.
package enum ClientMessage: Hashable, Sendable {
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
  /// Answered by `done` or `refused`.
  case order(id: UInt64, TransferOrder)
  /// The answer to `needAddress`; nil where there is no other one.
  case freshAddress(MediaKey, String?)
}

extension ClientMessage: FramedMessage {
  private enum Kind: UInt8, BinaryValue {
    case hello = 1, settings, open, close, wait, endWait, order, freshAddress
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
    case .order(let id, let order): bytes.put(Kind.order, id, order)
    case .freshAddress(let key, let url): bytes.put(Kind.freshAddress, key, url)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .hello: self = try reader.make(Self.hello)
    case .settings: self = try reader.make(Self.settings)
    case .open: self = try reader.make(Self.open)
    case .close: self = try reader.make(Self.close)
    case .wait: self = try reader.make(Self.wait)
    case .endWait: self = try reader.make(Self.endWait)
    case .order: self = try reader.make(Self.order)
    case .freshAddress: self = try reader.make(Self.freshAddress)
    }
  }
}

/// What a client wants done with an episode for good. The daemon remembers it before it does it.
package enum TransferOrder: Hashable, Sendable {
  case start(TransferRequest)
  case pause(TransferRequest)
  case setKept(TransferRequest, Bool)
  /// Takes it out of the queue, where only this client's readers want it; what has come stays.
  case leave(MediaKey)
  /// Cancels the download and drops its bytes.
  case drop(MediaKey)
  /// As `drop`, once no client has it open any more. Readers that have it open go on with its download until then.
  case dropAtClose(MediaKey)
  /// As `drop`, and a minute later nothing is remembered of it, unless it is wanted again.
  case forget(MediaKey)
  /// Bytes of this generation are not what was written: drops it, and downloads the episode again.
  case replace(MediaKey, generation: UInt32)

  package var key: MediaKey {
    switch self {
    case .start(let request), .pause(let request), .setKept(let request, _): request.key
    case .leave(let key), .drop(let key), .dropAtClose(let key), .forget(let key), .replace(let key, _): key
    }
  }

  package var request: TransferRequest? {
    switch self {
    case .start(let request), .pause(let request), .setKept(let request, _): request
    case .leave, .drop, .dropAtClose, .forget, .replace: nil
    }
  }

  /// Whether it acts only once nobody has the episode open.
  package var waitsForClose: Bool { if case .dropAtClose = self { true } else { false } }

  package var takesFiles: Bool {
    switch self {
    case .drop, .forget, .replace: true
    case .start, .pause, .setKept, .leave, .dropAtClose: false
    }
  }
}

extension TransferOrder: BinaryValue {
  private enum Kind: UInt8, BinaryValue {
    case start = 1, pause, setKept, leave, drop, dropAtClose, forget, replace
  }

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .start(let request): bytes.put(Kind.start, request)
    case .pause(let request): bytes.put(Kind.pause, request)
    case .setKept(let request, let isKept): bytes.put(Kind.setKept, request, isKept)
    case .leave(let key): bytes.put(Kind.leave, key)
    case .drop(let key): bytes.put(Kind.drop, key)
    case .dropAtClose(let key): bytes.put(Kind.dropAtClose, key)
    case .forget(let key): bytes.put(Kind.forget, key)
    case .replace(let key, let generation): bytes.put(Kind.replace, key, generation)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .start: self = try reader.make(Self.start)
    case .pause: self = try reader.make(Self.pause)
    case .setKept: self = try reader.make(Self.setKept)
    case .leave: self = try reader.make(Self.leave)
    case .drop: self = try reader.make(Self.drop)
    case .dropAtClose: self = try reader.make(Self.dropAtClose)
    case .forget: self = try reader.make(Self.forget)
    case .replace: self = try reader.make(Self.replace)
    }
  }
}
