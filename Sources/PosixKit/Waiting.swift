internal import Glibc

package enum Waiting {
  /// Starts something, and waits for its end.
  /// - Returns: nil where it has not ended within so many seconds; it is cancelled then.
  package static func result<Value: Sendable>(
    within seconds: Double, _ start: (@escaping @Sendable (Value) -> Void) -> any Cancellable
  ) -> Value? {
    let outcome = Monitor<Value?>(nil)
    let task = start { value in outcome.withLockNotifying { $0 = .some(value) } }
    let value = outcome.wait(until: .after(seconds)) { $0 }
    if value == nil { task.cancel() }
    return value
  }

  /// Looks for a value again and again, where no event tells of it.
  /// - Returns: nil where there is none within so many seconds.
  package static func poll<Value>(seconds: Double, _ value: () throws -> Value?) rethrows -> Value? {
    let deadline = MonotonicTime.after(seconds)
    while true {
      if let value = try value() { return value }
      if .now > deadline { return nil }
      usleep(10_000)
    }
  }

  /// Does `body` for each item on other threads, some at once, and then `ended` on this one, in the order in which they end.
  package static func each<Item: Sendable, Value: Sendable>(
    _ items: [Item], atOnce: Int, _ body: @escaping @Sendable (Item) -> Value,
    ended: (_ index: Int, Value) -> Void
  ) {
    let queue = WorkQueue(name: "at-once", threads: min(atOnce, items.count), stackSize: 256 * 1024)
    defer { queue.stop() }
    let done = Monitor<[(Int, Value)]>([])
    for (index, item) in items.enumerated() {
      queue.async {
        let value = body(item)
        done.withLockNotifying { $0.append((index, value)) }
      }
    }
    for _ in items {
      guard let (index, value) = done.wait(for: { $0.isEmpty ? nil : $0.removeFirst() }) else { return }
      ended(index, value)
    }
  }
}
