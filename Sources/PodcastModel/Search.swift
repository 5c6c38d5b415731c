/// A search that the user has made: a directory under `Search/`.
package struct Search: Hashable, Sendable, Identifiable {
  /// The catalogue's number for it; a directory that is made again gets a new one.
  package var id: Int64
  /// The directory's name: the query as the user wrote it.
  package var name: String
  package var resultCount: Int
  /// Which service answered: "apple", "local", …
  package var source: String
  /// When it was made, in seconds since 1970.
  package var searched: Int64
  /// When what its directory lists last changed, in nanoseconds since 1970.
  package var changed: Int64 = 0

  package init(id: Int64, name: String, resultCount: Int, source: String, searched: Int64) {
    (self.id, self.name, self.resultCount, self.source) = (id, name, resultCount, source)
    self.searched = searched
  }
}

/// A podcast under a name in a directory: a search's result or a subscription.
package struct ListedPodcast: Hashable, Sendable, Identifiable {
  /// The catalogue's number of this entry, not of the podcast; never given to another entry.
  package var id: Int64
  /// The directory's name there, unique without regard to case.
  package var name: String
  package var podcast: Podcast
  /// How many of its episodes are hidden (subscriptions).
  package var hiddenCount: Int = 0
  /// When what its directory lists last changed, in nanoseconds since 1970.
  package var changed: Int64 = 0
  /// The date of its newest episode that is not hidden, in seconds since 1970; 0 where there is none.
  package var newest: Int64 = 0

  package init(id: Int64, name: String, podcast: Podcast) {
    (self.id, self.name, self.podcast) = (id, name, podcast)
  }
}
