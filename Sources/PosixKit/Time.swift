package import Glibc

/// A point on the clock that never jumps (CLOCK_MONOTONIC), in nanoseconds.
package struct MonotonicTime: Comparable, Hashable, Sendable {
  package var nanoseconds: UInt64

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  package static let distantFuture = MonotonicTime(nanoseconds: .max)

  package static var now: MonotonicTime { read(CLOCK_MONOTONIC) }

  /// Seconds that the machine has slept since it was started.
  package static var asleep: Double { read(CLOCK_BOOTTIME).seconds(since: now) }

  private static func read(_ clock: clockid_t) -> MonotonicTime {
    var time = Glibc.timespec()
    clock_gettime(clock, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

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

package func wallClockSeconds() -> Int64 {
  Int64(time(nil))
}

package func wallClockNanoseconds() -> Int64 {
  var time = Glibc.timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// What is to happen at which time. Adding and cancelling take a binary search.
package struct TimerQueue<Body> {
  package struct Timer: Hashable, Comparable, Sendable {
    fileprivate let time: MonotonicTime
    fileprivate let number: UInt64

    package static func < (a: Timer, b: Timer) -> Bool { (a.time, a.number) < (b.time, b.number) }
  }

  /// The earliest is the last; of equal times the one that was added first.
  private var entries: [(timer: Timer, body: Body)] = []
  private var lastNumber: UInt64 = 0

  package init() {}

  package var count: Int { entries.count }

  /// The time of the next entry; the distant future where there is none.
  package var earliest: MonotonicTime { entries.last?.timer.time ?? .distantFuture }

  @discardableResult
  package mutating func add(_ body: Body, at time: MonotonicTime) -> Timer {
    lastNumber += 1
    let timer = Timer(time: time, number: lastNumber)
    entries.insert((timer, body), at: place(of: timer))
    return timer
  }

  /// Takes the entry away, where its time has not come yet.
  package mutating func cancel(_ timer: Timer) {
    let place = place(of: timer)
    if place < entries.count, entries[place].timer == timer { entries.remove(at: place) }
  }

  /// Takes the next entry that is due.
  /// - Parameter last: entries that were added after this one are left, so that none runs for ever.
  package mutating func takeDue(_ now: MonotonicTime, addedUpTo last: UInt64 = .max) -> Body? {
    guard let next = entries.last?.timer, next.time <= now, next.number <= last else { return nil }
    return entries.removeLast().body
  }

  /// The number of the latest entry, for `takeDue`.
  package var latest: UInt64 { lastNumber }

  package mutating func removeAll() { entries = [] }

  /// The first place whose timer is not later than this one.
  private func place(of timer: Timer) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if timer < entries[middle].timer { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
