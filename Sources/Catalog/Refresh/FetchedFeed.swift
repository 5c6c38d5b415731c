internal import FeedKit

/// A feed as it came, its episodes made ready for the catalogue while it was still parsed.
@dynamicMemberLookup
struct FetchedFeed: Sendable {
  /// All but its episodes.
  let channel: ParsedFeed
  let episodes: [IncomingEpisode]

  /// The first date of an episode that has not come yet: the episode counts as undated until then.
  func nextDate(after now: Int64) -> Int64? {
    episodes.lazy.compactMap(\.parsed.published).filter { $0 > now && $0 < now + Self.farthest }.min()
  }

  /// Seconds. A date behind that is a mistake.
  private static let farthest: Int64 = 366 * 24 * 3600

  subscript<Value>(dynamicMember fact: KeyPath<ParsedFeed, Value>) -> Value { channel[keyPath: fact] }
}
