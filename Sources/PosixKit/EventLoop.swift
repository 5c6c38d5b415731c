internal import CLinux
internal import Glibc
internal import Synchronization

/// A thread that sleeps in epoll_wait(2) until a descriptor is ready, a time has come, or another thread gives it
/// something to do.
///
/// All but `async` and `stop` are for the loop's own thread, which calls everything it was given (before `run`,
/// for the thread that makes it). That makes it Sendable: what it keeps is touched there only, which is checked.
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
  private let epoll: FileDescriptor
  /// The thread in `run`; 0 before.
  private let thread = Atomic<Int32>(0)
  /// What is to be done before the loop sleeps.
  private var soon: [() -> Void] = []
  private var watches: [Int32: (interest: Ready, handler: (Ready) -> Void)] = [:]
  private var timers: [UInt64: (time: MonotonicTime, body: () -> Void)] = [:]
  private var lastTimer: UInt64 = 0
  /// No timer is due before.
  private var earliest = MonotonicTime.distantFuture

  package init() throws(PosixError) {
    wakeup = try WakeupEvent()
    epoll = FileDescriptor(owning: try retrying("create an epoll") { podcastfs_epoll() })
    let (epoll, wakeup) = (epoll.rawValue, wakeup.descriptor)
    try retrying("watch an eventfd") { podcastfs_epoll_set(epoll, wakeup, UInt32(POLLIN), 1) }
  }

  /// Ends the program where the caller is on another thread than the loop's.
  package func assertCurrent() {
    assert(
      [0, PosixThread.currentID].contains(thread.load(ordering: .relaxed)), "not on the loop's thread")
  }

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
    assertCurrent()
    let isNew = watches.updateValue((interest, handler), forKey: descriptor) == nil
    _ = podcastfs_epoll_set(epoll.rawValue, descriptor, UInt32(interest.rawValue), isNew ? 1 : 0)
  }

  package func setInterest(_ descriptor: Int32, _ interest: Ready) {
    assertCurrent()
    guard let watch = watches[descriptor], watch.interest != interest else { return }
    watches[descriptor]?.interest = interest
    _ = podcastfs_epoll_set(epoll.rawValue, descriptor, UInt32(interest.rawValue), 0)
  }

  /// To be called before the descriptor is closed.
  package func unwatch(_ descriptor: Int32) {
    assertCurrent()
    guard watches.removeValue(forKey: descriptor) != nil else { return }
    _ = podcastfs_epoll_set(epoll.rawValue, descriptor, 0, 0)
  }

  /// Runs `block` before the loop sleeps, after what it is doing.
  package func soon(_ block: @escaping () -> Void) {
    assertCurrent()
    soon.append(block)
  }

  /// Calls `body` once at `time`.
  @discardableResult
  package func schedule(at time: MonotonicTime, _ body: @escaping () -> Void) -> Timer {
    assertCurrent()
    lastTimer += 1
    timers[lastTimer] = (time, body)
    earliest = min(earliest, time)
    return Timer(number: lastTimer)
  }

  package func cancel(_ timer: Timer) {
    assertCurrent()
    timers[timer.number] = nil
  }

  /// Runs until `stop`.
  package func run() {
    thread.store(PosixThread.currentID, ordering: .relaxed)
    while true {
      let (blocks, isStopping) = inbox.withLock { inbox in
        let blocks = inbox.blocks
        inbox.blocks = []
        return (blocks, inbox.isStopping)
      }
      for block in blocks { block() }
      if isStopping { break }
      runTimers()
      runSoon()
      waitForDescriptors()
      runSoon()
    }
    end()
    soon = []
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

  private func runSoon() {
    // What that gives to do is done too, but not without end.
    for _ in 0..<16 where !soon.isEmpty {
      let blocks = soon
      soon = []
      for block in blocks { block() }
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
    let timeout = soon.isEmpty ? earliest.pollTimeout : 0
    let epoll = epoll.rawValue
    withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * Self.mostReady) { ready in
      guard let list = ready.baseAddress else { return }
      let count = podcastfs_epoll_wait(epoll, list, Int32(Self.mostReady), timeout)
      for index in 0..<max(Int(count), 0) {
        let (descriptor, events) = (ready[2 * index], ready[2 * index + 1])
        if descriptor == wakeup.descriptor { wakeup.drain() }
        watches[descriptor]?.handler(Ready(rawValue: Int16(truncatingIfNeeded: events)))
      }
    }
  }

  /// Descriptors that are looked at in one turn.
  private static let mostReady = 64
}
