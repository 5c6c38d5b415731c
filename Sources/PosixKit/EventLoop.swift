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
    /// Error or hang-up: always reported.
    package static let broken = Ready(rawValue: Int16(POLLERR | POLLHUP | POLLNVAL))
  }

  package typealias Timer = TimerQueue<Block>.Timer

  /// A struct, because a bare function in a generic place grows each time it is read (see `Callback`).
  package struct Block {
    fileprivate let run: () -> Void
  }

  private struct Watch {
    var interest: Ready
    /// Tells the events of this watch from those of an earlier descriptor with the same number.
    let generation: UInt32
    let handler: (Ready) -> Void
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
  private var watches: [Int32: Watch] = [:]
  private var lastGeneration: UInt32 = 0
  private var timers = TimerQueue<Block>()

  package init() throws(PosixError) {
    wakeup = try WakeupEvent()
    epoll = FileDescriptor(owning: try retrying("create an epoll") { podcastfs_epoll() })
    let (epoll, wakeup) = (epoll.rawValue, wakeup.descriptor)
    try retrying("watch an eventfd") { podcastfs_epoll_set(epoll, wakeup, 0, UInt32(POLLIN), 1) }
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
    lastGeneration &+= 1
    let watch = Watch(interest: interest, generation: lastGeneration, handler: handler)
    let isNew = watches.updateValue(watch, forKey: descriptor) == nil
    _ = podcastfs_epoll_set(
      epoll.rawValue, descriptor, lastGeneration, UInt32(interest.rawValue), isNew ? 1 : 0)
  }

  package func setInterest(_ descriptor: Int32, _ interest: Ready) {
    assertCurrent()
    guard let watch = watches[descriptor], watch.interest != interest else { return }
    watches[descriptor]?.interest = interest
    _ = podcastfs_epoll_set(epoll.rawValue, descriptor, watch.generation, UInt32(interest.rawValue), 0)
  }

  /// To be called before the descriptor is closed.
  package func unwatch(_ descriptor: Int32) {
    assertCurrent()
    guard watches.removeValue(forKey: descriptor) != nil else { return }
    _ = podcastfs_epoll_set(epoll.rawValue, descriptor, 0, 0, 0)
  }

  /// Runs `block` before the loop sleeps, after what it is doing.
  package func soon(_ block: @escaping () -> Void) {
    assertCurrent()
    soon.append(block)
  }

  @discardableResult
  package func schedule(at time: MonotonicTime, _ body: @escaping () -> Void) -> Timer {
    assertCurrent()
    return timers.add(Block(run: body), at: time)
  }

  package func cancel(_ timer: Timer) {
    assertCurrent()
    timers.cancel(timer)
  }

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
    timers.removeAll()
  }

  /// Runs the blocks that were accepted. Blocks that these add in turn run for some rounds only.
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
    let (now, latest) = (MonotonicTime.now, timers.latest)
    while let block = timers.takeDue(now, addedUpTo: latest) { block.run() }
  }

  private func waitForDescriptors() {
    let timeout = soon.isEmpty ? timers.earliest.pollTimeout : 0
    let epoll = epoll.rawValue
    withUnsafeTemporaryAllocation(of: podcastfs_ready.self, capacity: Self.mostReady) { ready in
      guard let list = ready.baseAddress else { return }
      let count = podcastfs_epoll_wait(epoll, list, Int32(Self.mostReady), timeout)
      for event in ready.prefix(max(Int(count), 0)) {
        if event.descriptor == wakeup.descriptor { wakeup.drain() }
        // A handler of this turn may have closed the descriptor, and opened another one with its number.
        guard let watch = watches[event.descriptor], watch.generation == event.generation else { continue }
        watch.handler(Ready(rawValue: Int16(truncatingIfNeeded: event.events)))
      }
    }
  }

  /// Descriptors that are looked at in one turn.
  private static let mostReady = 64
}
