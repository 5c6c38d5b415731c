/// The elements of feeds that the parser reads. A raw value is the usual prefix of the element's namespace and its name, in
/// lower case.
enum FeedElement: String {
  case other
  // RSS 0.9x, 1.0 and 2.0
  case rss, channel, item, image, title, link, description, language, url, ttl, category, guid, enclosure,
    date
  case managingEditor = "managingeditor"
  case pubDate = "pubdate"
  case rdf = "rdf:rdf"
  // Atom 1.0 and 0.3
  case atomFeed = "atom:feed", atomEntry = "atom:entry", atomTitle = "atom:title", atomLink = "atom:link"
  case atomID = "atom:id", atomPublished = "atom:published", atomUpdated = "atom:updated"
  case atomContent = "atom:content", atomSummary = "atom:summary", atomSubtitle = "atom:subtitle"
  case atomLogo = "atom:logo", atomIcon = "atom:icon", atomAuthor = "atom:author", atomName = "atom:name"
  case atomCategory = "atom:category"
  // itunes and googleplay
  case itunesTitle = "itunes:title", itunesAuthor = "itunes:author", itunesImage = "itunes:image"
  case itunesSummary = "itunes:summary", itunesSubtitle = "itunes:subtitle"
  case itunesCategory = "itunes:category", itunesExplicit = "itunes:explicit"
  case itunesDuration = "itunes:duration", itunesSeason = "itunes:season"
  case itunesEpisode = "itunes:episode", itunesEpisodeType = "itunes:episodetype", itunesType = "itunes:type"
  case itunesNewFeedURL = "itunes:new-feed-url", itunesComplete = "itunes:complete"
  // Podcasting 2.0
  case podcastGuid = "podcast:guid", podcastTranscript = "podcast:transcript"
  case podcastChapters = "podcast:chapters", podcastSeason = "podcast:season"
  case podcastEpisode = "podcast:episode", podcastPerson = "podcast:person"
  case podcastAlternateEnclosure = "podcast:alternateenclosure", podcastSource = "podcast:source"
  // Podlove Simple Chapters
  case pscChapters = "psc:chapters", pscChapter = "psc:chapter"
  // Media RSS
  case mediaContent = "media:content", mediaGroup = "media:group", mediaThumbnail = "media:thumbnail"
  case mediaTitle = "media:title", mediaDescription = "media:description"
  // content and Dublin Core
  case contentEncoded = "content:encoded"
  case dcCreator = "dc:creator", dcDate = "dc:date", dcModified = "dc:modified", dcTitle = "dc:title"
  case dcLanguage = "dc:language"

  init(vocabulary: String, name: String) {
    let name = vocabulary.isEmpty ? name : "\(vocabulary):\(name)"
    self = Self.aliases[name] ?? FeedElement(rawValue: name) ?? .other
  }

  private static let aliases: [String: FeedElement] = [
    "id": .atomID, "rdf": .rdf, "itunes:description": .itunesSummary,
    "atom:issued": .atomPublished, "atom:modified": .atomUpdated, "atom:created": .atomUpdated,
    "atom:tagline": .atomSubtitle, "dc:created": .dcDate, "dc:issued": .dcDate, "dc:available": .dcDate,
  ]

  /// Which of the titles is better; nil for any other element.
  var rankOfTitle: Int? {
    switch self {
    case .title: 5
    case .atomTitle: 4
    case .itunesTitle: 3
    case .mediaTitle: 2
    case .dcTitle: 1
    default: nil
    }
  }

  /// Which of the texts that may be show notes or a description is better; nil for any other element.
  var rankOfNotes: Int? {
    switch self {
    case .contentEncoded, .atomContent: 5
    case .description, .atomSummary: 4
    case .itunesSummary: 3
    case .mediaDescription, .atomSubtitle: 2
    case .itunesSubtitle: 1
    default: nil
    }
  }
}

/// Tells what elements mean, whatever a document calls its prefixes. It knows them again by the addresses of their
/// names: the parser keeps one copy of each name.
struct FeedVocabulary {
  private struct Key: Hashable {
    var name: XMLElement.Name
    var prefix: XMLElement.Name?
    var namespace: XMLElement.Name?
  }

  /// A document that has more is slow, and takes no more memory.
  private static let mostNames = 4096

  private var known: [Key: FeedElement] = [:]
  /// The namespace of the document's own elements where it is one that we do not know.
  private var rootNamespace: String?
  /// What elements without prefix and namespace belong to.
  private var plain = ""

  /// Takes the namespace of the first element for that of RSS, or none for that of Atom, where its name says so.
  mutating func noteRoot(_ element: XMLElement) {
    guard element.prefix == nil else { return }
    if let namespace = element.namespace {
      if element.isNamed("rss") || element.isNamed("channel") { rootNamespace = String(cString: namespace) }
    } else if element.isNamed("feed") {
      plain = "atom"
    }
  }

  mutating func find(_ element: XMLElement) -> FeedElement {
    let key = Key(name: element.localName, prefix: element.prefix, namespace: element.namespace)
    if let element = known[key] { return element }
    let found =
      vocabulary(of: element).map {
        FeedElement(vocabulary: $0, name: String(cString: element.localName).lowercased())
      } ?? .other
    if known.count < Self.mostNames { known[key] = found }
    return found
  }

  /// The namespace's address decides where we know it; where it is missing or wrong, the prefix does, as usual prefixes
  /// are meant even where they are not declared.
  private func vocabulary(of element: XMLElement) -> String? {
    let address = element.namespace.map { String(cString: $0) }
    guard let prefix = element.prefix else {
      return address == nil ? plain : address == rootNamespace ? "" : address.flatMap(Self.known)
    }
    return address.flatMap(Self.known) ?? Self.prefixes[String(cString: prefix).lowercased()]
  }

  private static func known(_ address: String) -> String? {
    var key = address.lowercased()[...]
    for start in ["http://", "https://", "www."] where key.hasPrefix(start) {
      key = key.dropFirst(start.count)
    }
    while key.last == "/" || key.last == "#" { key.removeLast() }
    return addresses[String(key)]
  }

  private static let prefixes = [
    "itunes": "itunes", "googleplay": "itunes", "podcast": "podcast", "psc": "psc", "media": "media",
    "content": "content", "dc": "dc", "dcterms": "dc", "atom": "atom", "atom10": "atom", "a10": "atom",
    "rdf": "rdf",
  ]

  private static let addresses = [
    "": "",
    "purl.org/rss/1.0": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
    "w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
    "purl.org/atom-blog/ns": "atom",
    "itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "itunes.apple.com/dtds/podcast-1.0.dtd": "itunes",
    "google.com/schemas/play-podcasts/1.0": "itunes",
    "google.com/schemas/play-podcasts/1.0/play-podcasts.xsd": "itunes",
    "podcastindex.org/namespace/1.0": "podcast",
    "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast",
    "podlove.org/simple-chapters": "psc",
    "search.yahoo.com/mrss": "media",
    "purl.org/rss/1.0/modules/content": "content",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/dc/terms": "dc",
  ]
}
