package import PodcastModel

/// What a feed says, after parsing: text is trimmed, entities are resolved, nothing is interpreted that
/// would need the catalogue or the clock.
package struct ParsedFeed: Hashable, Sendable {
  package var title: String?
  package var author: String?
  package var link: WebAddress?
  package var description: String?
  package var language: String?
  package var imageURL: WebAddress?
  package var categories: [String] = []
  package var explicit: Bool?
  package var people: [String] = []
  package var guid: String?
  /// `itunes:type`: "episodic" or "serial".
  package var type: String?
  /// `itunes:new-feed-url`: where the publisher says that the feed has moved.
  package var newFeedURL: WebAddress?
  package var isComplete: Bool = false
  /// RSS `ttl`, in minutes.
  package var timeToLive: Int?
  /// `atom:link rel=next`: the next page (RFC 5005).
  package var nextPageURL: WebAddress?
  /// `atom:link rel=self`: where the feed says that it is.
  package var selfURL: WebAddress?
  /// Why nothing of the feed can be played; nil where something can.
  package var emptiness: String?
  /// Items with an enclosure, in document order.
  package var episodes: [ParsedEpisode] = []
  /// What was repaired or left out, one line each, for `podcastfs feed`.
  package var warnings: [String] = []
  /// The document has come to its end.
  package var isWhole = true

  package init() {}
}

package struct ParsedEpisode: Hashable, Sendable {
  /// Its place among all items of the document.
  package var index: Int
  package var title: String?
  package var guid: String?
  /// Seconds since 1970; nil where the feed has no date that can be read.
  package var published: Int64?
  /// In seconds.
  package var duration: Int?
  /// In document order; see `enclosure` for the one to play. Where an item has no `enclosure` elements, those of Atom
  /// links, else of `media:content`. Where none of these is audio or video, the next kind that has some follows.
  package var enclosures: [Enclosure] = []
  package var link: WebAddress?
  /// Show notes, often HTML.
  package var notes: String?
  package var imageURL: WebAddress?
  package var season: Int?
  package var episode: Int?
  /// `itunes:episodeType`: full, trailer, bonus.
  package var episodeType: String?
  package var explicit: Bool?
  package var transcripts: [Transcript] = []
  package var chaptersURL: WebAddress?
  /// `psc:chapters` of the item itself, as `ChapterList.text`.
  package var chapters: String?
  package var people: [String] = []

  package init(index: Int) { self.index = index }

  package struct Enclosure: Hashable, Sendable {
    /// Absolute, http or https, with what no address may hold percent-encoded.
    package var url: WebAddress
    /// The address as the feed writes it, trimmed.
    package var address: WebAddress
    /// Media type as the feed writes it (see `MediaType.essence`), trimmed; nil where it has none.
    package var type: String?
    /// In bytes; nil where it is missing, 0 or no number.
    package var length: Int64?

    package init(url: WebAddress, type: String?, length: Int64?, address: WebAddress? = nil) {
      self.url = url
      self.address = address ?? url
      self.type = type.flatMap { $0.utf8.contains(UInt8(ascii: "/")) ? $0 : nil }
      self.length = length
    }
  }

  /// The enclosure to play: the first audio or video, else the first.
  package var enclosure: Enclosure? {
    if enclosures.count == 1 { return enclosures[0] }
    return enclosures.first { MediaType.isAudioOrVideo(type: $0.type, url: $0.url) } ?? enclosures.first
  }
}

extension ParsedFeed: FieldCoded {
  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&title, &author, &link)
    try fields.code(long: &description)
    try fields.code(&language, &imageURL, &categories)
    try fields.code(&explicit, &people, &guid)
    try fields.code(&type, &newFeedURL, &isComplete)
    try fields.code(&timeToLive, &nextPageURL, &selfURL)
    try fields.code(&emptiness, &episodes, &warnings)
    try fields.code(&isWhole)
  }
}

extension ParsedEpisode: FieldCoded {
  package init() { self.init(index: 0) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&index, &title, &guid)
    try fields.code(&published, &duration, &enclosures)
    try fields.code(&link)
    try fields.code(long: &notes)
    try fields.code(&imageURL, &season, &episode)
    try fields.code(&episodeType, &explicit, &transcripts)
    try fields.code(&chaptersURL)
    try fields.code(long: &chapters)
    try fields.code(&people)
  }
}

extension ParsedEpisode.Enclosure: FieldCoded {
  package init() { self.init(url: "", type: nil, length: nil) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    var other = address == url ? nil : address
    try fields.code(&url, &other)
    address = other ?? url
    try fields.code(&type, &length)
  }
}

extension Transcript: FieldCoded {
  package init() { self.init(url: "", type: nil, language: nil) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&url, &type, &language)
  }
}
