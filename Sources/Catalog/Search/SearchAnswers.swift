internal import FeedKit
package import PodcastModel

/// A podcast as a directory or a feed names it: not numbered, and without a name in the tree.
@dynamicMemberLookup
package struct FoundPodcast: Hashable, Sendable {
  var podcast: Podcast
  /// Its number at Apple.
  package var appleID: Int64?
  package var newest: Int64?

  package subscript<Value>(dynamicMember fact: WritableKeyPath<Podcast, Value>) -> Value {
    get { podcast[keyPath: fact] }
    set { podcast[keyPath: fact] = newValue }
  }

  init(podcast: Podcast) { self.podcast = podcast }

  init(feedURL: WebAddress, title: String) {
    podcast = Podcast()
    (podcast.feedURL, podcast.title, podcast.isListed) = (feedURL, title, true)
  }

  /// - Returns: nil where there is no address that could be a feed's.
  init?(feed: String?, title: String?) {
    guard let feed, let url = SubscriptionAddress.normalized(feed) else { return nil }
    let title = title.map(TitleText.line)
    self.init(feedURL: url, title: title.flatMap { $0.isEmpty ? nil : $0 } ?? url.host ?? "")
  }

  /// Whether its title is known, and not merely made of the host.
  var hasTitle: Bool { podcast.title != podcast.feedURL.host }

  /// Takes from `other` what is missing here: the same podcast as another source describes it.
  mutating func complete(with other: FoundPodcast) {
    if !hasTitle { podcast.title = other.title }
    podcast.author = podcast.author ?? other.author
    podcast.link = podcast.link ?? other.link
    podcast.imageURL = podcast.imageURL ?? other.imageURL
    podcast.language = podcast.language ?? other.language
    podcast.description = podcast.description ?? other.description
    if podcast.categories.isEmpty { podcast.categories = other.categories }
    podcast.explicit = podcast.explicit ?? other.explicit
    if podcast.episodeCount == 0 { podcast.episodeCount = other.episodeCount }
    newest = newest ?? other.newest
  }
}

struct SearchAnswer: Hashable, Sendable {
  var source: String
  var found: [FoundPodcast]
  /// Whether the feeds it names may be on private hosts: it is on one itself.
  var mayBePrivate = false
}

package struct MergedAnswer: Hashable, Sendable {
  /// Who answered: "apple", "index+apple", "local".
  package var source: String
  /// The best of each first. A feed that several answers name is listed once, with the facts of all.
  package var podcasts: [FoundPodcast] = []
  /// Addresses of feeds that may be on private hosts.
  var privateFeeds: Set<WebAddress> = []

  /// Whether a podcast of the answer may be on a private host: its source is on one, or the user has typed its address.
  package func mayBePrivate(_ podcast: FoundPodcast) -> Bool { privateFeeds.contains(podcast.feedURL) }

  init(_ answers: [SearchAnswer], limit: Int) {
    source = answers.map(\.source).joined(separator: "+")
    var places: [String: Int] = [:]
    for rank in 0..<(answers.map(\.found.count).max() ?? 0) {
      for answer in answers where rank < answer.found.count {
        let podcast = answer.found[rank]
        let key = FeedKey.text(podcast.feedURL)
        let place = places[key] ?? podcasts.count
        if place == podcasts.count {
          places[key] = place
          podcasts.append(podcast)
        } else {
          podcasts[place].complete(with: podcast)
        }
        if answer.mayBePrivate { privateFeeds.insert(podcasts[place].feedURL) }
      }
    }
    podcasts.removeLast(max(podcasts.count - limit, 0))
  }
}
