internal import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension Catalog {
  /// The names in the cache of a podcast's enclosures, but for those that another feed names too: the same address is
  /// the same download.
  package func mediaKeys(ofPodcast id: Int64) throws(CatalogError) -> [MediaKey] {
    try store.read { try EpisodeRow.mediaKeys(ofPodcast: id, in: $0) }
  }

  /// Takes a podcast out of everything: subscriptions, results, marks, texts, the full-text index, what backups said of it.
  /// One transaction hides it and empties the index, so that the words leave the file. Then its rows are deleted; where this
  /// process dies meanwhile, another one deletes them. The index is filled again in the background.
  /// - Returns: `mediaKeys(ofPodcast:)`.
  package func forget(podcast id: Int64) throws(CatalogError) -> [MediaKey] {
    let keys = try store.change { database, changes in
      _ = try existing("podcast", PodcastRecord.load(id, in: database))
      let keys = try EpisodeRow.mediaKeys(ofPodcast: id, in: database)
      try AwaitedReport.forget(podcast: id, in: database)
      try Forgetting.hide(id, in: database, &changes)
      try FullText.reset(in: database)
      // Whoever fills the index hears of it.
      changes.append(.everything)
      return keys
    }
    try finishForgetting()
    store.emptyLog()
    texts.fill()
    return keys
  }

  package func finishForgetting() throws(CatalogError) {
    try Forgetting.finish(store)
  }

  package func usedBytes() throws(CatalogError) -> Int64 { try store.usedBytes() }

  /// Forgets what nobody follows, sees in a search, keeps, has queued or has in the cache, when it is a while ago that it was
  /// looked at, and more of it where the catalogue is larger than it may be; then gives room back to the disk.
  /// - Parameter cached: what the cache has, or is to have.
  package func forgetUnused(keeping cached: [MediaKey]) throws(CatalogError) {
    let protected = Set(try entries(forKeys: cached).values.map(\.podcast.id))
    try Upkeep(store: store, limit: settings.catalogueSize, protected: protected, now: store.now).run()
  }
}

/// Keeps the catalogue as large as what is followed, not as what was ever seen. Once a day, by a process that
/// refreshes.
struct Upkeep: Sendable {
  let store: CatalogStore
  /// Bytes that the catalogue may have: `catalogue_size`.
  let limit: Int64
  /// Podcasts of which something is in the cache, or on its way.
  let protected: Set<Int64>
  let now: Int64

  static let period: Int64 = 24 * 3600
  /// Seconds since a podcast was looked at, after which it goes.
  private static let patience: Int64 = 30 * 24 * 3600
  /// A podcast that was looked at a moment ago stays, however large the catalogue is.
  private static let leastPatience: Int64 = 3600

  private static let isShownNowhere = """
    NOT EXISTS (SELECT 1 FROM result r
      WHERE r.podcast_id = p.id AND r.state <> \(ResultState.gone.rawValue))
    """

  func run() throws(CatalogError) {
    try store.write(.refresh) { try $0.run("UPDATE counter SET upkeep = ?", now) }
    try Forgetting.finish(store)
    for podcast in try unused(for: Self.patience, Self.isShownNowhere) { try forget(podcast) }
    try shrink()
  }

  /// Where the catalogue is larger than it may be: what no search shows goes at once, then the episodes of what
  /// searches show, which come again when somebody looks.
  private func shrink() throws(CatalogError) {
    for isWhole in [true, false] {
      let condition = isWhole ? Self.isShownNowhere : "p.episode_count > 0"
      for podcast in try unused(for: Self.leastPatience, condition) {
        if try store.usedBytes() <= limit { return }
        if isWhole { try forget(podcast) } else { try empty(podcast) }
      }
    }
  }

  /// Makes a podcast as if it had never been fetched.
  private func empty(_ podcast: Int64) throws(CatalogError) {
    try Forgetting.deleteEpisodes(of: podcast, store)
    try store.change(.refresh) { database, changes in
      try FeedRecord.change(podcast, in: database) { ($0.lastRefresh, $0.nextRefresh) = (nil, nil) }
      try database.run("UPDATE podcast SET indexed_upto = next_episode - 1 WHERE id = ?", podcast)
      changes.append(.podcast(podcast))
    }
  }

  /// Podcasts that nobody follows, keeps, or has looked at for so many seconds, those longest unused first.
  private func unused(for seconds: Int64, _ condition: String) throws(CatalogError) -> [Int64] {
    try store.read {
      try $0.all(
        """
        SELECT p.id FROM shown p WHERE p.is_followed = 0 AND coalesce(p.last_refresh, p.created) < ?
          AND p.id NOT IN (SELECT episode_id >> \(EpisodeID.bits) FROM queue)
          AND \(condition) ORDER BY coalesce(p.last_refresh, p.created)
        """, now - seconds
      ) { $0.int64(0) }
    }.filter { !protected.contains($0) }
  }

  private func forget(_ podcast: Int64) throws(CatalogError) {
    try store.change(.refresh) { database, changes in
      // Somebody may have subscribed to it a moment ago.
      guard
        try database.exists(
          "SELECT 1 FROM podcast WHERE id = ? AND is_followed = 0 AND is_forgotten = 0", podcast)
      else { return }
      try Forgetting.hide(podcast, in: database, &changes)
    }
    try Forgetting.finish(store)
  }
}

/// How a podcast's rows go: first it is hidden from everybody, then deleted in pieces that no verb waits for long.
enum Forgetting {
  /// Episodes of one transaction: to make their texts as the index has them takes some tens of milliseconds.
  private static let piece = 100

  /// From here on nothing shows it, and its address and name are free.
  static func hide(_ podcast: Int64, in database: Database, _ changes: inout [CatalogChange]) throws {
    let subscription = try database.number("SELECT id FROM subscription WHERE podcast_id = ?", podcast)
    let searches = try database.numbers("SELECT search_id FROM result WHERE podcast_id = ?", podcast)
    try FullText.removePodcast(podcast, in: database)
    try database.run(
      "DELETE FROM queue WHERE episode_id BETWEEN ? AND ?", EpisodeID.first(ofPodcast: podcast),
      EpisodeID.last(ofPodcast: podcast))
    if database.changedRows > 0 { changes.append(.queue) }
    for table in ["subscription", "former_address", "result", "feed"] {
      try database.run("DELETE FROM \(table) WHERE podcast_id = ?", podcast)
    }
    try database.run(
      """
      UPDATE podcast SET is_forgotten = 1, title = '', name = '', name_key = 'forgotten ' || id, author = NULL,
        link = NULL, description = NULL, image_url = NULL, categories = NULL, guid = NULL
      WHERE id = ?
      """, podcast)
    if let subscription {
      changes.append(.subscription(subscription, podcast: podcast))
      try Folder.touchSubscriptions(in: database)
    }
    for search in searches {
      try SearchRows.changed(search, in: database)
      changes += [.results(search: search), .search(search)]
    }
    changes.append(.podcast(podcast))
  }

  static func finish(_ store: CatalogStore) throws(CatalogError) {
    while let podcast = try next(store) {
      try deleteEpisodes(of: podcast, store)
      try store.write(.refresh) { database in
        try database.run("DELETE FROM podcast WHERE id = ? AND is_forgotten = 1", podcast)
      }
    }
  }

  private static func next(_ store: CatalogStore) throws(CatalogError) -> Int64? {
    try store.read {
      try $0.number("SELECT id FROM podcast INDEXED BY podcast_forgotten WHERE is_forgotten = 1 LIMIT 1")
    }
  }

  static func deleteEpisodes(of podcast: Int64, _ store: CatalogStore) throws(CatalogError) {
    var isDone = false
    while !isDone {
      isDone = try store.write(.refresh, waitsForDisk: false) { database in
        let ids = try database.numbers(
          "SELECT id FROM episode WHERE id BETWEEN ? AND ? LIMIT ?", EpisodeID.first(ofPodcast: podcast),
          EpisodeID.last(ofPodcast: podcast), piece)
        let indexed = try EpisodeNumbers(podcast: podcast, in: database)?.indexed ?? 0
        for id in ids {
          if id <= EpisodeID.first(ofPodcast: podcast) + indexed,
            let texts = try EpisodeTexts(id, in: database)
          {
            try FullText.removeEpisode(id, IndexedText(texts), in: database)
          }
          try PersonRows.remove(id, in: database)
          try database.run("DELETE FROM episode WHERE id = ?", id)
        }
        try database.run(
          """
          UPDATE podcast SET revision = revision + 1, episode_count = episode_count - ?, newest = NULL
          WHERE id = ?
          """, ids.count, podcast)
        // They come again when somebody looks.
        try FeedRecord.change(podcast, in: database) { $0.forgetAnswer() }
        return ids.count < piece
      }
    }
  }
}
