/// A point in time as the engine is told it: nanoseconds of a clock that never jumps.
package struct Instant: Comparable, Hashable, Sendable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static let distantFuture = Instant(nanoseconds: .max)

  package func adding(_ seconds: Double) -> Instant {
    let delta = Int64(min(max(seconds, -9e9), 9e9) * 1e9)
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return overflow ? .distantFuture : Instant(nanoseconds: sum)
  }

  /// Seconds from `earlier` to here, negative where this is before it.
  package func seconds(since earlier: Instant) -> Double {
    Double(nanoseconds - earlier.nanoseconds) / 1e9
  }

  package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
}

/// When an event happens.
package struct Moment: Hashable, Sendable {
  package var instant: Instant
  /// Nanoseconds since 1970 by the wall clock, which may be set at any time.
  package var wallNanoseconds: Int64

  package init(instant: Instant, wall: Int64, fraction: Int64 = 0) {
    self.instant = instant
    wallNanoseconds = wall &* 1_000_000_000 &+ fraction
  }

  package var wall: Int64 { wallNanoseconds / 1_000_000_000 }
}
