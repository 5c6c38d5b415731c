package import PodcastModel

/// What podcastfs makes of a feed, for `podcastfs feed`.
package struct FeedReport: Sendable {
  /// Without items that repeat an earlier one.
  package let feed: ParsedFeed
  /// Where it came from; nil for a file that does not say.
  package let feedURL: WebAddress?
  /// The name of each episode's file in a mount that sees the feed for the first time, in the feed's order.
  package let names: [String]

  /// - Parameters:
  ///   - feedURL: where it came from; a file's own word (`atom:link rel=self`) stands in for it.
  ///   - now: in seconds since 1970: the day that an episode without a date is named after.
  package init(feed: ParsedFeed, feedURL: WebAddress?, now: Int64) {
    self.feed = feed.withoutRepeated(now: now)
    self.feedURL = feedURL ?? feed.selfURL
    names = self.feed.fileNames(now: now)
  }

  /// The object of `podcastfs feed --json`: null for what the feed does not have.
  package var json: JSONValue {
    .object([
      ("title", .optional(feed.title)),
      ("author", .optional(feed.author)),
      ("link", .optional(feed.link?.reported)),
      ("image", .optional(feed.imageURL?.reported)),
      ("language", .optional(feed.language)),
      ("feed_url", .optional(feedURL?.reported)),
      ("description", .optional(feed.description)),
      ("categories", .strings(feed.categories)),
      ("explicit", .optional(feed.explicit)),
      ("type", .optional(feed.type)),
      ("guid", .optional(feed.guid)),
      ("new_feed_url", .optional(feed.newFeedURL?.reported)),
      ("next_page", .optional(feed.nextPageURL?.reported)),
      ("warnings", .strings(feed.warnings)),
      ("episodes", .array(zip(feed.episodes, names).map(Self.json))),
    ])
  }

  private static func json(_ episode: ParsedEpisode, name: String) -> JSONValue {
    .object([
      ("title", .optional(episode.title)),
      ("guid", .optional(episode.guid)),
      ("published", .optional(episode.published.map(CivilTime.iso8601))),
      ("duration", .optional(episode.duration)),
      ("name", .string(name)),
      ("enclosures", .array(episode.enclosures.map(json))),
      ("link", .optional(episode.link?.reported)),
      ("image", .optional(episode.imageURL?.reported)),
      ("season", .optional(episode.season)),
      ("episode", .optional(episode.episode)),
      ("explicit", .optional(episode.explicit)),
      ("transcripts", .array(episode.transcripts.map(json))),
      ("chapters", .optional(episode.chaptersURL?.reported)),
    ])
  }

  private static func json(_ enclosure: ParsedEpisode.Enclosure) -> JSONValue {
    .object([
      ("url", .string(enclosure.address.reported)),
      ("type", .optional(enclosure.type)),
      ("length", .optional(enclosure.length)),
    ])
  }

  private static func json(_ transcript: Transcript) -> JSONValue {
    .object([
      ("url", .string(transcript.url.reported)),
      ("type", .optional(transcript.type)),
      ("language", .optional(transcript.language)),
    ])
  }
}

extension WebAddress {
  /// The reader of a report has the feed itself: what merely looks like a token is shown.
  var reported: String { shown(isListed: true) }
}
