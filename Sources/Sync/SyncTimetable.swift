package import PosixKit

/// When a mount synchronizes by itself. The time goes in, so that it is the same for each clock.
package struct SyncTimetable: Sendable {
  /// When `isDue` is to be asked next.
  package private(set) var next: MonotonicTime
  /// Whatever other processes have done: at the start, and after the network has changed.
  private var mustRun = true
  /// Something has changed here that the server may not have.
  private var hasChanged = false
  /// Seconds from the last try, which the server refused, to the next one; 0 where it did not.
  private var rest = 0.0

  /// Seconds after the start, and after the network has changed.
  private static let beginning = 5.0
  /// Seconds after a change on this machine: other changes often follow the first.
  private static let afterChange = 20.0

  package init(now: MonotonicTime) { next = now.adding(Self.beginning) }

  /// Something has changed here. Further changes do not put it off.
  package mutating func changed(now: MonotonicTime) {
    if hasChanged { return }
    hasChanged = true
    next = min(next, now.adding(Self.afterChange))
  }

  package mutating func networkChanged(now: MonotonicTime) {
    mustRun = true
    next = min(next, now.adding(Self.beginning))
  }

  /// - Parameters:
  ///   - every: seconds from one synchronization to the next.
  ///   - age: seconds since the last one that worked, by whichever process; nil where none has.
  ///   - isPending: whether the server lacks anything.
  ///   - wait: seconds for which the server wishes not to be asked.
  /// - Returns: whether to synchronize now.
  package mutating func isDue(
    now: MonotonicTime, every: Int, age: Int64?, isPending: Bool, wait: Int64 = 0
  ) -> Bool {
    guard next <= now else { return false }
    if wait > 0 {
      next = now.adding(Double(wait))
      return false
    }
    defer { hasChanged = false }
    let age = age ?? .max
    // A clock that was set back makes a negative age.
    if mustRun || !(0..<Int64(every)).contains(age) || hasChanged && isPending {
      mustRun = false
      next = now.adding(Double(every))
      return true
    }
    next = now.adding(Double(max(Int64(every) - age, 1)))
    return false
  }

  /// It has synchronized, or failed.
  /// - Parameter wait: as above. Where the server refuses again and again, it is asked less and less often.
  package mutating func ended(now: MonotonicTime, wait: Int64) {
    rest = wait > 0 ? max(Double(wait), rest * 2) : 0
    if rest == 0 { return }
    mustRun = true
    next = min(next, now.adding(rest))
  }
}
