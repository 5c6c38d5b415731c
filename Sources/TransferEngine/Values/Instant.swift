package import PosixKit

/// A point in time as the engine is told it.
package typealias Instant = MonotonicTime

/// When an event happens.
package struct Moment: Hashable, Sendable {
  package var instant: Instant
  /// Nanoseconds since 1970 by the wall clock, which may be set at any time.
  package var wallNanoseconds: Int64

  package init(instant: Instant, wallNanoseconds: Int64) {
    (self.instant, self.wallNanoseconds) = (instant, wallNanoseconds)
  }

  package var wall: Int64 { wallNanoseconds / 1_000_000_000 }

  /// While the machine sleeps only the wall clock goes on. One that is set forward looks the same.
  func secondsAsleep(since earlier: Moment) -> Double {
    Double(wallNanoseconds - earlier.wallNanoseconds) / 1e9 - instant.seconds(since: earlier.instant)
  }
}
