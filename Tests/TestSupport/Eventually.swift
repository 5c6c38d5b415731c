internal import Glibc
internal import PosixKit

/// Waits until a condition holds that nobody announces, asking again every few milliseconds.
/// - Returns: whether it held before `seconds` had passed.
package func eventually(within seconds: Double = 10, _ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = MonotonicTime.after(seconds)
  while true {
    if try condition() { return true }
    if deadline <= .now { return try condition() }
    usleep(5_000)
  }
}
