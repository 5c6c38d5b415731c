/// What another process, or this one, has changed in the catalogue.
package enum CatalogChange: Hashable, Sendable {
  /// Searches were made or forgotten.
  case searches
  /// The results of one search.
  case results(search: Int64)
  /// A podcast's episodes or facts.
  case podcast(Int64)
  /// A podcast's refresh has ended, well or not: when it was, when the next is due, its error, and how many
  /// new episodes it brought. Follows `podcast` where more has changed.
  case refreshed(podcast: Int64, newEpisodes: Int)
  /// What is subscribed to, or under which name.
  case subscriptions
  /// An episode's marks: played, hidden.
  case episode(Int64)
  /// Messages were lost: look at all again.
  case everything
}
