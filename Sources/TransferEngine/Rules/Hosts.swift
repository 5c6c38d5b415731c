internal import PodcastModel
internal import PosixKit

/// Remembers which hosts give ranges, and which did not answer. A thousand downloads may wait for a silent host: one or
/// two of them ask it again, after longer and longer waits.
struct Hosts: Hashable, Sendable {
  private struct Rest: Hashable, Sendable {
    var since: Instant
    var until: Instant
    var failures: Int
    /// Whether the host itself asked for it (its Retry-After).
    var isWish: Bool
    /// What was ordered since: it alone may ask.
    var exempt: MediaKey?
  }
  private var rests: [String: Rest] = [:]
  private var parts: [String: Bool] = [:]

  /// Seconds: another file of the host may be there after all.
  private static let longest = 60.0
  /// Seconds that a host may ask for in the name of all its files.
  private static let longestWish = 3600.0

  func isResting(_ host: String, for key: MediaKey? = nil, at now: Instant) -> Bool {
    rests[host].map { $0.until > now && (key == nil || $0.exempt != key) } ?? false
  }

  /// It has not answered, or wants to be left alone.
  /// - Returns: until when that is; nil where that was known.
  mutating func failed(
    _ host: String, by key: MediaKey? = nil, retryAfter: Double?, at now: Instant, _ random: inout SplitMix
  ) -> Instant? {
    if isResting(host, for: key, at: now) && retryAfter == nil { return nil }
    let failures = (rests[host]?.failures ?? 0) + 1
    let delay = random.jitter(Retry.delay(after: failures, atMost: Self.longest))
    let until = now.adding(max(delay, min(retryAfter ?? 0, Self.longestWish)))
    if rests.count >= Limits.hosts { rests = rests.filter { $0.value.until > now } }
    rests[host] = Rest(since: now, until: until, failures: failures, isWish: retryAfter != nil)
    return until
  }

  func nextEnd(after now: Instant) -> Instant? { rests.values.lazy.map(\.until).filter { $0 > now }.min() }

  /// Lets the download that a user orders now ask its host, unless that has just failed or wants to be left alone.
  /// - Returns: whether that changes anything.
  mutating func hurry(_ host: String, for key: MediaKey, at now: Instant) -> Bool {
    guard let rest = rests[host], !rest.isWish, now >= rest.since.adding(Retry.justNow) else { return false }
    rests[host]?.exempt = key
    return true
  }

  /// - Returns: whether the host that has answered was left alone.
  mutating func end(_ host: String) -> Bool { rests.removeValue(forKey: host) != nil }
  mutating func endAll() { rests = [:] }
  /// Whether `host` sends parts itself, and has never refused to send the end of a file.
  func givesParts(_ host: String) -> Bool { parts[host] ?? false }

  mutating func learn(_ host: String, givesParts gives: Bool) {
    if parts.count >= Limits.hosts { parts = [:] }
    parts[host] = gives && parts[host] ?? true
  }
}
