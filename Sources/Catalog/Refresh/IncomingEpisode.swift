internal import FeedKit
internal import Identity
internal import PodcastModel

/// A feed as it came, its episodes made ready for the catalogue.
@dynamicMemberLookup
struct FetchedFeed: Sendable {
  let channel: ParsedFeed
  let episodes: [IncomingEpisode]

  init(_ feed: consuming ParsedFeed, now: Int64) {
    episodes = feed.episodes.compactMap { IncomingEpisode($0, now: now) }
    feed.episodes = []
    channel = feed
  }

  subscript<Value>(dynamicMember fact: KeyPath<ParsedFeed, Value>) -> Value { channel[keyPath: fact] }
}

/// An item of a feed, as the catalogue will keep it. An object, because it goes from list to list, and has two dozen
/// texts.
final class IncomingEpisode: Sendable {
  let parsed: ParsedEpisode
  let enclosure: ParsedEpisode.Enclosure
  let traits: ItemTraits

  /// - Returns: nil for an item without enclosure.
  init?(_ parsed: consuming ParsedEpisode, now: Int64) {
    guard let enclosure = parsed.enclosure else { return nil }
    self.enclosure = enclosure
    var traits = parsed.traits(now: now)
    traits.title = TitleText.plain(traits.title)
    traits.fingerprint = Self.fingerprint(parsed, traits.published)
    (self.traits, self.parsed) = (traits, parsed)
  }

  /// A number that tells whether the feed says the same of it as before, in every process (FNV-1a, 64 bits).
  private static func fingerprint(_ parsed: ParsedEpisode, _ published: Int64?) -> Int64 {
    var said = parsed
    // Neither its place in the document counts, nor a date in the future.
    (said.index, said.published) = (0, published)
    let hash = said.encoded.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
    }
    return Int64(bitPattern: hash)
  }
}

extension EpisodeRecord {
  var traits: ItemTraits {
    var traits = ItemTraits(address: episode.enclosureURL, title: episode.title)
    traits.guid = episode.guid
    traits.published = episode.isDated ? episode.published : nil
    traits.fingerprint = fingerprint
    return traits
  }

  /// What the feed says of it now. Names, media key and marks stay.
  mutating func take(_ item: IncomingEpisode) {
    let (said, traits) = (item.parsed, item.traits)
    (episode.guid, episode.title, fingerprint) = (traits.guid, traits.title, traits.fingerprint)
    episode.published = traits.published ?? episode.published
    episode.isDated = traits.published != nil
    (episode.enclosureURL, episode.isReplaced) = (item.enclosure.url, false)
    (episode.feedLength, episode.mediaType) = (
      item.enclosure.length, item.enclosure.type.map(MediaType.essence)
    )
    (episode.duration, episode.season, episode.episode) = (said.duration, said.season, said.episode)
    (episode.explicit, episode.link, episode.imageURL) = (said.explicit, said.link, said.imageURL)
    (episode.transcripts, episode.chaptersURL) = (said.transcripts, said.chaptersURL)
    (episode.notes, episode.chapters) = (said.notes, said.chapters)
    episode.notesLength = said.notes?.utf8.count ?? 0
    (type, people) = (said.episodeType, said.people)
  }
}
