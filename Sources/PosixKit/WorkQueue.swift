/// A thread of its own that runs blocks one after the other, in order.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    var blocks: [@Sendable () -> Void] = []
    var isStopped = false
  }
  private let monitor = Monitor(State())

  package init(name: String, threads: Int = 1, stackSize: Int = 1024 * 1024) {
    let monitor = monitor
    for _ in 0..<threads {
      PosixThread.start(name, stackSize: stackSize) {
        while let block = monitor.wait(for: { Self.next(&$0) }), let block { block() }
      }
    }
  }

  /// The next block, nil within when the queue has stopped, nil while there is none.
  private static func next(_ state: inout State) -> (@Sendable () -> Void)?? {
    if !state.blocks.isEmpty { return .some(state.blocks.removeFirst()) }
    return state.isStopped ? .some(nil) : nil
  }

  /// Adds a block; ignored after `stop`.
  package func async(_ block: @escaping @Sendable () -> Void) {
    monitor.withLockNotifying { state in
      if !state.isStopped { state.blocks.append(block) }
    }
  }

  /// Ends the thread when the blocks that are already there have run.
  package func stop() {
    monitor.withLockNotifying { $0.isStopped = true }
  }
}
