/// A search that the user has made: a directory under `Search/`.
package struct Search: Hashable, Sendable, Identifiable {
  /// The catalogue's number for it; a directory that is made again gets a new one.
  package var id: Int64 = 0
  /// The directory's name: the query as the user wrote it.
  package var name = ""
  package var resultCount = 0
  /// Which service answered: "apple", "local", …
  package var source = ""
  /// When it was made, in seconds since 1970.
  package var searched: Int64 = 0
  /// When what its directory lists last changed, in nanoseconds since 1970.
  package var changed: Int64 = 0

  package init() {}
}

/// A podcast under a name in a directory: a search's result or a subscription.
package struct ListedPodcast: Hashable, Sendable, Identifiable {
  /// The catalogue's number of this entry, not of the podcast; never given to another entry.
  package var id: Int64 = 0
  /// The directory's name there, unique without regard to case.
  package var name = ""
  package var podcast = Podcast()
  /// How many of its episodes are hidden (subscriptions).
  package var hiddenCount: Int = 0
  /// When what its directory lists last changed, in nanoseconds since 1970.
  package var changed: Int64 = 0
  /// The date of its newest episode that is not hidden, in seconds since 1970; 0 where there is none.
  package var newest: Int64 = 0

  package init() {}
}
