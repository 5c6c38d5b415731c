package import PodcastModel

/// What the daemon tells a mount or a command.
package enum DaemonMessage: Hashable, Sendable {
  /// The answer to `hello`: where its cache is, whatever the client's environment says.
  case welcome(version: UInt32, cache: String, runtime: String)
  /// Downloads as they are now, and what came of all requests. After `hello` of an observer all that are known, then each
  /// change.
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
