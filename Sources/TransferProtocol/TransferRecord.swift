package import PodcastModel

/// What is remembered of one download.
package struct TransferRecord: Hashable, Sendable {
  package var request: TransferRequest
  package var state = TransferState.remote
  /// See `TransferStatus.generation`.
  package var generation: UInt32 = 0
  package var total: Int64?
  /// Bytes in the cache when the journal was last written.
  package var received: Int64 = 0
  package var error: String?
  package var isKept = false
  /// When it last changed, in seconds since 1970.
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

  /// The same key and generation without anything that tells what it was, or where to fetch it.
  package var forgotten: TransferRecord {
    var record = TransferRecord(
      request: TransferRequest(key: key, url: "", title: "", show: "", fileName: ""))
    (record.generation, record.changed) = (generation, changed)
    return record
  }

  package var isForgotten: Bool { request.url.isEmpty && state == .remote && received == 0 && !isKept }

  /// Paused by podcastfs itself, for lack of room: to go on when there is room.
  package var waitsForRoom: Bool { state == .paused && error != nil }

  /// Whether the daemon has something to do for it.
  package var isUnfinished: Bool { state == .queued || state == .downloading || waitsForRoom }

  /// Seconds until the server may be asked again, by its Retry-After; 0 where it may be now.
  ///
  /// A wall clock that was set back since then must not make it longer than the server said.
  package func forbiddenSeconds(now: Int64) -> Int64 {
    guard let notBefore else { return 0 }
    let told = failed.map { notBefore - $0 } ?? Self.longestRetryAfter
    return max(0, min(notBefore - now, told))
  }

  /// What a damaged file says must not overflow, nor what follows it: no size, time or place is beyond 2⁴⁹, half of what
  /// messages hold.
  package static func bounded(_ value: Int64) -> Int64 { min(max(value, 0), 1 << 49) }

  /// A server that asks for more, in seconds, has its clock or its units wrong.
  package static let longestRetryAfter: Int64 = 86_400

  /// It has failed no more. When it did is told by as long as the server wants to be left alone: without it nobody
  /// could say how long that is, once the clock has been set.
  package mutating func forgive() {
    error = nil
    if notBefore == nil { failed = nil }
  }

  package var status: TransferStatus {
    TransferStatus(
      key: key, state: state, generation: generation, total: total, received: received, error: error,
      isKept: isKept, changed: changed, order: order, url: request.url, title: request.title,
      show: request.show, fileName: request.fileName)
  }
}
