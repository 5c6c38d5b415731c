internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast that has moved to an address: takes it, and where another podcast of the catalogue is there already,
/// makes one of the two, where their episodes say that they are the same.
struct PodcastMerge: Sendable {
  let catalog: Catalog
  let now: Int64

  /// - Parameter address: where the podcast has moved for good.
  func merge(_ podcast: Int64, movedTo address: WebAddress) throws {
    let key = FeedKey.text(address)
    let other = try catalog.store.read { database in
      try database.first("SELECT id FROM podcast WHERE feed_key = ? AND id <> ?", key, podcast) {
        $0.int64(0)
      }
    }
    guard let other else {
      return try catalog.change(.refresh) { database, changes in
        // Another process may have made one meanwhile: then the next refresh sees it.
        if try database.exists("SELECT 1 FROM podcast WHERE feed_key = ? AND id <> ?", key, podcast) {
          return
        }
        try FeedMove.follow(address, podcast, in: database)
        changes.append(.facts(podcast: podcast))
      }
    }
    let (survivor, loser) = try survivor(podcast, other)
    let (kept, given) = try catalog.store.read { database in
      (try KnownEpisodes(podcast: survivor, in: database), try KnownEpisodes(podcast: loser, in: database))
    }
    let decisions = IdentityEngine.decide(given.all.map(\.traits), known: kept.all.map(\.traits))
    let common = decisions.count { $0.place != nil }
    // Who redirects to another's feed must not bring episodes of its own into that one's directory.
    guard common * 2 >= min(kept.all.count, given.all.count) else {
      return try catalog.change(.refresh) { database, _ in
        try FeedMove.remember(nil, since: nil, of: podcast, in: database)
      }
    }
    try catalog.change(.refresh) { database, changes in
      guard try KnownEpisodes.revision(survivor, in: database) == kept.revision,
        try KnownEpisodes.revision(loser, in: database) == given.revision
      else { return }
      var rows = MergedRows(survivor: survivor, loser: loser, database: database)
      try rows.takeEpisodes(given, decisions, kept)
      try rows.takeResults()
      try rows.takeSubscription()
      try rows.removeLoser()
      try FeedMove.follow(address, survivor, in: database)
      try database.run(
        "UPDATE podcast SET etag = NULL, last_modified = NULL, digest = NULL WHERE id = ?", survivor)
      try RefreshRun.touch(survivor, in: database)
      changes += [.podcast(survivor), .podcast(loser), .subscriptions, .searches]
      changes += rows.searches.map { .results(search: $0) }
    }
  }

  /// The one that is followed (of two, the one followed first), else the one that moves: its directory stays.
  private func survivor(_ podcast: Int64, _ other: Int64) throws -> (Int64, Int64) {
    let followed = try catalog.store.read { database in
      try database.first(
        "SELECT podcast_id FROM subscription WHERE podcast_id IN (?, ?) ORDER BY id", podcast, other
      ) { $0.int64(0) }
    }
    return followed == other ? (other, podcast) : (podcast, other)
  }
}

extension KnownEpisodes {
  static func revision(_ podcast: Int64, in database: Database) throws -> Int64? {
    try database.first("SELECT revision FROM podcast WHERE id = ?", podcast) { $0.int64(0) }
  }
}
