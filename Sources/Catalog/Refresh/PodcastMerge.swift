internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast that has moved to an address: takes it, and where another podcast of the catalogue is there already,
/// makes one of the two, where their episodes say that they are the same.
///
/// One commit notes that they become one (`merges_into`); from then on only the one that stays is asked for. Then the
/// other's episodes go over in pieces, which no verb waits long for, each on its own as good as all: where the process
/// ends meanwhile, the next one goes on. The last commit takes what shows the other podcast.
struct PodcastMerge: Sendable {
  let feeds: FeedRefresher
  let now: Int64

  /// How often another process may be at the same podcasts at the same time.
  private static let tries = 20

  /// - Parameter address: where the podcast has moved for good.
  func merge(_ podcast: Int64, movedTo address: WebAddress) throws {
    let key = FeedKey.text(address)
    let other = try feeds.store.read { database in
      try database.first("SELECT id FROM podcast WHERE feed_key = ? AND id <> ?", key, podcast) {
        $0.int64(0)
      }
    }
    guard let other else {
      return try feeds.store.change(.refresh) { database, changes in
        // Another process may have made one meanwhile: then the next refresh sees it.
        if try database.exists("SELECT 1 FROM podcast WHERE feed_key = ? AND id <> ?", key, podcast) {
          return
        }
        try FeedMove.follow(address, podcast, in: database)
        changes.append(.facts(podcast: podcast))
      }
    }
    let (survivor, loser) = try survivor(podcast, other)
    let (kept, given) = try episodes(survivor, loser)
    let common = IdentityEngine.decide(given.all.map(\.traits), known: kept.all.map(\.traits))
      .count { $0.place != nil }
    // Who redirects to another's feed must not bring episodes of its own into that one's directory.
    guard common * 2 >= min(kept.all.count, given.all.count) else {
      return try feeds.store.change(.refresh) { database, _ in
        try FeedMove.remember(nil, since: nil, of: podcast, in: database)
      }
    }
    let isBegun = try feeds.store.change(.refresh) { database, changes in
      guard try KnownEpisodes.revision(survivor, in: database) == kept.revision,
        try KnownEpisodes.revision(loser, in: database) == given.revision
      else { return false }
      try begin(loser, into: survivor, at: address, in: database)
      changes += [.facts(podcast: survivor), .facts(podcast: loser)]
      return true
    }
    // Where one of the two has just changed, the next refresh decides anew.
    if isBegun { try finish(loser) }
  }

  /// The one that is followed (of two, the one followed first), else the one that moves: its directory stays.
  private func survivor(_ podcast: Int64, _ other: Int64) throws -> (Int64, Int64) {
    let followed = try feeds.store.read { database in
      try database.first(
        "SELECT podcast_id FROM subscription WHERE podcast_id IN (?, ?) ORDER BY id", podcast, other
      ) { $0.int64(0) }
    }
    return followed == other ? (other, podcast) : (podcast, other)
  }

  private func episodes(_ survivor: Int64, _ loser: Int64) throws -> (KnownEpisodes, KnownEpisodes) {
    try feeds.store.read { database in
      (try KnownEpisodes(podcast: survivor, in: database), try KnownEpisodes(podcast: loser, in: database))
    }
  }

  private func begin(
    _ loser: Int64, into survivor: Int64, at address: WebAddress, in database: Database
  ) throws {
    // Of several that become one, all end in the last.
    try database.run(
      "UPDATE podcast SET merges_into = ?1 WHERE id = ?2 OR merges_into = ?2", survivor, loser)
    // The address is free for the one that stays.
    try database.run("UPDATE podcast SET feed_key = 'merging ' || id WHERE id = ?", loser)
    try FeedMove.follow(address, survivor, in: database)
    try database.run(
      "UPDATE podcast SET etag = NULL, last_modified = NULL, digest = NULL WHERE id = ?", survivor)
  }

  /// Goes on with all that were begun by a process that has ended.
  func finishAll() throws {
    let begun = try feeds.store.read { database in
      try database.all("SELECT id FROM podcast INDEXED BY podcast_merging WHERE merges_into IS NOT NULL") {
        $0.int64(0)
      }
    }
    for loser in begun { try finish(loser) }
  }

  /// Goes on with a podcast that is to become one with another, to the end.
  func finish(_ loser: Int64) throws {
    for _ in 0..<Self.tries {
      let target = try feeds.store.read { database in
        try database.first("SELECT merges_into FROM podcast WHERE id = ? AND is_forgotten = 0", loser) {
          $0.int64IfPresent(0)
        }
      }
      // Another process has ended it.
      guard let survivor = target ?? nil else { return }
      let isThere = try feeds.store.read {
        try $0.exists("SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0", survivor)
      }
      guard isThere else { return try forget(loser) }
      let (kept, given) = try episodes(survivor, loser)
      let moving = MovingEpisodes(store: feeds.store, survivor: survivor, loser: loser)
      if try moving.move(given, to: kept), try end(loser, into: survivor) {
        return feeds.texts.fill()
      }
    }
    throw CatalogError(.EBUSY, "another process keeps changing this podcast")
  }

  /// Whoever forgets the one that stays means the other too.
  private func forget(_ loser: Int64) throws {
    try feeds.store.change(.refresh) { database, changes in
      guard try database.exists("SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0", loser) else {
        return
      }
      try Forgetting.hide(loser, in: database, &changes)
    }
    try Forgetting.finish(feeds.store)
  }

  /// - Returns: false where it has episodes again.
  private func end(_ loser: Int64, into survivor: Int64) throws -> Bool {
    try feeds.store.change(.refresh) { database, changes in
      guard try database.exists("SELECT 1 FROM podcast WHERE id = ? AND merges_into = ?", loser, survivor),
        try database.exists("SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0", survivor),
        try !database.exists(
          "SELECT 1 FROM episode WHERE id BETWEEN ? AND ?", EpisodeID.first(ofPodcast: loser),
          EpisodeID.last(ofPodcast: loser))
      else { return false }
      var rows = MergedRows(survivor: survivor, loser: loser, database: database)
      try rows.takeResults()
      try rows.takeSubscription()
      try rows.removeLoser()
      try RefreshRows.listingChanged(survivor, in: database)
      changes += [.podcast(survivor), .podcast(loser), .subscriptions, .searches]
      changes += rows.searches.map { .results(search: $0) }
      return true
    }
  }
}

extension KnownEpisodes {
  static func revision(_ podcast: Int64, in database: Database) throws -> Int64? {
    try database.first("SELECT revision FROM podcast WHERE id = ?", podcast) { $0.int64(0) }
  }
}
