internal import PosixKit

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
    guard rate != nil else { return }
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
