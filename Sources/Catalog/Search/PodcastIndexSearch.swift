internal import PodcastModel
internal import PosixKit

/// Podcast Index (https://podcastindex-org.github.io/docs-api/), for users who have a key.
struct PodcastIndexSearch: SearchService {
  static let usualAddress = "https://api.podcastindex.org/api/1.0/search/byterm"

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
      url: Self.address(address ?? Self.usualAddress, [("q", query.terms), ("max", String(limit))]),
      headers: [
        ("X-Auth-Key", key), ("X-Auth-Date", date),
        ("Authorization", Hexadecimal.text(digest)),
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
