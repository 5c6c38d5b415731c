package import EpisodeCache
internal import PodcastModel
internal import PosixKit
package import TransferProtocol

/// What is known of all downloads, in memory: the store's word, then the daemon's.
package final class StatusMirror: Sendable {
  typealias Observer = @Sendable (MediaKey) -> Void
  private struct State: ~Copyable {
    var statuses: [MediaKey: TransferStatus] = [:]
    /// Downloads as they were when a reader in this process last got nothing, with the reason.
    var failures: [MediaKey: Failure] = [:]
    var observers: [Observer] = []
    var layout: CacheLayout
  }
  private struct Failure {
    var status: TransferStatus
    var end: MonotonicTime

    /// Whether nothing has come since, or who has just got the error had no time to ask for the reason.
    func counts(for new: TransferStatus) -> Bool {
      new.isLike(status) && (new.received == status.received || MonotonicTime.now < end)
    }
  }
  private let state: Monitor<State>
  /// Seconds in which a reason is told though bytes come.
  private let patience: Double

  /// Programs that may not fetch try to read all there is.
  private static let mostFailures = 1024

  package init(layout: CacheLayout, patience: Double = 2) {
    (self.patience, state) = (patience, Monitor(State(layout: layout)))
  }

  func observe(_ observer: @escaping Observer) { state.withLock { $0.observers.append(observer) } }

  var layout: CacheLayout {
    get { state.withLock { $0.layout } }
    set { state.withLock { $0.layout = newValue } }
  }

  func status(of key: MediaKey) -> TransferStatus? {
    let (status, failure, layout) = state.withLock { ($0.statuses[key], $0.failures[key], $0.layout) }
    // The daemon tells nothing of an episode that it does not know.
    guard var status = status?.checked(layout) else { return failure?.status }
    if let failure, failure.counts(for: status) { status.readFailure = failure.status.readFailure }
    return status
  }

  package func all() -> [TransferStatus] {
    let (statuses, layout) = state.withLock { (Array($0.statuses.values), $0.layout) }
    return statuses.map { $0.checked(layout) }
  }

  var hasUnfinished: Bool {
    state.withLock { $0.statuses.values.contains { $0.isPending } }
  }

  /// Changes what is known, and tells observers of the keys that `body` returns.
  private func change(_ body: (inout sending State) -> [MediaKey]) {
    let (keys, observers) = state.withLock { (body(&$0), $0.observers) }
    for key in keys { for observer in observers { observer(key) } }
  }

  package func update(_ statuses: [TransferStatus]) {
    change { state in
      for status in statuses {
        state.statuses[status.key] = status
        if let failure = state.failures[status.key], !failure.counts(for: status) {
          state.failures[status.key] = nil
        }
      }
      return statuses.map(\.key)
    }
  }

  /// A reader has failed: why is told until something comes or changes.
  func note(_ why: String, of request: TransferRequest) {
    var status = status(of: request.key) ?? TransferStatus(request)
    status.readFailure = why
    let failure = Failure(status: status, end: .after(patience))
    change { state in
      if state.failures.count >= Self.mostFailures { state.failures = [:] }
      state.failures[request.key] = failure
      return [request.key]
    }
  }

  /// Reads do not fail for this reason any more.
  func forget(_ why: String) {
    change { state in
      let keys = state.failures.filter { $0.value.status.readFailure == why }.map(\.key)
      for key in keys { state.failures[key] = nil }
      return keys
    }
  }

  func nothingComes() {
    update(
      state.withLock { state in
        state.statuses.values.filter { $0.state == .downloading }.map { status in
          var status = status
          (status.state, status.rate, status.eta, status.error) = (.queued, nil, nil, nil)
          return status
        }
      })
  }

  /// Data files have been deleted: of these, or (nil) of any.
  func vanished(_ keys: Set<MediaKey>?) {
    change { state in
      let known = Set(state.statuses.keys)
      return Array(keys?.intersection(known) ?? known)
    }
  }

  func replace(with statuses: [TransferStatus]) {
    change { state in
      let new = Dictionary(statuses.map { ($0.key, $0) }, uniquingKeysWith: { _, last in last })
      let changed = Set(new.keys).union(state.statuses.keys).filter { new[$0] != state.statuses[$0] }
      state.statuses = new
      return Array(changed)
    }
  }
}

extension TransferStatus {
  fileprivate func isLike(_ other: TransferStatus) -> Bool {
    generation == other.generation
      && (state == other.state || isUnfinished && other.isUnfinished)
  }

  /// As it is where its data file has been deleted, which the cache may be at any time.
  fileprivate func checked(_ layout: CacheLayout) -> TransferStatus {
    guard generation > 0 else { return self }
    var status = self
    if state == .downloading {
      // Without waiting for the daemon's word, which comes once a second.
      if let received = LiveMap.received(layout, key, generation) { status.received = received }
    } else if received > 0 || state == .cached, !layout.hasData(key, generation) {
      status.received = 0
      if state == .cached { status.state = .remote }
    }
    return status
  }
}
