internal import Glibc
internal import PosixKit

/// The refreshes of this process that are under way, and who waits for each.
struct RefreshTable: ~Copyable {
  typealias Waiter = CatalogWork<RefreshOutcome>

  private var waiters: [Int64: [Waiter]] = [:]
  /// Podcasts that could not be fetched, and until when nobody who merely looks has that tried again.
  private var failed: [Int64: (error: CatalogError, row: Int, until: MonotonicTime)] = [:]
  /// Podcasts of which that is under way which comes behind a refresh.
  private var following: Set<Int64> = []
  var isClosed = false
  /// What is under way or waits for a thread.
  var activities = 0

  /// - Returns: whether the refresh is to be begun; false where it is under way already.
  mutating func join(_ podcast: Int64, _ waiter: Waiter) -> Bool {
    let isFirst = waiters[podcast] == nil
    waiters[podcast, default: []].append(waiter)
    return isFirst
  }

  /// - Returns: who waited for it.
  mutating func end(_ podcast: Int64) -> [Waiter] { waiters.removeValue(forKey: podcast) ?? [] }

  /// - Returns: false where it is under way already.
  mutating func beginFollowing(_ podcast: Int64) -> Bool { !isClosed && following.insert(podcast).inserted }

  mutating func endFollowing(_ podcast: Int64) { following.remove(podcast) }

  /// Notes how a refresh ended: after a first failure the next look tries again at once, after a second one a second later,
  /// after each further one twice as much later.
  mutating func note(_ error: CatalogError?, of podcast: Int64) {
    guard let error, error.errno != .ECANCELED else {
      failed[podcast] = nil
      return
    }
    if failed.count >= Self.mostFailed { failed = failed.filter { $0.value.until > .now } }
    let row = (failed[podcast]?.row ?? 0) + 1
    let rest = row == 1 ? 0 : min(pow(2, Double(min(row, 20) - 2)), Self.longestRest)
    failed[podcast] = (error, row, .after(rest))
  }

  /// Why the podcast could not be fetched, where that was a moment ago.
  func restingError(of podcast: Int64) -> CatalogError? {
    failed[podcast].flatMap { $0.until > .now ? $0.error : nil }
  }

  /// The network is another one: what failed before says nothing.
  mutating func networkChanged() { failed = [:] }

  /// Seconds.
  private static let longestRest = 900.0
  private static let mostFailed = 1000
}
