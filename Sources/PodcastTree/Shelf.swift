internal import PodcastModel

/// A podcast and its episodes in memory, as its directories list them. Immutable: a change makes a new one.
final class Shelf: Sendable {
  let podcast: Podcast
  /// In the order of their names.
  let episodes: [Episode]
  private let byName: [String: Int]
  private let byID: [Int64: Int]

  init(podcast: Podcast, episodes: [Episode]) {
    self.podcast = podcast
    self.episodes = episodes.sorted { $0.stem < $1.stem }
    byName = Dictionary(
      self.episodes.enumerated().map { ($1.fileName, $0) }, uniquingKeysWith: { first, _ in first })
    byID = Dictionary(uniqueKeysWithValues: self.episodes.enumerated().map { ($1.id, $0) })
  }

  func episode(named name: String) -> Episode? { byName[name].map { episodes[$0] } }

  func episode(_ id: Int64) -> Episode? { byID[id].map { episodes[$0] } }

  func entry(_ episode: Episode) -> EpisodeEntry { EpisodeEntry(episode: episode, podcast: podcast) }
}

/// Where a podcast is shown by searches: what st_nlink counts.
struct Appearances: Sendable {
  /// By result: the episodes that are hidden there.
  var hidden: [Int64: Set<Int64>] = [:]
}
