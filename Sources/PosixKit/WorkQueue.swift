/// A thread of its own that runs blocks one after the other, in order, and others when their time has come.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    /// From `first` on they are still to run: taking one moves none of the others.
    var blocks: [(@Sendable () -> Void)?] = []
    var first = 0
    var timed = TimerQueue<Callback<Void>>()
    var isStopped = false

    mutating func next(now: MonotonicTime) -> (@Sendable () -> Void)? {
      if let due = timed.takeDue(now) { return { due() } }
      guard first < blocks.count else { return nil }
      defer {
        blocks[first] = nil
        first += 1
        if first == blocks.count {
          blocks.removeAll(keepingCapacity: first <= 64)
          first = 0
        }
      }
      return blocks[first]
    }
  }
  private let monitor = Monitor(State())

  /// - Parameter courtesy: how many steps its threads let others have more of the processors than themselves (nice(2)).
  package init(name: String, threads: Int = 1, stackSize: Int = 1024 * 1024, courtesy: Int32 = 0) {
    let monitor = monitor
    for _ in 0..<threads {
      PosixThread.start(name, stackSize: stackSize) {
        if courtesy > 0 { ResourceLimits.giveWay(by: courtesy) }
        while let block = Self.take(monitor) { block() }
      }
    }
  }

  /// What is to be run next, once there is something; nil where the queue has stopped.
  private static func take(_ monitor: Monitor<State>) -> (@Sendable () -> Void)? {
    while true {
      let due = monitor.withLock { $0.timed.earliest }
      let taken: (@Sendable () -> Void)?? = monitor.wait(until: due) { state in
        if let block = state.next(now: .now) { return .some(block) }
        if state.isStopped { return .some(nil) }
        // A time that is earlier than the one that is waited for has been set meanwhile.
        return state.timed.earliest < due ? .some({}) : nil
      }
      if let taken { return taken }
    }
  }

  /// Adds a block; ignored after `stop`.
  package func async(_ block: @escaping @Sendable () -> Void) {
    monitor.withLockNotifying { state in
      if !state.isStopped { state.blocks.append(block) }
    }
  }

  /// Runs a block `seconds` from now, before what waits then; ignored after `stop`.
  package func async(after seconds: Double, _ block: @escaping @Sendable () -> Void) {
    monitor.withLockNotifying { state in
      if !state.isStopped { state.timed.add(Callback(block), at: .after(seconds)) }
    }
  }

  /// Ends the thread when the blocks that are already there have run; what waits for its time is dropped.
  package func stop() {
    monitor.withLockNotifying { state in
      state.isStopped = true
      state.timed.removeAll()
    }
  }
}
