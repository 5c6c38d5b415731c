internal import Glibc

/// State behind a lock, with a condition to wait for: a pthread mutex, because `Synchronization.Mutex`
/// collapses under saturation here and misleads the thread sanitizer.
///
/// Invariant: the state is reached only in `withLock` and `wait`, under the mutex: that makes it Sendable.
package final class Monitor<State: ~Copyable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  package init(_ state: consuming sending State) {
    assert(!Self.holdsBareFunction, "keep a Callback instead: a bare function grows each time it is read")
    self.state = state
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Whether the state is a function, or a tuple or optional of one, outside a struct or class (`Callback`).
  package static var holdsBareFunction: Bool { _typeName(Self.self, qualified: false).contains("->") }

  /// Runs `body` alone. Never call out to unknown code from it.
  package func withLock<R: ~Copyable, E: Error>(
    _ body: (inout sending State) throws(E) -> sending R
  ) throws(E) -> sending R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Like `withLock`, then wakes all that wait.
  /// - Parameter one: wakes one only: where all wait for the same, and one is enough.
  package func withLockNotifying<R: ~Copyable, E: Error>(
    one: Bool = false, _ body: (inout sending State) throws(E) -> sending R
  ) throws(E) -> sending R {
    pthread_mutex_lock(mutex)
    // Who is woken sooner would have to wait for the lock at once.
    defer {
      pthread_mutex_unlock(mutex)
      _ = one ? pthread_cond_signal(condition) : pthread_cond_broadcast(condition)
    }
    return try body(&state)
  }

  /// Waits until `body` gives a value, asking again after each notification; nil at the deadline.
  package func wait<R>(
    until deadline: MonotonicTime = .distantFuture, for body: (inout sending State) -> sending R?
  ) -> sending R? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      if deadline == .distantFuture {
        pthread_cond_wait(condition, mutex)
        continue
      }
      var time = deadline.timespec
      if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT { return body(&state) }
    }
  }
}

/// A function that is kept to be called later: behind a `Monitor`, in an optional, in a table.
///
/// A closure that lies bare in a generic place (`Monitor<(() -> Void)?>`) is wrapped in two more functions each
/// time it is read there (swiftlang/swift issue 91348): memory and stack grow until the process dies. A struct
/// is read as it lies.
package struct Callback<Argument>: Sendable {
  private let body: @Sendable (Argument) -> Void

  package init(_ body: @escaping @Sendable (Argument) -> Void) { self.body = body }

  package func callAsFunction(_ argument: Argument) { body(argument) }
}

extension Callback where Argument == Void {
  package func callAsFunction() { body(()) }
}

/// An operation under way that its caller may cancel.
package protocol Cancellable: AnyObject, Sendable {
  /// Cancels it, unless it has ended or cannot be undone any more. Its completion is called exactly once either way.
  func cancel()
}

// A mirror, as tests make it of what they report, traps on a value that can't be copied: it sees none here.

extension Monitor: CustomReflectable where State: ~Copyable {
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension WakeupEvent: CustomReflectable {
  package var customMirror: Mirror { Mirror(self, children: []) }
}
