import PosixKit

/// Whether a condition comes true within so many seconds: looked at every few milliseconds, for states that
/// tell nobody when they change.
func eventually(_ seconds: Double = 20, _ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = MonotonicTime.after(seconds)
  let never = Monitor(())
  while true {
    if try condition() { return true }
    if MonotonicTime.now >= deadline { return false }
    let _: Bool? = never.wait(until: .after(0.005)) { _ in nil }
  }
}

/// Waits for the next second of the wall clock: the catalogue's times have no fractions.
func nextSecond() throws {
  let now = wallClockSeconds()
  _ = eventually(5) { wallClockSeconds() > now }
}
