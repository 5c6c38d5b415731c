internal import Configuration
internal import PodcastModel

/// A podcast's episodes in memory, hidden ones too.
struct Shelf: Sendable {
  let podcast: Int64
  /// Whether its feed has been fetched: else the episodes are not known yet.
  let isFetched: Bool
  /// When a refresh is due, in seconds since 1970.
  var nextRefresh: Int64?
  let cover: ListedSidecar?
  /// In the order of their numbers.
  private(set) var episodes: [ListedEpisode]

  /// - Parameter episodes: in the order of their numbers, as the catalogue gives them.
  init(_ podcast: Podcast, _ episodes: [ListedEpisode], _ kinds: Set<Settings.Sidecar>) {
    self.podcast = podcast.id
    isFetched = podcast.isFetched
    nextRefresh = podcast.nextRefresh
    cover = ListedSidecar.cover(of: podcast, kinds)
    self.episodes = episodes
  }

  func episode(_ id: Int64) -> ListedEpisode? {
    let place = place(of: id)
    return place < episodes.count && episodes[place].id == id ? episodes[place] : nil
  }

  mutating func replace(_ episode: ListedEpisode) {
    let place = place(of: episode.id)
    if place < episodes.count, episodes[place].id == episode.id {
      episodes[place] = episode
    } else {
      episodes.insert(episode, at: place)
    }
  }

  private func place(of id: Int64) -> Int {
    var (low, high) = (0, episodes.count)
    while low < high {
      let middle = (low + high) / 2
      if episodes[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// An episode that a view across podcasts shows.
struct KnownEpisode: Sendable {
  let episode: ListedEpisode
  /// The podcast's directory name, unique in the catalogue.
  let podcastName: String

  init(_ entry: EpisodeEntry, _ kinds: Set<Settings.Sidecar>) {
    episode = ListedEpisode(entry.episode.summary, of: entry.podcast, kinds)
    podcastName = entry.podcast.name
  }
}
