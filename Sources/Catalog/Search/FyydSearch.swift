internal import PodcastModel

/// fyyd (https://github.com/eazyliving/fyyd-api), a directory from Germany that needs no key.
struct FyydSearch: SearchService {
  static let usualAddress = "https://api.fyyd.de/0.2/search/podcast"

  /// The one that the user named; nil for the usual one.
  var address: String?
  let name = "fyyd"
  let callsPerMinute: Int? = 60

  var isNamedByUser: Bool { address != nil }

  func question(_ query: SearchQuery, limit: Int, country: String) -> ServiceQuestion {
    ServiceQuestion(
      url: Self.address(address ?? Self.usualAddress, [("term", query.terms), ("count", String(limit))]))
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
