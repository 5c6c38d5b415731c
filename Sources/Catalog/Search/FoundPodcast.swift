internal import FeedKit
package import PodcastModel

/// A podcast as a search service describes it.
package struct FoundPodcast: Hashable, Sendable {
  /// http or https, with a host. May hold credentials or tokens where the catalogue itself is the service.
  package var feedURL: String
  package var title: String
  package var author: String?
  package var link: String?
  package var imageURL: String?
  package var language: String?
  package var description: String?
  package var categories: [String] = []
  package var explicit: Bool?

  init(feedURL: String, title: String) {
    self.feedURL = feedURL
    self.title = title
  }

  /// - Returns: nil where there is no address that could be a feed's.
  init?(feed: String?, title: String?) {
    guard let feed, let url = SubscriptionAddress.normalized(feed) else { return nil }
    let title = title.map { TitleText.plain($0).split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    self.init(feedURL: url, title: title.flatMap { $0.isEmpty ? nil : $0 } ?? PublicURL.host(url) ?? "")
  }

  /// Takes from `other` what is missing here: the same podcast as another service describes it.
  mutating func complete(with other: FoundPodcast) {
    author = author ?? other.author
    link = link ?? other.link
    imageURL = imageURL ?? other.imageURL
    language = language ?? other.language
    description = description ?? other.description
    if categories.isEmpty { categories = other.categories }
    explicit = explicit ?? other.explicit
  }
}

// As the catalogue keeps answers.
extension FoundPodcast {
  package var json: JSONValue {
    .object([
      ("feed", .string(feedURL)), ("title", .string(title)), ("author", .optional(author)),
      ("link", .optional(link)), ("image", .optional(imageURL)), ("language", .optional(language)),
      ("description", .optional(description)), ("categories", .strings(categories)),
      ("explicit", .optional(explicit)),
    ])
  }

  /// - Returns: nil for anything that `json` never gives.
  package init?(json: JSONValue) {
    guard case .string(let url)? = json["feed"], case .string(let title)? = json["title"] else { return nil }
    self.init(feedURL: url, title: title)
    author = json["author"]?.text
    link = json["link"]?.text
    imageURL = json["image"]?.text
    language = json["language"]?.text
    description = json["description"]?.text
    categories = json["categories"]?.elements.compactMap(\.text) ?? []
    explicit = json["explicit"]?.flag
  }
}
