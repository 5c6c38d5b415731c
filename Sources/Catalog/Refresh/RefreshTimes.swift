/// When a feed is asked for again.
package struct RefreshTimes: Hashable, Sendable {
  /// Seconds between refreshes as the settings say.
  package var interval: Int
  /// 0 to 1: spreads the refreshes of many feeds and many users.
  package var jitter: Double

  private static let day: Int64 = 24 * 3600
  /// A server's wish to wait is heard up to here.
  private static let longestWait: Int64 = 7 * day

  package init(interval: Int, jitter: Double = .random(in: 0...1)) {
    self.interval = max(interval, 900)
    self.jitter = jitter
  }

  /// After an answer: never sooner than the settings say, later where feed or server wish it (up to a day), or
  /// where nothing new is to be expected.
  /// - Parameters:
  ///   - rhythm: the feed's; nil where the user has said himself how often it is to be asked for.
  ///   - timeToLive: RSS `ttl`, in minutes.
  ///   - maximumAge: Cache-Control, in seconds.
  package func next(now: Int64, rhythm: FeedRhythm?, timeToLive: Int?, maximumAge: Int64?) -> Int64 {
    let ttl = Int64(clamping: timeToLive ?? 0).multipliedReportingOverflow(by: 60)
    let wished = max(ttl.overflow ? 0 : ttl.partialValue, maximumAge ?? 0)
    let usual = rhythm?.interval(now: now, base: Int64(interval)) ?? Int64(interval)
    return now + spread(max(usual, min(wished, Self.day)))
  }

  /// After a failure: twice as long each time, up to a day; a week for a feed that is gone; soon where the
  /// network is away, which is no fault of the feed.
  /// - Parameters:
  ///   - failures: in a row, this one included.
  ///   - retryAfter: the server's wish, in seconds.
  func next(now: Int64, afterFailures failures: Int, isGone: Bool, isAway: Bool, retryAfter: Int64?) -> Int64
  {
    if isAway { return now + spread(900) }
    let doubled = Int64(interval) << Int64(min(max(failures - 1, 0), 6))
    let wait = isGone ? Self.longestWait : min(doubled, max(Self.day, Int64(interval)))
    return now + max(spread(wait), min(retryAfter ?? 0, Self.longestWait))
  }

  /// Until when the server wishes not to be asked at all.
  static func notBefore(now: Int64, retryAfter: Int64?) -> Int64? {
    retryAfter.map { now + min(max($0, 0), longestWait) }
  }

  /// `max-age` of a Cache-Control field (RFC 9111 §5.2.2.1).
  static func maximumAge(_ cacheControl: String?) -> Int64? {
    for directive in cacheControl?.split(separator: ",") ?? [] {
      let parts = directive.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].filter({ $0 != " " }).lowercased() == "max-age" else { continue }
      return Int64(parts[1].filter { $0 != " " && $0 != "\"" })
    }
    return nil
  }

  /// Up to a tenth more.
  private func spread(_ seconds: Int64) -> Int64 { seconds + Int64(Double(seconds) * jitter / 10) }
}
