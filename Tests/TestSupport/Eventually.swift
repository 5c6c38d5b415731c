internal import Glibc
internal import PosixKit

/// What a wait for something that must come may take at most, in seconds: a machine that is busy with other work needs less.
package let patience: Double = 60

/// Waits until a condition holds that nobody announces, asking again every few milliseconds.
/// - Returns: whether it held before `seconds` had passed.
package func eventually(within seconds: Double = patience, _ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = MonotonicTime.after(seconds)
  while true {
    if try condition() { return true }
    if deadline <= .now { return try condition() }
    usleep(5_000)
  }
}
