internal import PosixKit
internal import TransferEngine

extension Moment {
  static var current: Moment {
    let wall = wallClockNanoseconds()
    return Moment(
      instant: Instant(nanoseconds: Int64(clamping: MonotonicTime.now.nanoseconds)),
      wall: wall / 1_000_000_000, fraction: wall % 1_000_000_000)
  }
}
