internal import Configuration
internal import PodcastModel
internal import PosixKit

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
      try AnswerCache.removeOld(now: now, in: database)
      try UpkeepRows.setLast(now, in: database)
    }
    try Forgetting.finish(store)
    for podcast in try unused(before: now - Self.patience) { try forget(podcast) }
    try shrink(now: now)
    try store.giveBack()
  }

  /// Podcasts that nobody follows, sees in a search or keeps, those longest unused first.
  private func unused(before time: Int64) throws(CatalogError) -> [Int64] {
    try store.read { try UpkeepRows.unused(before: time, .shownNowhere, in: $0) }
      .filter { !protected.contains($0) }
  }

  private func forget(_ podcast: Int64) throws(CatalogError) {
    try store.change(.refresh) { database, changes in
      // Somebody may have subscribed to it a moment ago.
      guard try UpkeepRows.isUnfollowed(podcast, in: database) else { return }
      try Forgetting.hide(podcast, in: database, &changes)
    }
    try Forgetting.finish(store)
  }

  /// Where the catalogue is larger than it may be: what no search shows goes at once, then the episodes of what
  /// searches show, which come again when somebody looks.
  private func shrink(now: Int64) throws(CatalogError) {
    if try store.usedBytes() <= limit { return }
    for podcast in try unused(before: now - Self.leastPatience) {
      try forget(podcast)
      if try store.usedBytes() <= limit { return }
    }
    let shown = try store.read {
      try UpkeepRows.unused(before: now - Self.leastPatience, .withEpisodes, in: $0)
    }
    for podcast in shown where !protected.contains(podcast) {
      try Forgetting.deleteEpisodes(of: podcast, store)
      try store.change(.refresh) { database, changes in
        try UpkeepRows.emptied(podcast, in: database)
        changes.append(.podcast(podcast))
      }
      if try store.usedBytes() <= limit { return }
    }
  }
}
