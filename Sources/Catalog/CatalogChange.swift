/// What a commit has changed in the catalogue: as little as says all of it.
package enum CatalogChange: Hashable, Sendable {
  /// Searches were made or forgotten: look at the list again.
  case searches
  /// One search was made, made again or forgotten.
  case search(Int64)
  /// The results of one search.
  case results(search: Int64)
  /// One result of a search was taken away from it.
  case result(Int64, search: Int64)
  /// An episode was hidden from one result of a search.
  case hiddenInSearch(result: Int64, episode: Int64)
  /// A podcast's facts and any of its episodes.
  case podcast(Int64)
  /// A podcast's facts: title, author, names, not its episodes.
  case facts(podcast: Int64)
  /// Episodes that are new: those of the podcast with these numbers, which follow each other.
  case newEpisodes(podcast: Int64, first: Int64, last: Int64)
  /// A podcast's refresh has ended, well or not: when it was, when the next is due, its error, and how many
  /// new episodes it brought.
  case refreshed(podcast: Int64, newEpisodes: Int)
  /// What is subscribed to, or under which name: look at the list again.
  case subscriptions
  /// One subscription was made, renamed or ended.
  case subscription(Int64, podcast: Int64)
  /// One episode's marks (played, hidden) or what its feed says of it.
  case episode(Int64)
  /// A file beside an episode, or a cover, has come into the cache or left it: by its node's number.
  case sidecar(Int64)
  /// The log of changes no longer has them all: look at everything again.
  case everything
}

/// All changes of one transaction.
package struct CatalogCommit: Hashable, Sendable {
  /// One more than the commit's before, whichever process made that.
  package var number: Int64
  package var changes: [CatalogChange]

  package init(number: Int64, changes: [CatalogChange]) {
    self.number = number
    self.changes = changes
  }
}
