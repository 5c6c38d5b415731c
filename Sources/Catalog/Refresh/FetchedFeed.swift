internal import FeedKit

/// A feed as it came, its episodes made ready for the catalogue while it was still parsed.
@dynamicMemberLookup
struct FetchedFeed: Sendable {
  /// All but its episodes.
  let channel: ParsedFeed
  let episodes: [IncomingEpisode]

  subscript<Value>(dynamicMember fact: KeyPath<ParsedFeed, Value>) -> Value { channel[keyPath: fact] }
}
