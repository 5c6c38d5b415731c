internal import Glibc
internal import PodcastModel
internal import PosixKit

/// Refreshes subscriptions when their time comes. Its thread sleeps until the next one is due, or until
/// something is subscribed to or refreshed.
final class RefreshScheduler: Sendable {
  private struct State: ~Copyable {
    var isStarted = false
    var isStopped = false
    var running: Set<Int64> = []
    /// Podcasts that were tried a moment ago: one whose result can't be written must not spin.
    var resting: [Int64: MonotonicTime] = [:]
  }

  private let state = Monitor(State())
  private let wakeup = try? WakeupEvent()
  private static let runningLimit = 3
  /// Seconds between two tries of the same podcast, whatever the catalogue says.
  private static let rest = 60.0
  /// Seconds by which a refresh may be ahead of the clock.
  private static let margin: Int64 = 60
  /// Seconds from the start until due feeds are asked for. A user who has just mounted opens something first, and needs the
  /// whole line.
  private static let beginning = 1.0

  /// Looks at what is due again.
  func wake() { wakeup?.signal() }

  func stop() {
    state.withLock { $0.isStopped = true }
    wake()
  }

  func start(_ feeds: FeedRefresher, upkeep: @escaping @Sendable () -> Double) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && !state.isStopped
    }
    guard isFirst, let wakeup else { return }
    // Known from here on: its thread may begin late.
    let network = NetworkState.current
    PosixThread.start("catalog-due") { [self] in run(feeds, wakeup, network, upkeep) }
  }

  /// Sleeps until something is due by a clock that also runs while the machine sleeps, until the network changes,
  /// or until it is woken.
  private func run(
    _ feeds: FeedRefresher, _ wakeup: WakeupEvent, _ known: NetworkState,
    _ upkeep: @escaping @Sendable () -> Double
  ) {
    let timer = try? WakeTimer()
    let network = try? NetworkWatch(since: known)
    if network?.hasChanged() == true { feeds.networkChanged() }
    let beginning = MonotonicTime.after(Self.beginning)
    while !state.withLock({ $0.isStopped }) {
      let nextUpkeep = upkeep()
      let first = beginning.seconds(since: .now)
      timer?.set(after: first > 0 ? first : min(begin(feeds) ?? nextUpkeep, nextUpkeep))
      var polled = [
        pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: timer?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: network?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      // Without a timer (no descriptors left) it looks now and then.
      poll(&polled, 3, timer == nil ? 60_000 : -1)
      wakeup.drain()
      timer?.drain()
      if polled[2].revents != 0, network?.hasChanged() == true { feeds.networkChanged() }
    }
  }

  /// Begins what is due.
  /// - Returns: the seconds until something is due; nil where nothing is.
  private func begin(_ feeds: FeedRefresher) -> Double? {
    let now = feeds.store.now
    // While the catalogue's file can't be read nothing can be refreshed either.
    guard
      (try? FeedRecord.followClock(now: now, refreshedAfter: now + Self.margin, feeds.store)) != nil,
      let due = try? feeds.store.read({ try FeedRecord.due(in: $0) })
    else { return Self.rest }
    var next: Double?
    for (podcast, time) in due {
      let mayBegin = state.withLock { state in
        // One that ends has this looked at again.
        if state.running.contains(podcast) || state.running.count >= Self.runningLimit { return false }
        let rest = state.resting[podcast].map { $0.seconds(since: .now) } ?? 0
        let wait = max(Double(time - now), rest)
        if wait > 0 {
          next = min(next ?? wait, wait)
          return false
        }
        state.running.insert(podcast)
        return true
      }
      if mayBegin { refresh(podcast, feeds) }
    }
    return next
  }

  private func refresh(_ podcast: Int64, _ feeds: FeedRefresher) {
    let task = FeedRefresher.Waiter(feeds.tasks) { [self] _ in
      state.withLock { state in
        let now = MonotonicTime.now
        state.running.remove(podcast)
        state.resting = state.resting.filter { $0.value > now }
        state.resting[podcast] = .after(Self.rest)
      }
      wake()
    }
    feeds.refresh(podcast, .due, task)
  }
}
