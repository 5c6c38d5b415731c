internal import Configuration
internal import PodcastModel

struct PodcastEntry: Sendable {
  let id: Int64
  /// Its directory's name, unique in the catalogue.
  let name: String
  let title: String
  let cover: Sidecar?
  /// Whether its feed has been fetched: else its episodes are not known yet.
  let isFetched: Bool
  /// When a refresh is due, in seconds since 1970.
  var nextRefresh: Int64?
  /// The results of searches that show it, each with the episodes that are hidden there.
  var results: [Int64: Set<Int64>]
  /// All of them by number, hidden ones too; nil while no directory in memory lists them.
  var episodes: [ListedEpisode]?

  /// - Parameter episodes: in the order of their numbers.
  init(
    _ podcast: Podcast, results: [Int64: Set<Int64>], episodes: [ListedEpisode]?,
    _ kinds: Set<Settings.Sidecar>
  ) {
    id = podcast.id
    name = podcast.name
    title = podcast.title
    cover = kinds.contains(.cover) ? Sidecar.cover(of: podcast) : nil
    isFetched = podcast.isFetched
    nextRefresh = podcast.nextRefresh
    self.results = results
    self.episodes = episodes
  }

  func episode(_ id: Int64) -> ListedEpisode? {
    let place = place(of: id)
    guard let episodes, place < episodes.count, episodes[place].id == id else { return nil }
    return episodes[place]
  }

  /// Puts in an episode that is new or has changed, where they are in memory.
  mutating func put(_ episode: ListedEpisode) {
    guard let count = episodes?.count else { return }
    let place = place(of: episode.id)
    if place < count, episodes?[place].id == episode.id {
      episodes?[place] = episode
    } else {
      episodes?.insert(episode, at: place)
    }
  }

  private func place(of id: Int64) -> Int { episodes?.partitionPoint { $0.id < id } ?? 0 }
}

/// A podcast's directory in a search or among the subscriptions: what listings need of it.
struct Folder: Hashable, Sendable {
  /// The catalogue's number of the entry, not of the podcast.
  let id: Int64
  let name: String
  let podcast: Int64
  let hiddenCount: Int
  /// When what it lists last changed.
  let changed: FileTime?
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
