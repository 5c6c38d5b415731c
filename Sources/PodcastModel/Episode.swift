/// An item of a feed that has an enclosure, as the catalogue keeps it.
package struct Episode: Hashable, Sendable, Identifiable {
  /// The catalogue's number for it, never given to another one.
  package var id: Int64 = 0
  package var podcastID: Int64 = 0
  /// Names its enclosure in the cache.
  package var mediaKey = Self.noKey
  /// The name without extension, unique in its podcast, given once (Documentation/Semantics.md, Names):
  /// "2024-01-03 - A quiet harbour".
  package var stem = ""
  package var fileExtension = ""
  package var title = ""
  package var guid: String?
  /// Publication date in seconds since 1970: the feed's, else when it was first seen.
  package var published: Int64 = 0
  /// The file's time of modification: `published`, or a little later where another episode of the podcast has that second.
  package var modified: Int64 = 0
  /// Whether `published` is the feed's word.
  package var isDated: Bool = true
  package var enclosureURL: WebAddress = ""
  /// The enclosure's media type as the feed says it, lower-case without parameters.
  package var mediaType: String?
  /// The enclosure's length as the feed says it, in bytes, where it is a number above 0.
  package var feedLength: Int64?
  /// In seconds.
  package var duration: Int?
  package var season: Int?
  package var episode: Int?
  package var explicit: Bool?
  package var link: WebAddress?
  /// Show notes, as the feed has them (often HTML). Listings leave them out: see `notesLength`.
  package var notes: String?
  /// Bytes of the show notes; 0 where there are none.
  package var notesLength = 0
  package var imageURL: WebAddress?
  package var transcripts: [Transcript] = []
  package var chaptersURL: WebAddress?
  /// Those that stand in the feed, as `ChapterList.text`. Listings leave them out.
  package var chapters: String?
  package var listening = ListeningState()
  package var hidden: Bool = false
  /// Its feed has given its address to another episode (`latest.mp3`): what is there now is not this one. What
  /// came of it before is.
  package var isReplaced: Bool = false

  private static let noKey = MediaKey(address: "")

  package init() {}

  package var played: Bool { listening.isPlayed }
  package var fileName: String { stem + fileExtension }
}

/// A transcript that a feed names (Podcasting 2.0, `podcast:transcript`).
package struct Transcript: Hashable, Sendable {
  package var url: WebAddress
  /// Media type, lower-case.
  package var type: String?
  package var language: String?

  package init(url: WebAddress, type: String?, language: String?) {
    (self.url, self.type, self.language) = (url, type, language)
  }
}
