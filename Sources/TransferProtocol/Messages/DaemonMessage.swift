package import PodcastModel

/// What the daemon tells a mount or a command.
package enum DaemonMessage: Hashable, Sendable {
  /// The answer to `hello`: where its cache is, whatever the client's environment says.
  case welcome(version: UInt32, cache: String, runtime: String)
  /// Downloads as they are now. After `hello` of an observer all that are known, then each change.
  case changed([TransferStatus])
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
  private enum Kind: UInt8 {
    case welcome = 1, changed, snapshotEnd, opened, openFailed, available, unavailable, done, needAddress,
      refused
  }

  package func encode(into writer: inout FrameWriter) {
    switch self {
    case .welcome(let version, let cache, let runtime):
      writer.put(Kind.welcome.rawValue)
      writer.put(version)
      writer.put(cache)
      writer.put(runtime)
    case .changed(let statuses):
      writer.put(Kind.changed.rawValue)
      writer.put(UInt32(statuses.count))
      for status in statuses { status.encode(into: &writer) }
    case .snapshotEnd: writer.put(Kind.snapshotEnd.rawValue)
    case .opened(let id, let generation, let total):
      writer.put(Kind.opened.rawValue, id)
      writer.put(generation)
      writer.put(total)
    case .openFailed(let id, let failure):
      writer.put(Kind.openFailed.rawValue, id)
      failure.encode(into: &writer)
    case .available(let wait): writer.put(Kind.available.rawValue, wait)
    case .unavailable(let wait, let failure):
      writer.put(Kind.unavailable.rawValue, wait)
      failure.encode(into: &writer)
    case .done(let id): writer.put(Kind.done.rawValue, id)
    case .refused(let id, let failure):
      writer.put(Kind.refused.rawValue, id)
      failure.encode(into: &writer)
    case .needAddress(let key, let url):
      writer.put(Kind.needAddress.rawValue)
      writer.put(key)
      writer.put(url)
    }
  }

  package init(from reader: inout FrameReader) throws(FrameError) {
    guard let kind = Kind(rawValue: try reader.uint8()) else { throw .malformed }
    switch kind {
    case .welcome:
      self = .welcome(version: try reader.uint32(), cache: try reader.string(), runtime: try reader.string())
    case .changed:
      let count = try reader.uint32()
      var statuses: [TransferStatus] = []
      for _ in 0..<count {
        statuses.append(try TransferStatus(from: &reader))
      }
      self = .changed(statuses)
    case .snapshotEnd: self = .snapshotEnd
    case .opened:
      self = .opened(
        id: try reader.uint64(), generation: try reader.uint32(), total: try reader.optionalInt64())
    case .openFailed: self = .openFailed(id: try reader.uint64(), try TransferFailure(from: &reader))
    case .available: self = .available(wait: try reader.uint64())
    case .unavailable: self = .unavailable(wait: try reader.uint64(), try TransferFailure(from: &reader))
    case .done: self = .done(id: try reader.uint64())
    case .refused: self = .refused(id: try reader.uint64(), try TransferFailure(from: &reader))
    case .needAddress: self = .needAddress(try reader.key(), url: try reader.string())
    }
  }
}
