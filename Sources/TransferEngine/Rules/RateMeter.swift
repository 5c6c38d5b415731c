/// Bytes per second, smoothed over a few seconds.
struct RateMeter: Hashable {
  private struct Mark: Hashable {
    var bytes: Int64
    var time: Instant
  }
  private var last: Mark?
  private var smoothed: Double?
  /// When bytes were last seen to come.
  private var moved: Instant?

  /// nil while nothing comes.
  var rate: Int64? { smoothed.map { Int64($0) } }

  /// Seconds without a byte, once they are so many that the rate means nothing.
  private(set) var stalled: Int64?
  private static let patience = 5.0

  mutating func note(_ bytes: Int64, at now: Instant) {
    if let last, now > last.time {
      let current = Double(max(0, bytes - last.bytes)) / now.seconds(since: last.time)
      smoothed = smoothed.map { $0 * 0.7 + current * 0.3 } ?? current
    }
    if bytes == last?.bytes, let moved {
      let silence = now.seconds(since: moved)
      stalled = silence >= Self.patience ? Int64(silence) : nil
      if stalled != nil { smoothed = nil }
    } else {
      moved = now
      stalled = nil
    }
    last = Mark(bytes: bytes, time: now)
  }

  mutating func stop() { self = RateMeter() }
}
