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
  case opened(id: UInt64, generation: UInt32, total: Int64?)
  case openFailed(id: UInt64, TransferFailure)
  case available(wait: UInt64)
  case unavailable(wait: UInt64, TransferFailure)
  case done(id: UInt64)
  /// What was ordered could not be remembered.
  case refused(id: UInt64, TransferFailure)
  /// The address has expired: is there another one?
  case needAddress(MediaKey, url: String)
}

extension DaemonMessage: FramedMessage {
  private enum Kind: UInt8, BinaryValue {
    case welcome = 1, changed, snapshotEnd, opened, openFailed, available, unavailable, done, needAddress,
      refused
  }

  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .welcome(let version, let cache, let runtime): bytes.put(Kind.welcome, version, cache, runtime)
    case .changed(let statuses, let counts): bytes.put(Kind.changed, statuses, counts)
    case .snapshotEnd: bytes.put(Kind.snapshotEnd)
    case .opened(let id, let generation, let total): bytes.put(Kind.opened, id, generation, total)
    case .openFailed(let id, let failure): bytes.put(Kind.openFailed, id, failure)
    case .available(let wait): bytes.put(Kind.available, wait)
    case .unavailable(let wait, let failure): bytes.put(Kind.unavailable, wait, failure)
    case .done(let id): bytes.put(Kind.done, id)
    case .refused(let id, let failure): bytes.put(Kind.refused, id, failure)
    case .needAddress(let key, let url): bytes.put(Kind.needAddress, key, url)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    switch try Kind(from: &reader) {
    case .welcome: self = try reader.make(Self.welcome)
    case .changed: self = try reader.make(Self.changed)
    case .snapshotEnd: self = .snapshotEnd
    case .opened: self = try reader.make(Self.opened)
    case .openFailed: self = try reader.make(Self.openFailed)
    case .available: self = try reader.make(Self.available)
    case .unavailable: self = try reader.make(Self.unavailable)
    case .done: self = try reader.make(Self.done)
    case .refused: self = try reader.make(Self.refused)
    case .needAddress: self = try reader.make(Self.needAddress)
    }
  }
}
