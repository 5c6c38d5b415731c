/// The refreshes of this process that are under way, and who waits for each: two that want the same podcast
/// share one.
struct RefreshTable: ~Copyable {
  typealias Waiter = CatalogWork<RefreshOutcome>

  private var waiters: [Int64: [Waiter]] = [:]
  /// Podcasts whose archive pages are being read, after their refresh has ended.
  private var walking: Set<Int64> = []
  /// What ends each request that is under way; nil where it has ended before it was noted.
  private var requests: [Int: (@Sendable () -> Void)?] = [:]
  private var lastRequest = 0
  private(set) var isClosed = false
  /// Requests that are under way, and answers that are being looked at.
  var activities = 0

  /// - Returns: whether the refresh is to be begun; false where it is under way already.
  mutating func join(_ podcast: Int64, _ waiter: Waiter) -> Bool {
    let isFirst = waiters[podcast] == nil
    waiters[podcast, default: []].append(waiter)
    return isFirst
  }

  /// - Returns: who waited for it.
  mutating func end(_ podcast: Int64) -> [Waiter] { waiters.removeValue(forKey: podcast) ?? [] }

  /// - Returns: whether the walk is to be begun; false where it is under way already.
  mutating func beginWalk(_ podcast: Int64) -> Bool { !isClosed && walking.insert(podcast).inserted }

  mutating func endWalk(_ podcast: Int64) { walking.remove(podcast) }

  mutating func nextRequest() -> Int {
    lastRequest += 1
    requests[lastRequest] = .some(nil)
    return lastRequest
  }

  /// - Returns: false where nobody wants its answer any more.
  mutating func began(_ request: Int, cancel: @escaping @Sendable () -> Void) -> Bool {
    if requests[request] != nil { requests[request] = .some(cancel) }
    return !isClosed
  }

  mutating func ended(_ request: Int) { requests[request] = nil }

  /// - Returns: what ends everything that is under way.
  mutating func close() -> [@Sendable () -> Void] {
    isClosed = true
    return requests.values.compactMap(\.self)
  }
}
