internal import Configuration
package import PodcastModel
internal import PosixKit

// What is known. Each call costs one query on the calling thread, on a connection of its own, so that it
// waits neither for the network nor for a refresh that is being written.
extension Catalog {
  /// By name.
  package func searches() throws(CatalogError) -> [Search] {
    try store.read { try SearchRows.searches(in: $0) }
  }

  package func search(_ id: Int64) throws(CatalogError) -> Search? {
    try store.read { try SearchRows.search(id, in: $0) }
  }

  /// The results that are shown, the best first; `id` is the result's.
  package func results(ofSearch id: Int64) throws(CatalogError) -> [ListedPodcast] {
    try store.read { try ListedRow.results(ofSearch: id, in: $0) }
  }

  /// One result that is shown.
  package func result(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { try ListedRow.result(id, in: $0) }
  }

  /// The results, over all searches, that show a podcast.
  package func results(showing podcast: Int64) throws(CatalogError) -> [Int64] {
    try store.read { try SearchRows.results(showing: podcast, in: $0) }
  }

  /// By name; `id` is the subscription's.
  package func subscriptions() throws(CatalogError) -> [ListedPodcast] {
    try store.read { try ListedRow.subscriptions(in: $0) }
  }

  package func subscription(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { try ListedRow.subscription(id, in: $0) }
  }

  package func podcast(_ id: Int64) throws(CatalogError) -> Podcast? {
    try store.read { try PodcastRow.podcast(id, in: $0) }
  }

  /// Those of these podcasts that are known, in no order.
  package func podcasts(_ ids: [Int64]) throws(CatalogError) -> [Podcast] {
    try store.read { try PodcastRow.podcasts(ids, in: $0) }
  }

  /// Those of these episodes that are known, by number, without their notes.
  package func episodes(_ ids: [Int64]) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.episodes(ids, in: $0) }
  }

  /// When the lists of searches and subscriptions last changed.
  package func folderTimes() throws(CatalogError) -> FolderTimes {
    try store.read { try Folder.times(in: $0) }
  }

  /// All episodes, also hidden ones, in the order in which they were first seen, without their notes.
  package func episodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.episodes(ofPodcast: id, in: $0) }
  }

  /// What `make` makes of what directories show of each of them: a large podcast's are never in memory together.
  package func summaries<Made: Sendable>(
    ofPodcast id: Int64, as make: (EpisodeSummary) -> Made
  ) throws(CatalogError) -> [Made] {
    try store.read { try EpisodeRow.summaries(ofPodcast: id, in: $0, as: make) }
  }

  /// The episodes of a podcast that are to be here before anybody opens them, by what the configuration file
  /// says of its feed (`keep`), the newest first; nil where it says nothing.
  package func keptEpisodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode]? {
    guard let state = try store.read({ try FeedState(podcast: id, in: $0) }),
      let keep = feeds.fetcher.settings(state.keys)?.keep
    else { return nil }
    let (since, limit): (Int64, Int) =
      switch keep {
      case .newest(let count): (.min, count)
      case .days(let days): (wallClockSeconds() - Int64(days) * 86_400, .max)
      }
    return try store.read { try EpisodeRow.newest(ofPodcast: id, after: since, limit: limit, in: $0) }
  }

  /// One episode, with its notes.
  package func episode(_ id: Int64) throws(CatalogError) -> Episode? {
    try store.read { try EpisodeRow.episode(id, in: $0) }
  }

  /// Some episodes of one podcast from a number on, by number, with their notes.
  package func episodes(from id: Int64, count: Int) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.episodes(from: id, count: count, in: $0) }
  }

  /// The episodes that `rm` has hidden from one result of a search.
  package func hiddenEpisodes(ofSearchResult id: Int64) throws(CatalogError) -> Set<Int64> {
    try store.read { try SearchRows.hiddenEpisodes(ofResult: id, in: $0) }
  }

  /// For each key that is known the episode whose enclosure it names; where several share it, one of a
  /// subscription, else the one first seen. Without notes.
  package func entries(forKeys keys: [MediaKey]) throws(CatalogError) -> [MediaKey: EpisodeEntry] {
    try store.read { database in
      var found: [MediaKey: EpisodeEntry] = [:]
      var rest = keys[...]
      while !rest.isEmpty {
        let part = rest.prefix(EpisodeRow.keysAtOnce)
        rest = rest.dropFirst(part.count)
        for entry in try EpisodeRow.entries(forKeys: part, in: database)
        where found[entry.episode.mediaKey] == nil {
          found[entry.episode.mediaKey] = entry
        }
      }
      return found
    }
  }

  /// The newest episodes of all subscriptions that are not hidden, the newest first, without notes.
  package func latest(limit: Int) throws(CatalogError) -> [EpisodeEntry] {
    try store.read { database in
      // The newest episodes are among those of as many podcasts as have the newest one.
      let subscribed = try PodcastRow.newest(limit: limit, in: database)
      var latest: [EpisodeEntry] = []
      var oldest = Int64.min
      // From the podcast with the newest episode on: the rest is not looked at once they are all too old.
      for (podcast, newest) in subscribed where latest.count < limit || newest > oldest {
        latest += try EpisodeRow.newest(ofPodcast: podcast.id, after: oldest, limit: limit, in: database)
          .map { EpisodeEntry(episode: $0, podcast: podcast) }
        guard latest.count >= limit else { continue }
        latest.sort { Self.isNewer($0.episode, $1.episode) }
        latest.removeLast(latest.count - limit)
        oldest = latest.last?.episode.published ?? .min
      }
      return latest.sorted { Self.isNewer($0.episode, $1.episode) }
    }
  }

  private static func isNewer(_ a: Episode, _ b: Episode) -> Bool {
    (a.published, a.id) > (b.published, b.id)
  }
}
