import PosixKit
import TestSupport

/// Waits for the next second of the wall clock: the catalogue's times have no fractions.
func nextSecond() throws {
  let now = wallClockSeconds()
  _ = eventually { wallClockSeconds() > now }
}
