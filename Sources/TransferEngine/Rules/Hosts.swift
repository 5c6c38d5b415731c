/// What the engine knows of hosts: which answer requests for a range, and which did not answer at all. Where a thousand
/// downloads wait for a host that did not answer, one or two of them ask it again, after longer and longer waits.
struct Hosts: Hashable, Sendable {
  private struct Rest: Hashable, Sendable {
    var since: Instant
    var until: Instant
    var failures: Int
    /// Whether the host itself asked for it (its Retry-After).
    var isWish: Bool
  }
  private var rests: [String: Rest] = [:]
  private var parts: [String: Bool] = [:]

  /// Seconds: another file of the host may be there after all.
  private static let longest = 60.0
  /// Seconds after a failure in which no order asks the host again.
  private static let justNow = 1.0
  /// Seconds that a host may ask for in the name of all its files.
  private static let longestWish = 3600.0

  func isResting(_ host: String, at now: Instant) -> Bool {
    rests[host].map { $0.until > now } ?? false
  }

  /// It has not answered, or wants to be left alone.
  /// - Returns: until when that is; nil where that was known.
  mutating func failed(
    _ host: String, retryAfter: Double?, at now: Instant, _ random: inout SplitMix
  ) -> Instant? {
    if isResting(host, at: now) && retryAfter == nil { return nil }
    let failures = (rests[host]?.failures ?? 0) + 1
    let delay = random.jitter(Retry.delay(after: failures, atMost: Self.longest))
    let until = now.adding(max(delay, min(retryAfter ?? 0, Self.longestWish)))
    if rests.count >= Limits.hosts { rests = rests.filter { $0.value.until > now } }
    rests[host] = Rest(since: now, until: until, failures: failures, isWish: retryAfter != nil)
    return until
  }

  func nextEnd(after now: Instant) -> Instant? {
    rests.values.lazy.map(\.until).filter { $0 > now }.min()
  }

  /// A user orders a download now: its host is asked, unless it failed within the last second, or wants to be left alone. So
  /// a thousand orders ask a host that does not answer once or twice.
  /// - Returns: whether the host was left alone until now.
  mutating func hurry(_ host: String, at now: Instant) -> Bool {
    guard let rest = rests[host], !rest.isWish, now >= rest.since.adding(Self.justNow) else { return false }
    return end(host)
  }

  /// It has answered.
  /// - Returns: whether it was left alone.
  mutating func end(_ host: String) -> Bool { rests.removeValue(forKey: host) != nil }

  mutating func endAll() { rests = [:] }

  /// Whether `host` sends parts itself, and has never refused to send the end of a file.
  func givesParts(_ host: String) -> Bool { parts[host] ?? false }

  mutating func learn(_ host: String, givesParts gives: Bool) {
    if parts.count >= Limits.hosts { parts = [:] }
    parts[host] = gives && parts[host] ?? true
  }
}
