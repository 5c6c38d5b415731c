internal import FeedKit
internal import Identity
internal import PodcastModel
internal import SQLiteKit

/// An item of a feed, as the catalogue will keep it.
struct IncomingEpisode: Sendable {
  var parsed: ParsedEpisode
  var enclosure: ParsedEpisode.Enclosure
  var traits: ItemTraits
  var guid: String?
  /// White space collapsed; empty where the feed has none.
  var title: String
  /// The feed's date, where it has one that is not in the future.
  var published: Int64?
  /// Bytes of the show notes.
  var notesLength: Int

  /// - Returns: nil for an item without enclosure.
  init?(_ parsed: ParsedEpisode, now: Int64) {
    guard let enclosure = parsed.enclosure else { return nil }
    self.parsed = parsed
    self.enclosure = enclosure
    guid = parsed.guid.flatMap { $0.isEmpty ? nil : $0 }
    title = parsed.title ?? ""
    published = parsed.published.flatMap { $0 <= now ? $0 : nil }
    traits = ItemTraits(address: enclosure.url, title: title)
    traits.guid = guid
    traits.published = published
    traits.duration = parsed.duration
    traits.length = enclosure.length
    traits.season = parsed.season
    traits.number = parsed.episode
    // The notes may come from a file: they are read once here, and once more where they are kept.
    let notes = parsed.notes
    notesLength = notes?.utf8.count ?? 0
    traits.fingerprint = Self.fingerprint(parsed, notes, enclosure, published)
  }

  private static func fingerprint(
    _ parsed: ParsedEpisode, _ notes: String?, _ enclosure: ParsedEpisode.Enclosure, _ published: Int64?
  ) -> Int64 {
    var print = Fingerprint()
    for text in [
      parsed.guid, parsed.title, enclosure.url.forRequest, enclosure.type, parsed.link?.forRequest, notes,
      parsed.imageURL?.forRequest, parsed.chaptersURL?.forRequest, EpisodeRow.text(parsed.transcripts),
    ] { print.add(text) }
    print.add(published)
    print.add(enclosure.length)
    for number in [parsed.duration, parsed.season, parsed.episode] { print.add(number) }
    print.add(parsed.explicit)
    return print.value
  }

  /// What the feed says, column by column.
  /// - Parameter firstSeen: when it counts as published where the feed does not say.
  func values(firstSeen: Int64) -> [(column: String, value: any Bindable)] {
    [
      ("guid", guid), ("title", title), ("published", published ?? firstSeen), ("is_dated", published != nil),
      ("fingerprint", traits.fingerprint), ("enclosure_url", enclosure.url.forRequest),
      ("media_type", enclosure.type.map(MediaType.essence)), ("feed_length", enclosure.length),
      ("duration", parsed.duration), ("season", parsed.season), ("number", parsed.episode),
      ("explicit", parsed.explicit), ("link", parsed.link?.forRequest),
      ("image_url", parsed.imageURL?.forRequest),
      ("transcripts", EpisodeRow.text(parsed.transcripts)), ("chapters_url", parsed.chaptersURL?.forRequest),
      ("notes_length", notesLength),
    ]
  }
}
