internal import FeedKit
internal import Identity
internal import PodcastModel
internal import SQLiteKit

/// An item of a feed, as the catalogue will keep it. An object, because it goes from list to list, and has two dozen
/// texts.
final class IncomingEpisode: Sendable {
  let parsed: ParsedEpisode
  let enclosure: ParsedEpisode.Enclosure
  let traits: ItemTraits
  let guid: String?
  /// White space collapsed; empty where the feed has none.
  let title: String
  /// The feed's date, where it has one that is not in the future.
  let published: Int64?
  /// See `MediaType.essence`.
  let mediaType: String?
  /// Bytes of the show notes.
  let notesLength: Int

  /// - Parameter now: seconds since 1970.
  /// - Returns: nil for an item without enclosure.
  init?(_ parsed: consuming ParsedEpisode, now: Int64) {
    guard let enclosure = parsed.enclosure else { return nil }
    self.enclosure = enclosure
    mediaType = enclosure.type.map(MediaType.essence)
    var traits = parsed.traits(now: now)
    (guid, title, published) = (traits.guid, traits.title, traits.published)
    notesLength = parsed.notes?.utf8.count ?? 0
    traits.fingerprint = Self.fingerprint(parsed, published)
    self.traits = traits
    self.parsed = parsed
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

  static let columns = [
    "guid", "title", "published", "is_dated", "fingerprint", "enclosure_url", "media_type", "feed_length",
    "duration",
    "season", "number", "type", "explicit", "link", "image_url", "transcripts", "chapters_url",
    "notes_length", "modified", "people",
  ]

  /// Gives a row what the feed says, in the order of `columns`.
  /// - Parameters:
  ///   - firstSeen: when it counts as published where the feed does not say.
  ///   - modified: the file's time of modification.
  func bind(to row: inout RowValues, firstSeen: Int64, modified: Int64) {
    row.add(guid)
    row.add(title)
    row.add(published ?? firstSeen)
    row.add(published != nil)
    row.add(traits.fingerprint)
    row.add(enclosure.url.forRequest)
    row.add(mediaType)
    row.add(enclosure.length)
    row.add(parsed.duration)
    row.add(parsed.season)
    row.add(parsed.episode)
    row.add(parsed.episodeType)
    row.add(parsed.explicit)
    row.add(parsed.link?.forRequest)
    row.add(parsed.imageURL?.forRequest)
    row.add(EpisodeRow.text(parsed.transcripts))
    row.add(parsed.chaptersURL?.forRequest)
    row.add(notesLength)
    row.add(modified)
    row.add(PersonRows.text(parsed.people))
  }
}
