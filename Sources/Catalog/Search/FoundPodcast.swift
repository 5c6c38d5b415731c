internal import FeedKit
package import PodcastModel

/// A podcast as a search service describes it.
package struct FoundPodcast: Hashable, Sendable {
  /// http or https, with a host.
  package var feedURL: WebAddress
  package var title: String
  package var author: String?
  package var link: WebAddress?
  package var imageURL: WebAddress?
  package var language: String?
  package var description: String?
  package var categories: [String] = []
  package var explicit: Bool?
  /// Whether a public directory named it: its addresses are shown whole.
  package var isListed = true

  init(feedURL: WebAddress, title: String) {
    self.feedURL = feedURL
    self.title = title
  }

  /// - Returns: nil where there is no address that could be a feed's.
  init?(feed: String?, title: String?) {
    guard let feed, let url = SubscriptionAddress.normalized(feed) else { return nil }
    let title = title.map(TitleText.line)
    self.init(feedURL: url, title: title.flatMap { $0.isEmpty ? nil : $0 } ?? url.host ?? "")
  }

  /// Whether its title is known, and not merely made of the host.
  var hasTitle: Bool { title != feedURL.host }

  /// Takes from `other` what is missing here: the same podcast as another service describes it.
  mutating func complete(with other: FoundPodcast) {
    if !hasTitle { title = other.title }
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
      ("feed", .string(feedURL.forRequest)), ("title", .string(title)), ("author", .optional(author)),
      ("link", .optional(link?.forRequest)), ("image", .optional(imageURL?.forRequest)),
      ("language", .optional(language)),
      ("description", .optional(description)), ("categories", .strings(categories)),
      ("explicit", .optional(explicit)),
    ])
  }

  /// - Returns: nil for anything that `json` never gives.
  package init?(json: JSONValue) {
    guard case .string(let url)? = json["feed"], case .string(let title)? = json["title"] else { return nil }
    self.init(feedURL: WebAddress(url), title: title)
    author = json["author"]?.text
    link = json["link"]?.text.map { WebAddress($0) }
    imageURL = json["image"]?.text.map { WebAddress($0) }
    language = json["language"]?.text
    description = json["description"]?.text
    categories = json["categories"]?.elements.compactMap(\.text) ?? []
    explicit = json["explicit"]?.flag
  }
}
