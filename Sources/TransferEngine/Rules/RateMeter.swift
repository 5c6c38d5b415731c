/// Bytes per second, smoothed over a few seconds.
struct RateMeter {
  private var last: (bytes: Int64, time: Instant)?
  private var smoothed: Double?

  var rate: Int64? { smoothed.map { Int64($0) } }

  mutating func note(_ bytes: Int64, at now: Instant) {
    if let last, now > last.time {
      let current = Double(max(0, bytes - last.bytes)) / now.seconds(since: last.time)
      smoothed = smoothed.map { $0 * 0.7 + current * 0.3 } ?? current
    }
    last = (bytes, now)
  }

  mutating func stop() { self = RateMeter() }
}
