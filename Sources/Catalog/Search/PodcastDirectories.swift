internal import Configuration
internal import PodcastModel
internal import PosixKit

/// Apple's search service, and whatever else answers in its format
/// (https://performance-partners.apple.com/search-api).
struct AppleSearch: SearchService {
  let address: String
  let isNamedByUser: Bool
  let name = "apple"

  /// - Parameter address: the one that the user named; nil for Apple's own.
  init(address: String?) {
    self.address = address ?? Settings.appleSearchURL
    isNamedByUser = address != nil
  }

  /// "Approximately 20 calls per minute", says Apple of its own.
  var callsPerMinute: Int? {
    WebAddress(address).host.map { $0 == "itunes.apple.com" || $0.hasSuffix(".itunes.apple.com") } == true
      ? 20 : nil
  }

  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion {
    var parameters = [
      ("term", query.terms), ("media", "podcast"), ("country", country), ("limit", String(limit)),
    ]
    if let language = query.language {
      parameters.append(("lang", language.replacing("-", with: "_")))
    }
    return ServiceQuestion(address, parameters)
  }

  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast] {
    guard case .array(let results)? = answer["results"] else { throw notAnAnswer }
    return results.compactMap { result in
      // An episode among the results names its podcast as collection.
      let title = result["collectionName"]?.text ?? result["trackName"]?.text
      guard var podcast = FoundPodcast(feed: result["feedUrl"]?.text, title: title) else { return nil }
      podcast.author = result["artistName"]?.text
      podcast.link = (result["collectionViewUrl"] ?? result["trackViewUrl"])?.text.map { WebAddress($0) }
      podcast.imageURL =
        ["artworkUrl600", "artworkUrl100", "artworkUrl60"]
        .lazy.compactMap { result[$0]?.text }.first.map { WebAddress($0) }
      podcast.categories = Self.genres(result)
      switch result["collectionExplicitness"]?.text {
      case "explicit": podcast.explicit = true
      case "notExplicit", "cleaned": podcast.explicit = false
      default: break
      }
      return podcast
    }
  }

  /// Names, or objects with a name in them.
  private static func genres(_ result: JSONValue) -> [String] {
    let names = (result["genres"]?.elements ?? []).compactMap { $0.text ?? $0["name"]?.text }
    return names.isEmpty ? [result["primaryGenreName"]?.text].compactMap(\.self) : names
  }
}

/// Apple's lookup of a podcast by its number, beside its search.
struct AppleLookup: SearchService {
  private let search: AppleSearch

  init(of search: AppleSearch) { self.search = search }

  var name: String { search.name }
  var callsPerMinute: Int? { search.callsPerMinute }
  var isNamedByUser: Bool { search.isNamedByUser }

  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion {
    let place = search.address.prefix { $0 != "?" && $0 != "#" }
    let rest = search.address[place.endIndex...]
    let folder = place.hasSuffix("/search") ? place.dropLast("search".count) : place + "/"
    return ServiceQuestion(
      "\(folder)lookup\(rest)",
      [("id", query.appleID.map(String.init) ?? ""), ("entity", "podcast"), ("country", country)])
  }

  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast] {
    let found = try search.decode(answer)
    guard found.isEmpty else { return found }
    guard let result = answer["results"]?.elements.first else {
      throw CatalogError(.ENOENT, "Apple has no podcast of that number")
    }
    let title = (result["collectionName"]?.text).map { "\"\(PrintableText.line($0))\"" } ?? "the podcast"
    throw CatalogError(.ENOENT, "\(title) is exclusive to Apple: it has no feed that others can read")
  }
}

/// Podcast Index (https://podcastindex-org.github.io/docs-api/), for users who have a key.
struct PodcastIndexSearch: SearchService {
  let key: String
  let secret: String
  /// The one that the user named; nil for the usual one.
  var address: String?
  let name = "podcastindex"
  let callsPerMinute: Int? = 60

  var isNamedByUser: Bool { address != nil }

  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion {
    let date = String(wallClockSeconds())
    let digest = SHA1.digest(of: Array((key + secret + date).utf8))
    return ServiceQuestion(
      address ?? "https://api.podcastindex.org/api/1.0/search/byterm",
      [("q", query.terms), ("max", String(limit))],
      headers: [
        ("X-Auth-Key", key), ("X-Auth-Date", date), ("Authorization", Hexadecimal.text(digest)),
      ])
  }

  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast] {
    guard case .array(let feeds)? = answer["feeds"] else { throw notAnAnswer }
    return feeds.compactMap { feed in
      guard var podcast = FoundPodcast(feed: feed["url"]?.text, title: feed["title"]?.text) else {
        return nil
      }
      podcast.author = feed["author"]?.text ?? feed["ownerName"]?.text
      podcast.link = feed["link"]?.text.map { WebAddress($0) }
      podcast.imageURL = (feed["artwork"]?.text ?? feed["image"]?.text).map { WebAddress($0) }
      podcast.language = feed["language"]?.text
      podcast.description = feed["description"]?.text
      if case .object(let members)? = feed["categories"] {
        podcast.categories = members.compactMap { $0.1.text }
      }
      podcast.explicit = feed["explicit"]?.flag
      return podcast
    }
  }
}

/// fyyd (https://github.com/eazyliving/fyyd-api), a directory from Germany that needs no key.
struct FyydSearch: SearchService {
  /// The one that the user named; nil for the usual one.
  var address: String?
  let name = "fyyd"
  let callsPerMinute: Int? = 60

  var isNamedByUser: Bool { address != nil }

  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion {
    ServiceQuestion(
      address ?? "https://api.fyyd.de/0.2/search/podcast", [("term", query.terms), ("count", String(limit))])
  }

  func decode(_ answer: JSONValue) throws(CatalogError) -> [FoundPodcast] {
    guard case .array(let podcasts)? = answer["data"] else { throw notAnAnswer }
    return podcasts.compactMap { entry in
      guard var podcast = FoundPodcast(feed: entry["xmlURL"]?.text, title: entry["title"]?.text) else {
        return nil
      }
      podcast.author = entry["author"]?.text
      podcast.link = entry["htmlURL"]?.text.map { WebAddress($0) }
      podcast.imageURL = (entry["imgURL"]?.text ?? entry["layoutImageURL"]?.text).map { WebAddress($0) }
      podcast.language = entry["language"]?.text
      podcast.description = entry["description"]?.text
      return podcast
    }
  }
}
