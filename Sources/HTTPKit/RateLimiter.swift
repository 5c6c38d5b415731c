internal import PosixKit

/// Spreads bytes over time. libcurl's own limit lets 400 KB through at once and then sleeps for seconds,
/// which looks like a stall.
struct RateLimiter {
  private let bytesPerSecond: Double
  /// When the next piece may pass.
  private(set) var next = MonotonicTime.now

  /// Seconds that may be caught up after a silence of the sender.
  private static let slack = 0.1

  init(bytesPerSecond: Int64) { self.bytesPerSecond = Double(max(bytesPerSecond, 1)) }

  /// Counts a piece that has passed.
  mutating func passed(_ bytes: Int) {
    next = max(next, MonotonicTime.after(-Self.slack)).adding(Double(bytes) / bytesPerSecond)
  }
}
