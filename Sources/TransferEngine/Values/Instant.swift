package import PosixKit

/// A point in time as the engine is told it.
package typealias Instant = MonotonicTime

/// When an event happens.
package struct Moment: Hashable, Sendable {
  package var instant: Instant
  /// Nanoseconds since 1970 by the wall clock, which may be set at any time.
  package var wallNanoseconds: Int64
  /// Seconds that the machine has slept since it was started.
  package var asleep: Double

  package init(instant: Instant, wallNanoseconds: Int64, asleep: Double = 0) {
    (self.instant, self.wallNanoseconds, self.asleep) = (instant, wallNanoseconds, asleep)
  }

  package var wall: Int64 { wallNanoseconds / 1_000_000_000 }
}
