package import PodcastModel

package struct TransferRecord: Hashable, Sendable {
  package var request: TransferRequest
  package var state = TransferState.remote
  /// See `TransferStatus.generation`.
  package var generation: UInt32 = 0
  package var total: Int64?
  /// Bytes in the cache when the journal was last written.
  package var received: Int64 = 0
  /// Why it has failed, or waits: one line for a person.
  package var problem: String?
  package var isKept = false
  /// Whether it is dropped once nobody has it open.
  package var dropsAtClose = false
  /// See `TransferStatus.changed`.
  package var changed: Int64 = 0
  /// The place in the queue: lower comes first.
  package var order: Int64 = 0
  /// When it failed for good or for a while, in seconds since 1970; nil where the last try did not.
  package var failed: Int64?
  /// Tries in a row that brought nothing: back-off goes on where it was.
  package var attempts: Int64 = 0
  /// In how many networks, or on how many days, it failed in a way that may be the network's or the clock's fault, and
  /// when that was last counted, in seconds since 1970.
  package var doubts: Int64 = 0
  package var doubted: Int64 = 0
  /// The server's Retry-After: not to be asked before, in seconds since 1970.
  package var notBefore: Int64?

  package init(request: TransferRequest) { self.request = request }

  package var key: MediaKey { request.key }

  /// What is remembered of what was forgotten, while somebody has it open: that it was. Nobody can fetch it by that, nor
  /// learn what it was.
  package var forgotten: TransferRecord {
    var record = TransferRecord(
      request: TransferRequest(key: key, url: "", title: "", show: "", fileName: ""))
    (record.generation, record.changed) = (generation, changed)
    return record
  }

  /// Whether it is remembered for its size alone.
  package var holdsNothing: Bool { state == .remote && received == 0 && !isKept && problem == nil }

  /// Whether it may be evicted where nobody has it open.
  package var isEvictable: Bool {
    (state == .cached || state == .remote) && received > 0 && !isKept && generation > 0 && request.isEpisode
  }

  /// The bytes that count in `cache_size`.
  package var budgeted: Int64 { request.isEpisode ? received : 0 }

  /// Whether the daemon has something to download for it.
  package var isUnfinished: Bool { state == .queued || state == .downloading }

  /// Whether a daemon has something to do for it: to download, or to drop it at its last close.
  package var isPending: Bool { isUnfinished || dropsAtClose }

  /// Seconds until the server may be asked again, by its Retry-After; 0 where it may be now.
  ///
  /// A wall clock that was set back since then must not make it longer than the server said.
  package func forbiddenSeconds(now: Int64) -> Int64 {
    guard let notBefore else { return 0 }
    let told = failed.map { notBefore - $0 } ?? Self.longestRetryAfter
    return max(0, min(notBefore - now, told))
  }

  /// A server that asks for more, in seconds, has its clock or its units wrong.
  package static let longestRetryAfter: Int64 = 86_400

  /// It has failed no more. When it did is told by as long as the server wants to be left alone: without it nobody
  /// could say how long that is, once the clock has been set.
  package mutating func forgive() {
    problem = nil
    if notBefore == nil { failed = nil }
  }

  package var status: TransferStatus {
    TransferStatus(
      key: key, state: state, generation: generation, total: total, received: received,
      error: problem,
      isKept: isKept, dropsAtClose: dropsAtClose, changed: changed, order: order, url: request.url,
      title: request.title, show: request.show, fileName: request.fileName, isEpisode: request.isEpisode)
  }
}

extension TransferRecord: BinaryValue {
  /// What a damaged file says must not overflow, nor what follows it: no size, time or place is beyond half of what
  /// messages hold.
  private static let counts: ClosedRange<Int64> = 0...1 << 49

  package func encode(into bytes: inout [UInt8]) {
    bytes.put(request, state, generation, total, received, problem, isKept, changed, order)
    bytes.put(failed, attempts, doubts, doubted, notBefore, dropsAtClose)
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init(request: try reader.next())
    (state, generation, total, received) = (
      try reader.next(), try reader.next(), try reader.next(), try reader.next()
    )
    (problem, isKept, changed, order) = (
      try reader.next(), try reader.next(), try reader.next(), try reader.next()
    )
    (failed, attempts, doubts) = (try reader.next(), try reader.next(), try reader.next())
    (doubted, notBefore, dropsAtClose) = (try reader.next(), try reader.next(), try reader.next())
    let numbers = [total, received, order, failed, attempts, doubts, doubted, notBefore]
    guard changed >= 0, numbers.allSatisfy({ $0.map(Self.counts.contains) ?? true }) else { throw .malformed }
  }
}
