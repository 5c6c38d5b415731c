package import PodcastModel

/// How a download stands: what the daemon tells, and what its store keeps.
package struct TransferStatus: Hashable, Sendable {
  package var request: TransferRequest
  package var state: TransferState
  /// Which local copy of the enclosure the cached bytes belong to: a random number; 0 before the first byte.
  package var generation: UInt32 = 0
  /// The exact size in bytes, once a response has told it.
  package var total: Int64?
  /// Bytes in the cache; in the store, when the journal was last written.
  package var received: Int64 = 0
  /// Bytes per second and seconds left, while downloading.
  package var rate: Int64?
  package var eta: Int64?
  /// One line that a person understands: when failed, stalled, or waiting for a retry or for room.
  package var error: String?
  /// Why a reader in this process got nothing last, while nothing has come or changed since. Not told to others.
  package var readFailure: String?
  package var isKept = false
  /// Whether it is dropped once nobody has it open.
  package var dropsAtClose = false
  /// When it came to its stage, in nanoseconds since 1970: whoever hears of it late has it by the same time.
  package var changed: Int64 = 0
  /// The place in the queue: lower comes first.
  package var order: Int64 = 0
  package var tries = Tries()

  /// What the daemon has to know of earlier tries. Times are in seconds since 1970.
  package struct Tries: Hashable, Sendable {
    /// When it failed for good or for a while; nil where the last try did not.
    package var failed: Int64?
    /// Tries in a row that brought nothing: back-off goes on where it was.
    package var count: Int64 = 0
    /// On how many networks or days it failed for a reason that may be theirs or the clock's.
    package var doubts: Int64 = 0
    /// When `doubts` was last counted.
    package var doubted: Int64 = 0
    /// The server's Retry-After: not to be asked before.
    package var notBefore: Int64?

    package init() {}
  }

  package init(_ request: TransferRequest, _ state: TransferState = .remote) {
    (self.request, self.state) = (request, state)
  }

  package var key: MediaKey { request.key }
  package var url: String { request.url }
  package var title: String { request.title }
  package var show: String { request.show }
  package var fileName: String { request.fileName }
  package var isEpisode: Bool { request.isEpisode }
  /// The bytes that count in `cache_size`.
  package var budgeted: Int64 { isEpisode ? received : 0 }

  /// Where folders show it. One that goes at its last close is shown as if it had gone.
  package var stage: DownloadStage { dropsAtClose ? .absent : state.stage }
  package var reason: String? { error ?? readFailure }

  /// With the feed's length as the size while no response has told it, as the episode's attributes say.
  package func withLength(ofFeed length: Int64?) -> TransferStatus {
    guard total == nil, let length, length >= received else { return self }
    var status = self
    status.total = length
    return status
  }
}

// What the store keeps.
extension TransferStatus {
  /// What is remembered of what was forgotten while somebody has it open: nothing tells what it was.
  package var forgotten: TransferStatus {
    var status = TransferStatus(TransferRequest(key: key))
    (status.generation, status.changed) = (generation, changed)
    return status
  }

  /// Whether it is remembered for its size alone.
  package var holdsNothing: Bool { state == .remote && received == 0 && !isKept && error == nil }

  package var isEvictable: Bool {
    (state == .cached || state == .remote) && received > 0 && !isKept && generation > 0 && isEpisode
  }

  package var isUnfinished: Bool { state == .queued || state == .downloading }

  /// Whether a daemon has something to do for it: to download, or to drop it at its last close.
  package var isPending: Bool { isUnfinished || dropsAtClose }

  /// Seconds until the server may be asked again, by its Retry-After; 0 where it may be now.
  ///
  /// A wall clock that was set back since then must not make it longer than the server said.
  package func forbiddenSeconds(now: Int64) -> Int64 {
    guard let notBefore = tries.notBefore else { return 0 }
    let told = tries.failed.map { notBefore - $0 } ?? Self.longestRetryAfter
    return max(0, min(notBefore - now, told))
  }

  /// A server that asks for more, in seconds, has its clock or its units wrong.
  package static let longestRetryAfter: Int64 = 86_400
}

extension TransferStatus: FieldCoded {
  package init() { self.init(TransferRequest()) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&request, &state, &generation)
    try fields.code(&total, &received, &rate)
    try fields.code(&eta, &error, &isKept)
    try fields.code(&dropsAtClose, &changed, &order)
    try fields.code(&tries.failed, &tries.count, &tries.doubts)
    try fields.code(&tries.doubted)
    try fields.code(&tries.notBefore)
    // Sums of sizes, times and places must not overflow, whatever a damaged row says.
    let numbers = [
      total, received, rate, eta, order, tries.failed, tries.count, tries.doubts, tries.doubted,
      tries.notBefore,
    ]
    guard changed >= 0, numbers.allSatisfy({ (0...1 << 50).contains($0 ?? 0) }) else { throw .malformed }
  }
}

/// Where an episode's download stands: the attribute `user.podcastfs.state`.
package enum TransferState: String, BinaryValue, CaseIterable {
  /// Nobody wants it; what came before may still be here.
  case remote
  /// Wanted, and waiting for its turn or its next try.
  case queued
  case downloading
  /// Held by the user, with what has come.
  case paused
  /// It can't be had; `error` says why.
  case failed
  case cached

  /// What changes within one of these moves no episode from one folder to another.
  package var stage: DownloadStage {
    switch self {
    case .remote: .absent
    case .queued, .downloading: .running
    case .paused: .paused
    case .failed: .failed
    case .cached: .complete
    }
  }

  package var name: String { rawValue }
}
