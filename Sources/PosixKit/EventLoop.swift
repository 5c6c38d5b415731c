internal import Glibc

/// A thread that sleeps in poll(2) until a descriptor is ready, a time has come, or another thread gives it
/// something to do.
///
/// All but `async` and `stop` are for the loop's own thread, which calls everything it was given. That makes
/// it Sendable: what it keeps is touched there only.
package final class EventLoop: @unchecked Sendable {
  package struct Ready: OptionSet, Sendable {
    package let rawValue: Int16
    package init(rawValue: Int16) { self.rawValue = rawValue }
    package static let readable = Ready(rawValue: Int16(POLLIN))
    package static let writable = Ready(rawValue: Int16(POLLOUT))
    /// Error or hang-up: always told.
    package static let broken = Ready(rawValue: Int16(POLLERR | POLLHUP | POLLNVAL))
  }

  package struct Timer: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Inbox: ~Copyable {
    var blocks: [@Sendable () -> Void] = []
    var isStopping = false
    var hasEnded = false
  }

  private let inbox = Monitor(Inbox())
  private let wakeup: WakeupEvent
  private var watches: [Int32: (interest: Ready, handler: (Ready) -> Void)] = [:]
  private var timers: [UInt64: (time: MonotonicTime, body: () -> Void)] = [:]
  private var lastTimer: UInt64 = 0
  /// No timer is due before.
  private var earliest = MonotonicTime.distantFuture

  package init() throws(PosixError) { wakeup = try WakeupEvent() }

  /// Runs `block` on the loop's thread, in order; from any thread.
  /// - Returns: false where the loop has ended: the block is dropped. Kept, it would keep alive for ever what it
  ///   holds, which often holds the loop.
  @discardableResult
  package func async(_ block: @escaping @Sendable () -> Void) -> Bool {
    let (isTaken, isFirst) = inbox.withLock { inbox in
      if inbox.hasEnded { return (false, false) }
      inbox.blocks.append(block)
      return (true, inbox.blocks.count == 1)
    }
    if isFirst { wakeup.signal() }
    return isTaken
  }

  /// Ends `run` after what it is doing; from any thread.
  package func stop() {
    inbox.withLock { $0.isStopping = true }
    wakeup.signal()
  }

  /// Tells when `descriptor` is ready for `interest`, until `unwatch`.
  package func watch(_ descriptor: Int32, _ interest: Ready, _ handler: @escaping (Ready) -> Void) {
    watches[descriptor] = (interest, handler)
  }

  package func setInterest(_ descriptor: Int32, _ interest: Ready) {
    watches[descriptor]?.interest = interest
  }

  /// To be called before the descriptor is closed.
  package func unwatch(_ descriptor: Int32) { watches[descriptor] = nil }

  /// Calls `body` once at `time`.
  @discardableResult
  package func schedule(at time: MonotonicTime, _ body: @escaping () -> Void) -> Timer {
    lastTimer += 1
    timers[lastTimer] = (time, body)
    earliest = min(earliest, time)
    return Timer(number: lastTimer)
  }

  package func cancel(_ timer: Timer) { timers[timer.number] = nil }

  /// Runs until `stop`.
  package func run() {
    while true {
      let (blocks, isStopping) = inbox.withLock { inbox in
        let blocks = inbox.blocks
        inbox.blocks = []
        return (blocks, inbox.isStopping)
      }
      for block in blocks { block() }
      if isStopping { break }
      runTimers()
      waitForDescriptors()
    }
    end()
    watches = [:]
    timers = [:]
  }

  /// What was taken is done; of what that gives to do again and again, only some.
  private func end() {
    for round in 0... {
      let late = inbox.withLock { inbox in
        inbox.hasEnded = inbox.blocks.isEmpty || round == 8
        defer { inbox.blocks = [] }
        return inbox.blocks
      }
      if late.isEmpty { return }
      for block in late { block() }
    }
  }

  private func runTimers() {
    let now = MonotonicTime.now
    if now < earliest { return }
    let due = timers.filter { $0.value.time <= now }.sorted {
      ($0.value.time, $0.key) < ($1.value.time, $1.key)
    }
    for (number, timer) in due where timers.removeValue(forKey: number) != nil { timer.body() }
    earliest = timers.values.lazy.map(\.time).min() ?? .distantFuture
  }

  private func waitForDescriptors() {
    var polled = [pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)]
    for (descriptor, watch) in watches {
      polled.append(pollfd(fd: descriptor, events: watch.interest.rawValue, revents: 0))
    }
    guard poll(&polled, nfds_t(polled.count), earliest.pollTimeout) > 0 else { return }
    if polled[0].revents != 0 { wakeup.drain() }
    for entry in polled.dropFirst() where entry.revents != 0 {
      watches[entry.fd]?.handler(Ready(rawValue: entry.revents))
    }
  }
}
