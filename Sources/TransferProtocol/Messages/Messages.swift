package import PodcastModel

/// What a mount or a command tells the daemon. Numbers are the client's own; a client whose daemon died says
/// all that still holds again, so each of these may come twice.
package enum ClientMessage: Hashable, Sendable {
  case hello(version: UInt32, answersAddresses: Bool)
  /// The options of a mount; the latest one's hold.
  case settings(TransferSettings)
  /// An open. `generation` is the one that a handle has already (after the daemon died): it keeps it while it can.
  case open(id: UInt64, TransferRequest, OpenIntent, generation: UInt32?)
  case close(id: UInt64)
  /// A reader waits for the whole of the blocks that it asks for, or for one byte.
  case wait(id: UInt64, open: UInt64, offset: Int64, count: Int64)
  case endWait(id: UInt64, open: UInt64)
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
    case .hello(let version, let answers): bytes.put(Kind.hello, version, answers)
    case .settings(let settings): bytes.put(Kind.settings, settings)
    case .open(let id, let request, let intent, let generation):
      bytes.put(Kind.open, id, request, intent, generation)
    case .close(let id): bytes.put(Kind.close, id)
    case .wait(let id, let open, let offset, let count): bytes.put(Kind.wait, id, open, offset, count)
    case .endWait(let id, let open): bytes.put(Kind.endWait, id, open)
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

/// What the daemon tells a mount or a command.
package enum DaemonMessage: Hashable, Sendable {
  /// The answer to `hello`: where its cache is, whatever the client's environment says.
  case welcome(version: UInt32, cache: String, runtime: String)
  /// Downloads as they are now, and what came of all requests: all that are known after `hello`, then each change.
  case changed([TransferStatus], HTTPCounts)
  /// All that are known have been told.
  case snapshotEnd
  /// What came of an open, a wait or an order, by the client's number: nil, or why nothing. An open has a generation once
  /// there is one, and is answered again when one begins.
  case answer(UInt64, TransferFailure? = nil, generation: UInt32 = 0)
  /// The address has expired: is there another one?
  case needAddress(MediaKey, url: String)
}

extension DaemonMessage: FramedMessage {
  private enum Kind: UInt8, BinaryValue {
    case welcome = 1, changed, snapshotEnd, answer, needAddress
  }

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .welcome(let version, let cache, let runtime): bytes.put(Kind.welcome, version, cache, runtime)
    case .changed(let statuses, let counts): bytes.put(Kind.changed, statuses, counts)
    case .snapshotEnd: bytes.put(Kind.snapshotEnd)
    case .answer(let id, let failure, let generation): bytes.put(Kind.answer, id, failure, generation)
    case .needAddress(let key, let url): bytes.put(Kind.needAddress, key, url)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .welcome: self = try reader.make(Self.welcome)
    case .changed: self = try reader.make(Self.changed)
    case .snapshotEnd: self = .snapshotEnd
    case .answer: self = try reader.make(Self.answer)
    case .needAddress: self = try reader.make(Self.needAddress)
    }
  }
}

/// What a client wants done with an episode for good. The daemon remembers it before it does it.
package struct TransferOrder: Hashable, Sendable {
  package enum Verb: UInt8, BinaryValue {
    /// Queues the download, resumes a paused one, tries a failed one again at once.
    case start = 1
    /// Keeps the bytes. An episode that nobody wanted yet is remembered as paused.
    case pause
    case keep, unkeep
    /// Takes it out of the queue, where only this client's readers want it; what has come stays.
    case leave
    /// Cancels the download and drops its bytes; readers keep what they have open.
    case drop
    /// As `drop`, once no client has it open any more. Readers that have it open go on with its download until then.
    case dropAtClose
    /// As `drop`; when it is confirmed, nothing on the disk tells what it was, and a minute later nothing is remembered
    /// of it, unless it is wanted again.
    case forget
    /// Bytes of a generation are not what was written: drops it, and downloads the episode again.
    case replace
  }
  package let verb: Verb
  package let key: MediaKey
  /// The episode's facts, where it may not be known yet.
  package let request: TransferRequest?
  package let generation: UInt32

  private init(_ verb: Verb, _ key: MediaKey, _ request: TransferRequest? = nil, generation: UInt32 = 0) {
    (self.verb, self.key, self.request, self.generation) = (verb, key, request, generation)
  }

  package static func start(_ request: TransferRequest) -> Self { Self(.start, request.key, request) }
  package static func pause(_ request: TransferRequest) -> Self { Self(.pause, request.key, request) }
  package static func setKept(_ request: TransferRequest, _ isKept: Bool) -> Self {
    Self(isKept ? .keep : .unkeep, request.key, request)
  }
  package static func leave(_ key: MediaKey) -> Self { Self(.leave, key) }
  package static func drop(_ key: MediaKey) -> Self { Self(.drop, key) }
  package static func dropAtClose(_ key: MediaKey) -> Self { Self(.dropAtClose, key) }
  package static func forget(_ key: MediaKey) -> Self { Self(.forget, key) }
  package static func replace(_ key: MediaKey, generation: UInt32) -> Self {
    Self(.replace, key, generation: generation)
  }

  package var takesFiles: Bool { [.drop, .forget, .replace].contains(verb) }
}

extension TransferOrder: BinaryValue {
  package func encode(into bytes: inout [UInt8]) { bytes.put(verb, key, request, generation) }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try reader.make(Self.init(_:_:_:generation:))
  }
}
