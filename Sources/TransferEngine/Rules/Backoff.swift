/// When what failed is tried again: soon where bytes came since the last time, else later and later.
package struct Backoff: Hashable, Sendable {
  /// Tries in a row that brought nothing.
  package var attempts = 0

  package init(attempts: Int = 0) { self.attempts = attempts }

  /// Seconds after a try that brought bytes, and the longest after one that did not, without and with somebody
  /// who waits.
  private static let afterProgress = 0.2
  package static let longest = 300.0
  /// The longest where it will most likely be the same.
  private static let longestDoubtful = 3600.0
  private static let longestWaited = 5.0

  /// A try has failed.
  /// - Returns: seconds to the next one, before jitter.
  package mutating func failed(hasProgress: Bool, isWaitedFor: Bool, isDoubtful: Bool = false) -> Double {
    if hasProgress { attempts = 0 }
    attempts = min(attempts + 1, 30)
    let delay =
      hasProgress
      ? Self.afterProgress
      : Self.delay(after: attempts, atMost: isDoubtful ? Self.longestDoubtful : Self.longest)
    return isWaitedFor ? min(delay, Self.longestWaited) : delay
  }

  /// Half a second, doubled with each.
  package static func delay(after attempts: Int, atMost longest: Double = longest) -> Double {
    min(0.5 * Double(1 << min(max(attempts - 1, 0), 13)), longest)
  }
}
