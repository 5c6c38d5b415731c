internal import PosixKit
internal import SQLiteKit

/// Refreshes subscriptions when their time comes. Its thread sleeps until the next one is due, or until
/// something is subscribed to or refreshed.
final class RefreshScheduler: Sendable {
  private struct State: ~Copyable {
    var isStarted = false
    var isStopped = false
    /// Something has changed: look when the next one is due.
    var isChanged = true
    var running: Set<Int64> = []
    /// Podcasts that were tried a moment ago: one whose result can't be written must not spin.
    var resting: [Int64: MonotonicTime] = [:]
  }

  private let state = Monitor(State())
  private static let runningLimit = 3
  /// Seconds between two tries of the same podcast, whatever the catalogue says.
  private static let rest = 60.0

  /// Has what has changed looked at.
  func wake() {
    state.withLockNotifying { $0.isChanged = true }
  }

  func stop() {
    state.withLockNotifying { $0.isStopped = true }
  }

  func start(_ catalog: Catalog) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopped
    }
    if isFirst { PosixThread.start("catalog-due") { [self] in run(catalog) } }
  }

  private func run(_ catalog: Catalog) {
    var deadline = MonotonicTime.now
    while true {
      let isStopped = state.wait(until: deadline) { state -> Bool? in
        if state.isStopped { return true }
        if !state.isChanged { return nil }
        return false
      }
      if isStopped == true { return }
      state.withLock { $0.isChanged = false }
      deadline = begin(catalog)
    }
  }

  /// Begins what is due.
  /// - Returns: when to look again, unless something changes before.
  private func begin(_ catalog: Catalog) -> MonotonicTime {
    let now = wallClockSeconds()
    // While the catalogue's file can't be read nothing can be refreshed either.
    guard (try? Self.followClock(catalog.store, now: now)) != nil, let due = try? Self.due(catalog.store)
    else { return .after(Self.rest) }
    var next = MonotonicTime.distantFuture
    for (podcast, time) in due {
      let mayBegin = state.withLock { state in
        // One that ends has this looked at again.
        if state.running.contains(podcast) || state.running.count >= Self.runningLimit { return false }
        let begin = max(.after(Double(time - now)), state.resting[podcast] ?? .now)
        if begin > .now {
          next = min(next, begin)
          return false
        }
        state.running.insert(podcast)
        return true
      }
      if mayBegin { refresh(podcast, catalog) }
    }
    return next
  }

  private func refresh(_ podcast: Int64, _ catalog: Catalog) {
    catalog.refresh(podcast: podcast, cause: .due) { [self] _ in
      state.withLockNotifying { state in
        let now = MonotonicTime.now
        state.running.remove(podcast)
        state.resting = state.resting.filter { $0.value > now }
        state.resting[podcast] = .after(Self.rest)
        state.isChanged = true
      }
    }
  }

  /// Moves the times of refreshes that are in the future: the clock has been set back since, and what was due
  /// in an hour must not be due in a year and an hour.
  private static func followClock(_ store: CatalogStore, now: Int64) throws(CatalogError) {
    let margin = now + 60
    let isSetBack = try store.read { try $0.exists("SELECT 1 FROM podcast WHERE last_refresh > ?", margin) }
    guard isSetBack else { return }
    try store.write(.refresh) { database in
      try database.run(
        """
        UPDATE podcast SET next_refresh = next_refresh - last_refresh + ?1,
          not_before = not_before - last_refresh + ?1, last_whole = NULL, last_refresh = ?1
        WHERE last_refresh > ?2
        """, now, margin)
    }
  }

  /// The subscriptions whose refresh is nearest, and when each is due. One that another process is refreshing
  /// is due when that one counts as gone.
  private static func due(_ store: CatalogStore) throws(CatalogError) -> [(podcast: Int64, time: Int64)] {
    try store.read { database in
      try database.all(
        """
        SELECT id, max(coalesce(next_refresh, 0), coalesce(claimed_until, 0)) AS due
        FROM podcast INDEXED BY podcast_due WHERE is_followed = 1 ORDER BY due LIMIT 64
        """
      ) { ($0.int64(0), $0.int64(1)) }
    }
  }
}
