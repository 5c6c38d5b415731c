/// Plain calls of what ends in a completion.
package enum Waiting {
  /// Starts something, and waits for its end.
  /// - Returns: nil where it has not ended within so many seconds; it is given up then.
  package static func result<Value: Sendable>(
    within seconds: Double, _ start: (@escaping @Sendable (Value) -> Void) -> any Cancellable
  ) -> Value? {
    let outcome = Monitor<Value?>(nil)
    let task = start { value in outcome.withLockNotifying { $0 = .some(value) } }
    let value = outcome.wait(until: .after(seconds)) { $0 }
    if value == nil { task.cancel() }
    return value
  }
}
