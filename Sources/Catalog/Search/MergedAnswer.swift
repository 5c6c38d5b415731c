internal import PodcastModel

/// What the services have answered to a query, as one.
package struct MergedAnswer: Hashable, Sendable {
  /// Who answered: "apple", "apple+podcastindex", "local".
  package var source: String
  /// The best of each first; a feed that several name is here once, with what each says of it.
  package var podcasts: [FoundPodcast] = []
  /// Addresses of feeds that may be on private hosts.
  var privateFeeds: Set<WebAddress> = []

  /// - Parameter limit: the most podcasts.
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
