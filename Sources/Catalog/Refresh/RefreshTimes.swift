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

/// How often a feed brings something, learnt from when its episodes were published: asked often when the next one
/// is near, seldom before, and less and less where none comes.
package struct FeedRhythm: Hashable, Sendable {
  /// When the newest episode was published, in seconds since 1970; nil where no episode has a date.
  private let newest: Int64?
  /// Seconds from one episode to the next: as is usual, and as is early. Nil where too few are known.
  private let usual: Int64?
  private let early: Int64?
  private let firstRead: Int64
  /// The feed says that no more will come (`itunes:complete`).
  private let isComplete: Bool
  private static let hour: Int64 = 3600
  private static let day: Int64 = 24 * hour
  private static let week: Int64 = 7 * day
  private static let year: Int64 = 365 * day
  /// Episodes by which it is learnt.
  package static let memory = 13
  private static let fewest = 4

  /// - Parameter published: times of the newest episodes, in any order.
  package init(published: some Sequence<Int64>, firstRead: Int64, isComplete: Bool = false) {
    // Several at once are one occasion.
    var times: [Int64] = []
    let sensible: Range<Int64> = 0..<(1 << 40)
    for time in published.filter(sensible.contains).sorted(by: >)
    where times.last.map({ $0 - time >= Self.hour }) ?? true { times.append(time) }
    newest = times.first
    let gaps = zip(times, times.dropFirst()).map { $0 - $1 }.sorted()
    let isKnown = times.count >= Self.fewest
    usual = isKnown ? gaps[gaps.count / 2] : nil
    early = isKnown ? gaps[gaps.count / 5] : nil
    self.firstRead = min(max(firstRead, 0), 1 << 40)
    self.isComplete = isComplete
  }

  /// Seconds until it is asked for again.
  /// - Parameter base: as the settings say: never sooner.
  package func interval(now: Int64, base: Int64) -> Int64 {
    if isComplete { return max(base, Self.week) }
    let age = now - (newest ?? firstRead)
    guard let usual, let early, let newest else {
      // Too little is known: its own time counts since it was first read.
      let watched = now - max(newest ?? firstRead, firstRead)
      return max(base, watched > Self.year ? Self.week : watched > 30 * Self.day ? Self.day : 0)
    }
    if age > Self.year { return max(base, Self.week) }
    let window = newest + early * 9 / 10
    if now < window { return max(base, min(window - now, Self.day / 2)) }
    // What comes once a week is looked for every hour, what comes seldom not as often.
    let near = max(base, min(usual / Self.looks, Self.day / 2))
    // It is overdue: the longer, the more patient.
    if age > usual * 3 / 2 { return max(near, min((age - usual) / 24, Self.day)) }
    return near
  }

  /// Times that it is looked for in what is usually between two episodes.
  private static let looks: Int64 = 168

  /// Whether an unchanged answer is to be doubted: an episode is overdue, or may be where the rhythm is unknown.
  /// - Parameter lastWhole: when the whole feed last came.
  package func isDoubtful(now: Int64, lastWhole: Int64) -> Bool {
    let since = now - lastWhole
    if since < Self.day { return false }
    if isComplete || newest.map({ now - $0 > Self.year }) ?? false { return since > 30 * Self.day }
    guard let usual, let newest else { return since > Self.week }
    return now - newest > 2 * usual && since > min(usual, Self.week)
  }
}
