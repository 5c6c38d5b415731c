internal import PodcastModel

/// A podcast's directory in a search or among the subscriptions: what listings need of it.
struct Folder: Hashable, Sendable {
  /// The catalogue's number of the entry, not of the podcast.
  let id: Int64
  let name: String
  let podcast: Int64
  /// Of the episodes, how many are hidden (subscriptions).
  let hiddenCount: Int
  /// When what it lists last changed.
  let changed: FileTime?
  /// The date of its newest episode.
  let newest: FileTime?

  init(_ listed: ListedPodcast) {
    id = listed.id
    name = listed.name
    podcast = listed.podcast.id
    hiddenCount = listed.hiddenCount
    changed = listed.changed > 0 ? FileTime(sinceEpoch: listed.changed) : nil
    newest = listed.newest > 0 ? FileTime(listed.newest) : nil
  }
}
