internal import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension Catalog {
  /// The names in the cache of a podcast's enclosures, but for those that another feed names too: the same address is
  /// the same download.
  package func mediaKeys(ofPodcast id: Int64) throws(CatalogError) -> [MediaKey] {
    try store.read { try EpisodeRows.mediaKeys(ofPodcast: id, in: $0) }
  }

  /// Takes a podcast out of everything: subscriptions, results, marks, texts, the full-text index, what backups said of it.
  /// One transaction hides it and empties the index, so that the words leave the file. Then its rows are deleted; where this
  /// process dies meanwhile, another one deletes them. The index is filled again behind, in a process that lives long.
  /// - Returns: `mediaKeys(ofPodcast:)`.
  package func forget(podcast id: Int64) throws(CatalogError) -> [MediaKey] {
    let keys = try store.change { database, changes in
      _ = try existing("podcast", PodcastRecord.load(id, in: database))
      let keys = try EpisodeRows.mediaKeys(ofPodcast: id, in: database)
      try AwaitedReport.forget(podcast: id, in: database)
      try Forgetting.hide(id, in: database, &changes)
      try FullText.makeAnew(in: database)
      // Whoever fills the index hears of it.
      changes.append(.everything)
      return keys
    }
    try finishForgetting()
    store.emptyLog()
    texts.refill()
    return keys
  }

  package func finishForgetting() throws(CatalogError) { try Forgetting.finish(store) }
  package func usedBytes() throws(CatalogError) -> Int64 { try store.read { try $0.usedBytes() } }
}

// Keeps the catalogue as large as what is followed, not as what was ever seen.
extension Catalog {
  private static let day: Int64 = 24 * 3600
  /// Seconds until the next look where the catalogue stays larger than it may be.
  private static let soon: Int64 = 600
  /// Seconds. A podcast that nobody holds is forgotten when its feed was not asked for in that time.
  private static let patience: Int64 = 30 * 24 * 3600
  /// A podcast whose feed was asked for a moment ago stays, however large the catalogue is.
  private static let leastPatience: Int64 = 3600
  /// Steps in which podcasts are forgotten: after each the index is merged and the size is judged again.
  private static let steps = 32
  private static let isShownNowhere = """
    NOT EXISTS (SELECT 1 FROM result r
      WHERE r.podcast_id = p.id AND r.state <> \(ResultState.gone.rawValue))
    """

  /// Once a day, for all processes together; at once where the catalogue has grown beyond what it may have, and soon again
  /// where it still is larger.
  /// - Returns: the seconds until it is due again.
  func lookAfter(cached: @escaping @Sendable () -> [MediaKey]) -> Double {
    let state = try? store.read {
      (bytes: try $0.usedBytes(), last: try $0.number("SELECT upkeep FROM counter") ?? 0)
    }
    guard let (bytes, last) = state else { return Double(Self.day) }
    let period = bytes > settings.catalogueSize ? Self.soon : Self.day
    // A clock that was set back must not keep it for ever.
    let rest = (0...store.now).contains(last) ? max(last + period - store.now, 0) : 0
    let isDue = bytesLookedAt.withLock { known in
      guard known != .max, rest == 0 || bytes > max(known, settings.catalogueSize) else { return false }
      known = .max
      return true
    }
    if isDue {
      feeds.background.async { [self] in
        try? forgetUnused(keeping: cached())
        bytesLookedAt.withLock { $0 = (try? usedBytes()) ?? 0 }
      }
    }
    return Double(rest == 0 ? period : rest)
  }

  /// Forgets podcasts whose feed was not asked for lately. Those that are followed, kept, queued, cached or shown by a
  /// search stay. Where the catalogue is too large, it forgets more: first podcasts that no search shows, then the
  /// episodes of those that a search shows. Such episodes come again when somebody looks. It stops at the limit.
  /// - Parameter cached: what the cache has, or is to have.
  package func forgetUnused(keeping cached: [MediaKey]) throws(CatalogError) {
    let held = Set(try entries(forKeys: cached).values.map(\.podcast.id))
    try store.write(.refresh) { try $0.run("UPDATE counter SET upkeep = ?", store.now) }
    try finishForgetting()
    for podcast in try unused(for: Self.patience, Self.isShownNowhere, held) { try forgetUnused(podcast) }
    if try !isTooLarge() { return }
    let hidden = try unused(for: Self.leastPatience, Self.isShownNowhere, held)
    let shown = try unused(
      for: Self.leastPatience, "p.episode_count > 0 AND NOT \(Self.isShownNowhere)", held)
    var rest = (hidden.map { ($0, isWhole: true) } + shown.map { ($0, isWhole: false) })[...]
    if rest.isEmpty { return }
    let step = max(rest.count / Self.steps, 1)
    // The index keeps what was taken out of it until it is merged.
    try FullText.merge(store)
    while !rest.isEmpty, try isTooLarge() {
      for (podcast, isWhole) in rest.prefix(step) {
        if isWhole { try forgetUnused(podcast) } else { try empty(podcast) }
      }
      rest = rest.dropFirst(step)
      try FullText.merge(store)
    }
  }

  private func isTooLarge() throws(CatalogError) -> Bool { try usedBytes() > settings.catalogueSize }

  /// Podcasts that nobody follows or keeps, and whose feeds were not asked for so many seconds, the longest first.
  private func unused(
    for seconds: Int64, _ condition: String, _ held: Set<Int64>
  ) throws(CatalogError) -> [Int64] {
    try store.read { [now = store.now] in
      try $0.numbers(
        """
        SELECT p.id FROM \(Podcast.source) WHERE p.is_followed = 0 AND coalesce(f.last_refresh, p.created) < ?
          AND p.id NOT IN (SELECT episode_id >> \(EpisodeID.bits) FROM queue)
          AND \(condition) ORDER BY coalesce(f.last_refresh, p.created)
        """, now - seconds)
    }.filter { !held.contains($0) }
  }

  private func forgetUnused(_ podcast: Int64) throws(CatalogError) {
    try store.change(.refresh) { database, changes in
      // Somebody may have subscribed to it a moment ago.
      if try PodcastRecord.load(podcast, in: database)?.isFollowed == false {
        try Forgetting.hide(podcast, in: database, &changes)
      }
    }
    try finishForgetting()
  }

  /// Makes a podcast as if it had never been fetched.
  private func empty(_ podcast: Int64) throws(CatalogError) {
    try Forgetting.deleteEpisodes(of: podcast, store)
    try store.change(.refresh) { database, changes in
      try PodcastRecord.change(podcast, in: database) { ($0.lastRefresh, $0.nextRefresh) = (nil, nil) }
      try database.run("UPDATE podcast SET indexed_upto = next_episode - 1 WHERE id = ?", podcast)
      changes.append(.podcast(podcast))
    }
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
    try FullText.podcast(podcast, removing: true, in: database)
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
    while let podcast = try store.read({
      try $0.number("SELECT id FROM podcast INDEXED BY podcast_forgotten WHERE is_forgotten = 1 LIMIT 1")
    }) {
      try deleteEpisodes(of: podcast, store)
      try store.write(.refresh) { database in
        try database.run("DELETE FROM podcast WHERE id = ? AND is_forgotten = 1", podcast)
      }
    }
  }

  static func deleteEpisodes(of podcast: Int64, _ store: CatalogStore) throws(CatalogError) {
    let first = EpisodeID.first(ofPodcast: podcast)
    var isDone = false
    while !isDone {
      isDone = try store.write(.refresh, waitsForDisk: false) { database in
        let ids = try database.numbers(
          "SELECT id FROM episode WHERE id BETWEEN ? AND ? LIMIT ?", first,
          EpisodeID.last(ofPodcast: podcast), piece)
        let indexed = try EpisodeNumbers(podcast: podcast, in: database)?.indexed ?? 0
        let texts = try FullText.texts(ids.filter { $0 <= first + indexed }, in: database)
        try FullText.episodes(texts.map(\.indexed), removing: true, in: database)
        for id in ids {
          try PersonRows.remove(id, in: database)
          try database.run("DELETE FROM episode WHERE id = ?", id)
        }
        try database.run(
          """
          UPDATE podcast SET revision = revision + 1, episode_count = episode_count - ?, newest = NULL
          WHERE id = ?
          """, ids.count, podcast)
        // They come again when somebody looks.
        try PodcastRecord.change(podcast, in: database) { $0.forgetAnswer() }
        return ids.count < piece
      }
    }
  }
}
