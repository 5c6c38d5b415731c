internal import PosixKit

/// Holds all background downloads together to `limit_rate`: bytes may pass while the account is not
/// overdrawn, and it fills with time.
final class Throttle: Sendable {
  private struct State {
    var rate: Int64?
    var balance = 0.0
    var time = MonotonicTime.now
  }
  private let state = Monitor(State())

  /// What an account may save up, in seconds of the rate.
  private static let burst = 0.25

  /// Bytes per second; nil for no bound.
  func set(rate: Int64?) {
    state.withLock { state in
      if rate != state.rate { state.balance = max(state.balance, 0) }
      state.rate = rate
    }
  }

  /// Takes `count` bytes from the account.
  /// - Returns: nil where they may pass; else nothing is taken, and they may be tried after this many seconds.
  func take(_ count: Int) -> Double? {
    state.withLock { state in
      guard let rate = state.rate.map({ Double(max($0, 1)) }) else { return nil }
      let now = MonotonicTime.now
      state.balance = min(state.balance + now.seconds(since: state.time) * rate, Self.burst * rate)
      state.time = now
      if state.balance < 0 { return -state.balance / rate }
      state.balance -= Double(count)
      return nil
    }
  }
}
