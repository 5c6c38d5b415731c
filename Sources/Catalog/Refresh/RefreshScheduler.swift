internal import Glibc
internal import PosixKit

/// The thread that refreshes subscriptions when their time comes. It sleeps until the next one is due, by a clock that also
/// runs while the machine sleeps, until the network changes, or until it is woken.
final class RefreshScheduler: Sendable {
  private enum State { case new, running, stopped }
  private let state = Monitor(State.new)
  private let wakeup = try? WakeupEvent()
  /// Seconds from the start until due feeds are asked for. A user who has just mounted opens something first, and needs the
  /// whole line.
  private static let beginning = 1.0

  func wake() { wakeup?.signal() }

  func stop() {
    state.withLock { $0 = .stopped }
    wake()
  }

  func start(_ feeds: FeedRefresher, upkeep: @escaping @Sendable () -> Double) {
    let isFirst = state.withLock { state in
      defer { if state == .new { state = .running } }
      return state == .new
    }
    guard isFirst, let wakeup else { return }
    // Known from here on: its thread may begin late.
    let network = NetworkState.current
    PosixThread.start("catalog-due") { [self] in run(feeds, wakeup, network, upkeep) }
  }

  private func run(
    _ feeds: FeedRefresher, _ wakeup: WakeupEvent, _ known: NetworkState,
    _ upkeep: @escaping @Sendable () -> Double
  ) {
    let timer = try? WakeTimer()
    let network = try? NetworkWatch(since: known)
    if network?.hasChanged() == true { feeds.networkChanged() }
    let beginning = MonotonicTime.after(Self.beginning)
    while state.withLock({ $0 == .running }) {
      let nextUpkeep = upkeep()
      let first = beginning.seconds(since: .now)
      timer?.set(after: first > 0 ? first : min(feeds.refreshDue() ?? nextUpkeep, nextUpkeep))
      var polled = [wakeup.descriptor, timer?.descriptor ?? -1, network?.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      // Without a timer (no descriptors left) it looks now and then.
      poll(&polled, 3, timer == nil ? 60_000 : -1)
      wakeup.drain()
      timer?.drain()
      if polled[2].revents != 0, network?.hasChanged() == true { feeds.networkChanged() }
    }
  }
}
