internal import PosixKit

/// Bytes per second, smoothed over a few seconds.
struct RateMeter: Hashable {
  /// Bytes that have come since it was last looked at, and when that was.
  private var count: Int64 = 0
  private var time: Instant?
  private var smoothed: Double?
  /// How many seconds the host has sent nothing. Seconds in which we held it back do not count.
  private var silence = 0.0
  /// The same with fewer bytes a second than `slow`.
  private var slowness = 0.0
  /// Whether its host was let go, after `limit_rate` had held it.
  private var isLetGo = false
  /// Whether less has come for a while than is of use.
  private(set) var isSlow = false
  /// Seconds without a byte, once they are so many that the rate means nothing.
  private(set) var stalled: Int64?

  private static let patience = 5.0
  private static let slowTime = 15.0

  var rate: Int64? { smoothed.map { Int64($0) }.flatMap { $0 > 0 ? $0 : nil } }
  mutating func came(_ bytes: Int64) { count += bytes }
  mutating func letGo() { isLetGo = true }

  /// Measures the rate since the last look, and says whether the download is stalled or slow. Time in which we hold its
  /// host back counts for neither.
  /// - Parameters:
  ///   - slow: bytes per second below which it is slow.
  ///   - isFed: whether its host may send now.
  ///   - isLimited: whether `limit_rate` alone may hold bytes back.
  mutating func look(at now: Instant, slow: Int64, isFed: Bool, isLimited: Bool) {
    defer { (count, time, isLetGo) = (0, now, false) }
    guard let time, now > time else { return }
    let seconds = now.seconds(since: time)
    let mightSend = isFed || isLetGo
    let current = Double(count) / seconds
    smoothed = smoothed.map { $0 * 0.7 + current * 0.3 } ?? (count > 0 ? current : nil)
    if count > 0 { silence = 0 } else if mightSend || !isLimited { silence += seconds }
    stalled = silence >= Self.patience ? Int64(silence) : nil
    if silence >= 2 { smoothed = nil }
    if smoothed ?? 0 >= Double(slow) { slowness = 0 } else if mightSend { slowness += seconds }
    isSlow = slowness >= Self.slowTime
  }
}

/// Holds all background downloads together to `limit_rate`: an account that fills with time.
struct Throttle: Hashable, Sendable {
  private var rate: Double?
  private var balance = 0.0
  private var time = Instant(nanoseconds: 0)
  /// What an account may save up, in seconds of the rate.
  private static let burst = 0.25

  mutating func set(rate: Int64?, at now: Instant) {
    fill(now)
    let new = rate.map { Double(max($0, 1)) }
    if new != self.rate { balance = max(balance, 0) }
    self.rate = new
  }

  mutating func spend(_ count: Int, at now: Instant) {
    if rate == nil { return }
    fill(now)
    balance -= Double(count)
  }

  /// When more may be taken from a host; nil for now.
  mutating func opens(at now: Instant) -> Instant? {
    guard let rate else { return nil }
    fill(now)
    return balance < 0 ? now.adding(-balance / rate + 0.000_001) : nil
  }

  private mutating func fill(_ now: Instant) {
    if let rate { balance = min(balance + max(now.seconds(since: time), 0) * rate, Self.burst * rate) }
    time = now
  }
}
