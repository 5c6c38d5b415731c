internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Keeps the catalogue as large as what is followed, not as what was ever seen. Once a day, by a process that
/// refreshes.
struct Upkeep: Sendable {
  let store: CatalogStore
  /// Bytes that the catalogue may have: `catalogue_size`.
  let limit: Int64
  /// Podcasts of which something is in the cache, or on its way.
  let protected: Set<Int64>

  static let period: Int64 = 24 * 3600
  /// Seconds since a podcast was looked at, after which it goes.
  private static let patience: Int64 = 30 * 24 * 3600
  /// A podcast that was looked at a moment ago stays, however large the catalogue is.
  private static let leastPatience: Int64 = 3600

  func run(now: Int64) throws(CatalogError) {
    try store.write(.refresh) { database in
      try database.run("DELETE FROM answer WHERE fetched < ?", now - AnswerCache.longest)
      try database.run("UPDATE counter SET upkeep = ?", now)
    }
    try Forgetting.finish(store)
    for podcast in try unused(before: now - Self.patience) { try forget(podcast) }
    try shrink(now: now)
    try store.giveBack()
  }

  /// Podcasts that nobody follows, sees in a search or keeps, those longest unused first.
  private func unused(before time: Int64) throws(CatalogError) -> [Int64] {
    try candidates(
      before: time,
      "AND NOT EXISTS (SELECT 1 FROM result r WHERE r.podcast_id = p.id AND r.state <> \(ResultState.gone.rawValue))"
    )
  }

  private func candidates(before time: Int64, _ condition: String) throws(CatalogError) -> [Int64] {
    let found = try store.read { database in
      try database.all(
        """
        SELECT p.id FROM podcast p
        WHERE p.is_followed = 0 AND p.is_forgotten = 0 AND coalesce(p.last_refresh, p.created) < ? \(condition)
          AND NOT EXISTS (SELECT 1 FROM kept k WHERE k.episode_id BETWEEN p.id << \(EpisodeID.bits)
            AND (p.id + 1) << \(EpisodeID.bits))
        ORDER BY coalesce(p.last_refresh, p.created)
        """, time
      ) { $0.int64(0) }
    }
    return found.filter { !protected.contains($0) }
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

  private func usedBytes() throws(CatalogError) -> Int64 { try store.read { try $0.usedBytes() } }

  /// Where the catalogue is larger than it may be: what no search shows goes at once, then the episodes of what
  /// searches show, which come again when somebody looks.
  private func shrink(now: Int64) throws(CatalogError) {
    if try usedBytes() <= limit { return }
    for podcast in try unused(before: now - Self.leastPatience) {
      try forget(podcast)
      if try usedBytes() <= limit { return }
    }
    for podcast in try candidates(before: now - Self.leastPatience, "AND p.episode_count > 0") {
      try Forgetting.deleteEpisodes(of: podcast, store)
      try store.change(.refresh) { database, changes in
        try database.run(
          "UPDATE podcast SET last_refresh = NULL, next_refresh = NULL, indexed_upto = next_episode - 1 WHERE id = ?",
          podcast)
        changes.append(.podcast(podcast))
      }
      if try usedBytes() <= limit { return }
    }
  }
}
