internal import Configuration
internal import PodcastModel

/// Apple's search service, and whatever else answers in its format
/// (https://performance-partners.apple.com/search-api).
struct AppleSearch: SearchService {
  static let usualAddress = Settings.appleSearchURL

  let address: String
  let isNamedByUser: Bool
  let name = "apple"

  /// - Parameter address: the one that the user named; nil for Apple's own.
  init(address: String?) {
    self.address = address ?? Self.usualAddress
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
    return ServiceQuestion(url: Self.address(address, parameters))
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
