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
    .members([
      "title": feed.title, "author": feed.author, "link": feed.link?.reported,
      "image": feed.imageURL?.reported, "language": feed.language, "feed_url": feedURL?.reported,
      "description": feed.description, "categories": feed.categories, "explicit": feed.explicit,
      "type": feed.type, "guid": feed.guid, "new_feed_url": feed.newFeedURL?.reported,
      "next_page": feed.nextPageURL?.reported, "warnings": feed.warnings,
      "episodes": zip(feed.episodes, names).map(Self.json),
    ])
  }

  private static func json(_ episode: ParsedEpisode, name: String) -> JSONValue {
    .members([
      "title": episode.title,
      "guid": episode.guid,
      "published": episode.published.map(CivilTime.iso8601),
      "duration": episode.duration,
      "name": name,
      "enclosures": episode.enclosures.map(json),
      "link": episode.link?.reported,
      "image": episode.imageURL?.reported,
      "season": episode.season,
      "episode": episode.episode,
      "explicit": episode.explicit,
      "transcripts": episode.transcripts.map(json),
      "chapters": episode.chaptersURL?.reported,
    ])
  }

  private static func json(_ enclosure: ParsedEpisode.Enclosure) -> JSONValue {
    .members(["url": enclosure.address.reported, "type": enclosure.type, "length": enclosure.length])
  }

  private static func json(_ transcript: Transcript) -> JSONValue {
    .members(["url": transcript.url.reported, "type": transcript.type, "language": transcript.language])
  }
}

extension FeedReport {
  /// For people: the channel, a line an episode in the feed's order, then the warnings. Control characters,
  /// which could work on a terminal, are left out.
  package var text: String {
    var lines: [String] = [feed.title.map(TitleText.line) ?? "(no title)"]
    let facts: [(String, String?)] = [
      ("author", feed.author.map(TitleText.line)), ("link", feed.link?.reported),
      ("image", feed.imageURL?.reported), ("language", feed.language), ("feed", feedURL?.reported),
      ("moved to", feed.newFeedURL?.reported), ("next page", feed.nextPageURL?.reported),
    ]
    lines += facts.compactMap { label, value in value.map { "  \(label): \($0)" } }
    lines.append("\(feed.episodes.count) \(feed.episodes.count == 1 ? "episode" : "episodes")")
    for (episode, name) in zip(feed.episodes, names) {
      let details = [
        episode.duration.map { PositionText.clock(Int64($0) * 1000) },
        episode.enclosure?.length.map(Self.size),
      ].compactMap(\.self)
      lines.append("  " + name + (details.isEmpty ? "" : "  (\(details.joined(separator: ", ")))"))
    }
    lines += feed.warnings.map { "warning: " + $0 }
    return lines.map(PrintableText.line).joined(separator: "\n")
  }

  private static func size(_ bytes: Int64) -> String {
    let tenths = bytes / 104_857 + (bytes % 104_857 > 52_428 ? 1 : 0)
    return "\(tenths / 10).\(tenths % 10) MiB"
  }
}

extension WebAddress {
  /// The reader of a report has the feed itself: what merely looks like a token is shown.
  var reported: String { shown(isListed: true) }
}
