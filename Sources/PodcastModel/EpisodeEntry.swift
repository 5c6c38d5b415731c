/// An episode together with the podcast it belongs to: what the views across podcasts list.
package struct EpisodeEntry: Hashable, Sendable {
  package var episode: Episode
  package var podcast: Podcast

  package init(episode: Episode, podcast: Podcast) {
    (self.episode, self.podcast) = (episode, podcast)
  }

  /// Where the enclosure is asked for.
  package var enclosureAddress: WebAddress {
    FeedCredentials.lent(by: podcast.feedURL, to: episode.enclosureURL)
  }
}
