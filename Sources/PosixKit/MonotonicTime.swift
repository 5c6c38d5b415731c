package import Glibc

/// A point on the clock that never jumps (CLOCK_MONOTONIC), in nanoseconds.
package struct MonotonicTime: Comparable, Hashable, Sendable {
  package var nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  package static let distantFuture = MonotonicTime(nanoseconds: .max)

  package static var now: MonotonicTime {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// The point `seconds` from now.
  package static func after(_ seconds: Double) -> MonotonicTime { now.adding(seconds) }

  package func adding(_ seconds: Double) -> MonotonicTime {
    let delta = Int64(min(max(seconds, -9e9), 9e9) * 1e9)
    let (sum, overflow) = Int64(clamping: nanoseconds).addingReportingOverflow(delta)
    return overflow ? .distantFuture : MonotonicTime(nanoseconds: UInt64(max(sum, 0)))
  }

  /// Seconds from `earlier` to here, negative where this is before it.
  package func seconds(since earlier: MonotonicTime) -> Double {
    nanoseconds >= earlier.nanoseconds
      ? Double(nanoseconds - earlier.nanoseconds) / 1e9 : -Double(earlier.nanoseconds - nanoseconds) / 1e9
  }

  /// Milliseconds from now on, rounded up, as poll(2) takes them: 0 where past, -1 for the distant future.
  package var pollTimeout: Int32 {
    if self == .distantFuture { return -1 }
    let left = seconds(since: .now)
    return left <= 0 ? 0 : Int32(min(left * 1000 + 1, 86_400_000))
  }

  package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

  package var timespec: Glibc.timespec {
    Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

/// Seconds since 1970 by the wall clock.
package func wallClockSeconds() -> Int64 {
  Int64(time(nil))
}

/// Nanoseconds since 1970 by the wall clock.
package func wallClockNanoseconds() -> Int64 {
  var time = Glibc.timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
