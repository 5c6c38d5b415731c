/// The elements of feeds that mean something to us, whatever their prefixes are called in a document. Each is called after
/// its vocabulary and its name (`itunesTitle`); those of RSS have their name alone.
enum FeedElement: UInt8, CaseIterable {
  case other
  // RSS 0.9x, 1.0 and 2.0
  case rss, rdf, channel, item, image, title, link, description, language, managingEditor, url
  case ttl, category, pubDate, guid, enclosure, date
  // Atom 1.0 and 0.3
  case atomFeed, atomEntry, atomTitle, atomLink, atomID, atomPublished, atomUpdated, atomContent
  case atomSummary, atomSubtitle, atomLogo, atomIcon, atomAuthor, atomName, atomCategory
  // itunes and googleplay
  case itunesTitle, itunesAuthor, itunesImage, itunesSummary, itunesSubtitle, itunesCategory, itunesExplicit
  case itunesOwner, itunesName, itunesDuration, itunesSeason, itunesEpisode, itunesEpisodeType
  case itunesType, itunesNewFeedURL, itunesComplete
  // Podcasting 2.0
  case podcastGuid, podcastTranscript, podcastChapters, podcastAlternateEnclosure, podcastSource
  case podcastSeason, podcastEpisode, podcastPerson
  // Podlove Simple Chapters
  case pscChapters, pscChapter
  // Media RSS
  case mediaContent, mediaGroup, mediaThumbnail, mediaTitle, mediaDescription
  // content and Dublin Core
  case contentEncoded, dcCreator, dcDate, dcModified, dcTitle, dcLanguage

  /// Whether its text is show notes or a description.
  var isLong: Bool {
    switch self {
    case .description, .itunesSummary, .itunesSubtitle, .contentEncoded, .atomContent, .atomSummary,
      .atomSubtitle, .mediaDescription:
      true
    default: false
    }
  }
}

/// The vocabularies of feeds: their elements by their names in lower case.
struct FeedNamespace {
  private let names: [String: FeedElement]

  subscript(_ name: String) -> FeedElement { names[name] ?? .other }

  /// The vocabulary of a namespace's address and an element's prefix. The address decides where we know it;
  /// where it is missing or wrong, the prefix does, as usual prefixes are meant even where they are not
  /// declared.
  static func of(address: String?, prefix: String?) -> FeedNamespace? {
    if let address, let found = known(address) { return found }
    guard let prefix else { return address == nil ? rss : nil }
    return prefixes[prefix.lowercased()]
  }

  private static func known(_ address: String) -> FeedNamespace? {
    var key = address.lowercased()[...]
    if let scheme = ["http://", "https://"].first(where: { key.hasPrefix($0) }) {
      key = key.dropFirst(scheme.count)
    }
    if key.hasPrefix("www.") { key = key.dropFirst(4) }
    while key.last == "/" || key.last == "#" { key.removeLast() }
    return addresses[String(key)]
  }

  private static let prefixes: [String: FeedNamespace] = [
    "itunes": itunes, "googleplay": itunes, "podcast": podcast, "psc": simpleChapters, "media": media,
    "content": content,
    "dc": dublinCore, "dcterms": dublinCore, "atom": atom, "atom10": atom, "a10": atom, "rdf": rdf,
  ]

  private static let addresses: [String: FeedNamespace] = [
    "": rss,
    "purl.org/rss/1.0": rss,
    "my.netscape.com/rdf/simple/0.9": rss,
    "channel.netscape.com/rdf/simple/0.9": rss,
    "my.netscape.com/publish/formats/rss-0.91.dtd": rss,
    "backend.userland.com/rss": rss,
    "backend.userland.com/rss2": rss,
    "backend.userland.com/rss091": rss,
    "backend.userland.com/rss2.0": rss,
    "blogs.law.harvard.edu/tech/rss": rss,
    "cyber.law.harvard.edu/rss/rss.html": rss,
    "rssboard.org/rss-specification": rss,
    "w3.org/1999/02/22-rdf-syntax-ns": rdf,
    "w3.org/2005/atom": atom,
    "purl.org/atom/ns": atom,
    "purl.org/atom-blog/ns": atom,
    "itunes.com/dtds/podcast-1.0.dtd": itunes,
    "itunes.apple.com/dtds/podcast-1.0.dtd": itunes,
    "google.com/schemas/play-podcasts/1.0": itunes,
    "google.com/schemas/play-podcasts/1.0/play-podcasts.xsd": itunes,
    "podcastindex.org/namespace/1.0": podcast,
    "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": podcast,
    "podlove.org/simple-chapters": simpleChapters,
    "search.yahoo.com/mrss": media,
    "purl.org/rss/1.0/modules/content": content,
    "purl.org/dc/elements/1.1": dublinCore,
    "purl.org/dc/elements/1.0": dublinCore,
    "purl.org/dc/terms": dublinCore,
  ]

  static let rss = FeedNamespace(names: names("", ["id": .atomID]))
  static let atom = FeedNamespace(
    names: names(
      "atom",
      [
        "issued": .atomPublished, "modified": .atomUpdated, "created": .atomUpdated, "tagline": .atomSubtitle,
      ]))
  private static let itunes = FeedNamespace(
    names: names("itunes", ["description": .itunesSummary, "new-feed-url": .itunesNewFeedURL]))
  private static let podcast = FeedNamespace(names: names("podcast"))
  private static let simpleChapters = FeedNamespace(names: names("psc"))
  private static let media = FeedNamespace(names: names("media"))
  private static let dublinCore = FeedNamespace(
    names: names("dc", ["created": .dcDate, "issued": .dcDate, "available": .dcDate]))
  private static let content = FeedNamespace(names: names("content"))
  private static let rdf = FeedNamespace(names: ["rdf": .rdf])

  private static let vocabularies = ["atom", "itunes", "podcast", "psc", "media", "dc", "content"]

  private static func names(_ own: String, _ others: [String: FeedElement] = [:]) -> [String: FeedElement] {
    FeedElement.allCases.reduce(into: others) { names, element in
      let name = "\(element)"
      let vocabulary = vocabularies.first {
        name.hasPrefix($0) && name.dropFirst($0.count).first?.isUppercase == true
      }
      if vocabulary ?? "" == own, element != .other {
        names[name.dropFirst(own.count).lowercased()] = element
      }
    }
  }
}
