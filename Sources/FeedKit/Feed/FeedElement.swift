/// The elements of feeds that mean something to us, whatever their prefixes are called in a document.
enum FeedElement: UInt8 {
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
  case podcastSeason, podcastEpisode
  // Media RSS
  case mediaContent, mediaGroup, mediaThumbnail, mediaTitle, mediaDescription
  // content and Dublin Core
  case contentEncoded, creator, dcDate, dcModified, dcTitle, dcLanguage

  /// Whether its text is show notes or a description.
  var isLong: Bool {
    switch self {
    case .description, .itunesSummary, .itunesSubtitle, .contentEncoded, .atomContent, .atomSummary,
      .atomSubtitle,
      .mediaDescription:
      true
    default: false
    }
  }

  /// The element of a namespace and a local name in lower case.
  static func named(_ name: String, in namespace: FeedNamespace) -> FeedElement {
    switch namespace {
    case .rss: rssNames[name] ?? .other
    case .rdf: name == "rdf" ? .rdf : .other
    case .atom: atomNames[name] ?? .other
    case .itunes: itunesNames[name] ?? .other
    case .podcast: podcastNames[name] ?? .other
    case .media: mediaNames[name] ?? .other
    case .content: name == "encoded" ? .contentEncoded : .other
    case .dublinCore: dublinCoreNames[name] ?? .other
    case .unknown: .other
    }
  }

  private static let rssNames: [String: FeedElement] = [
    "rss": .rss, "rdf": .rdf, "channel": .channel, "item": .item, "image": .image, "title": .title,
    "link": .link, "description": .description, "language": .language,
    "managingeditor": .managingEditor, "url": .url, "ttl": .ttl, "category": .category, "pubdate": .pubDate,
    "guid": .guid, "id": .atomID, "enclosure": .enclosure, "date": .date,
  ]

  private static let atomNames: [String: FeedElement] = [
    "feed": .atomFeed, "entry": .atomEntry, "title": .atomTitle, "link": .atomLink, "id": .atomID,
    "published": .atomPublished, "issued": .atomPublished, "updated": .atomUpdated, "modified": .atomUpdated,
    "created": .atomUpdated, "content": .atomContent, "summary": .atomSummary, "subtitle": .atomSubtitle,
    "tagline": .atomSubtitle, "logo": .atomLogo, "icon": .atomIcon, "author": .atomAuthor, "name": .atomName,
    "category": .atomCategory,
  ]

  private static let itunesNames: [String: FeedElement] = [
    "title": .itunesTitle, "author": .itunesAuthor, "image": .itunesImage, "summary": .itunesSummary,
    "description": .itunesSummary, "subtitle": .itunesSubtitle, "category": .itunesCategory,
    "explicit": .itunesExplicit, "owner": .itunesOwner, "name": .itunesName, "duration": .itunesDuration,
    "season": .itunesSeason, "episode": .itunesEpisode, "episodetype": .itunesEpisodeType,
    "type": .itunesType, "new-feed-url": .itunesNewFeedURL,
    "complete": .itunesComplete,
  ]

  private static let podcastNames: [String: FeedElement] = [
    "guid": .podcastGuid, "transcript": .podcastTranscript, "chapters": .podcastChapters,
    "alternateenclosure": .podcastAlternateEnclosure, "source": .podcastSource, "season": .podcastSeason,
    "episode": .podcastEpisode,
  ]

  private static let mediaNames: [String: FeedElement] = [
    "content": .mediaContent, "group": .mediaGroup, "thumbnail": .mediaThumbnail, "title": .mediaTitle,
    "description": .mediaDescription,
  ]

  private static let dublinCoreNames: [String: FeedElement] = [
    "creator": .creator, "date": .dcDate, "created": .dcDate, "issued": .dcDate, "available": .dcDate,
    "modified": .dcModified, "title": .dcTitle, "language": .dcLanguage,
  ]
}
