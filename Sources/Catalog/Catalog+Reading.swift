internal import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

// What is known. Each call costs one query on the calling thread, on a connection of its own, so that it
// waits neither for the network nor for a refresh that is being written.
extension Catalog {
  /// By name.
  package func searches() throws(CatalogError) -> [Search] {
    try store.read { database in
      try database.all("\(SearchRows.columns) GROUP BY s.id ORDER BY s.name", as: SearchRows.read)
    }
  }

  package func search(_ id: Int64) throws(CatalogError) -> Search? {
    try store.read { try SearchRows.search(id, in: $0) }
  }

  /// The results that are shown, the best first; `id` is the result's.
  package func results(ofSearch id: Int64) throws(CatalogError) -> [ListedPodcast] {
    try store.read { database in
      try database.all(
        """
        \(ListedRow.results) WHERE r.search_id = ? AND r.state = ? ORDER BY r.position
        """, id, ResultState.shown.rawValue, as: ListedRow.read)
    }
  }

  /// One result that is shown.
  package func result(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { database in
      try database.first(
        "\(ListedRow.results) WHERE r.id = ? AND r.state = ?", id, ResultState.shown.rawValue,
        as: ListedRow.read)
    }
  }

  /// The results, over all searches, that show a podcast.
  package func results(showing podcast: Int64) throws(CatalogError) -> [Int64] {
    try store.read { database in
      try database.all(
        "SELECT id FROM result WHERE podcast_id = ? AND state = ? ORDER BY id", podcast,
        ResultState.shown.rawValue
      ) { $0.int64(0) }
    }
  }

  /// By name; `id` is the subscription's.
  package func subscriptions() throws(CatalogError) -> [ListedPodcast] {
    try store.read { database in
      try database.all("\(ListedRow.subscriptions) ORDER BY s.name_key", as: ListedRow.read)
    }
  }

  package func subscription(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { database in
      try database.first("\(ListedRow.subscriptions) WHERE s.id = ?", id, as: ListedRow.read)
    }
  }

  package func podcast(_ id: Int64) throws(CatalogError) -> Podcast? {
    try store.read { try PodcastRow.podcast(id, in: $0) }
  }

  /// Those of these podcasts that are known, in no order.
  package func podcasts(_ ids: [Int64]) throws(CatalogError) -> [Podcast] {
    try store.read { database in
      try database.all(
        "SELECT \(PodcastRow.columns) FROM podcast p WHERE p.id IN (SELECT value FROM json_each(?))",
        Self.list(ids)
      ) { PodcastRow.read($0) }
    }
  }

  /// Those of these episodes that are known, by number, without their notes.
  package func episodes(_ ids: [Int64]) throws(CatalogError) -> [Episode] {
    try store.read { database in
      try database.all(
        """
        SELECT \(EpisodeRow.columns) FROM episode e WHERE e.id IN (SELECT value FROM json_each(?))
        ORDER BY e.id
        """, Self.list(ids)
      ) { EpisodeRow.read($0) }
    }
  }

  private static func list(_ ids: [Int64]) -> String {
    "[" + ids.map { String($0) }.joined(separator: ",") + "]"
  }

  /// When the lists of searches and subscriptions last changed.
  package func folderTimes() throws(CatalogError) -> FolderTimes {
    try store.read { database in
      let times = Dictionary(
        try database.all("SELECT name, changed FROM folder") { ($0.string(0), $0.int64(1)) },
        uniquingKeysWith: { first, _ in first })
      var folders = FolderTimes()
      folders.searches = times[Folder.searches.rawValue] ?? 0
      folders.subscriptions = times[Folder.subscriptions.rawValue] ?? 0
      folders.subscriptionList = times[Folder.list.rawValue] ?? 0
      return folders
    }
  }

  /// All episodes, also hidden ones, in the order in which they were first seen, without their notes.
  package func episodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode] {
    try store.read { database in
      try database.all(
        "SELECT \(EpisodeRow.columns) FROM episode e WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
        EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
      ) { EpisodeRow.read($0) }
    }
  }

  /// The episodes of a podcast that are to be here before anybody opens them, by what the configuration file
  /// says of its feed (`keep`), the newest first; nil where it says nothing.
  package func keptEpisodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode]? {
    guard let podcast = try podcast(id), let keep = feeds.feedSettings(podcast.feedURL)?.keep else {
      return nil
    }
    let (since, limit): (Int64, Int) =
      switch keep {
      case .newest(let count): (.min, count)
      case .days(let days): (wallClockSeconds() - Int64(days) * 86_400, .max)
      }
    return try store.read { database in
      try database.all(
        """
        SELECT \(EpisodeRow.columns) FROM episode e INDEXED BY episode_newest
        WHERE e.podcast_id = ? AND e.hidden = 0 AND e.published > ? ORDER BY e.published DESC LIMIT ?
        """, id, since, limit
      ) { EpisodeRow.read($0) }
    }
  }

  /// One episode, with its notes.
  package func episode(_ id: Int64) throws(CatalogError) -> Episode? {
    try store.read { database in
      try database.first(
        """
        SELECT \(EpisodeRow.columns), n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
        WHERE e.id = ?
        """, id
      ) { row in
        var episode = EpisodeRow.read(row)
        episode.notes = row.stringIfPresent(EpisodeRow.count)
        return episode
      }
    }
  }

  /// The episodes that `rm` has hidden from one result of a search.
  package func hiddenEpisodes(ofSearchResult id: Int64) throws(CatalogError) -> Set<Int64> {
    try store.read { database in
      Set(
        try database.all("SELECT episode_id FROM hidden_in_search WHERE result_id = ?", id) { $0.int64(0) })
    }
  }

  /// For each key that is known the episode whose enclosure it names; where several share it, one of a
  /// subscription, else the one first seen. Without notes.
  package func entries(forKeys keys: [MediaKey]) throws(CatalogError) -> [MediaKey: EpisodeEntry] {
    try store.read { database in
      var found: [MediaKey: EpisodeEntry] = [:]
      var rest = keys[...]
      while !rest.isEmpty {
        let part = rest.prefix(500)
        rest = rest.dropFirst(500)
        // The number of placeholders is the same each time, so that the statement is prepared once.
        let padding = [any Bindable](repeating: DatabaseValue.null, count: 500 - part.count)
        let marks = Array(repeating: "?", count: 500).joined(separator: ",")
        let entries = try database.all(
          """
          SELECT \(EpisodeRow.columns), \(PodcastRow.columns)
          FROM episode e JOIN podcast p ON p.id = e.podcast_id
            LEFT JOIN subscription s ON s.podcast_id = p.id
          WHERE e.media_key IN (\(marks)) ORDER BY s.id IS NULL, e.id
          """, values: part.map(EpisodeRow.blob) + padding, as: Self.entry)
        for entry in entries where found[entry.episode.mediaKey] == nil {
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
      let subscribed = try database.all(
        """
        SELECT \(PodcastRow.columns), p.newest FROM podcast p INDEXED BY podcast_newest
        WHERE p.is_followed = 1 AND p.newest IS NOT NULL ORDER BY p.newest DESC LIMIT ?
        """, limit
      ) { (PodcastRow.read($0), $0.int64(PodcastRow.count)) }
      var latest: [EpisodeEntry] = []
      var oldest = Int64.min
      // From the podcast with the newest episode on: the rest is not looked at once they are all too old.
      for (podcast, newest) in subscribed where latest.count < limit || newest > oldest {
        latest += try database.all(
          """
          SELECT \(EpisodeRow.columns) FROM episode e INDEXED BY episode_newest
          WHERE e.podcast_id = ? AND e.hidden = 0 AND e.published > ? ORDER BY e.published DESC LIMIT ?
          """, podcast.id, oldest, limit
        ) { EpisodeEntry(episode: EpisodeRow.read($0), podcast: podcast) }
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

  private static func entry(_ row: borrowing Row) -> EpisodeEntry {
    EpisodeEntry(
      episode: EpisodeRow.read(row), podcast: PodcastRow.read(row, from: EpisodeRow.count))
  }
}
