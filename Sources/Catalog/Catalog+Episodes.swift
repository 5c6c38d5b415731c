package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension Catalog {
  /// All episodes, also hidden ones, in the order in which they were first seen, without their notes.
  package func episodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRows.all(ofPodcast: id, in: $0) }
  }

  /// What `make` makes of each of them, of which only what directories show is read: a large podcast's are never in memory
  /// together.
  package func listedEpisodes<Made: Sendable>(
    ofPodcast id: Int64, as make: (Episode) -> Made
  ) throws(CatalogError) -> [Made] {
    try store.read { database in
      try EpisodeRows.all(ofPodcast: id, in: database) { (row: ListedEpisode) in make(row.episode) }
    }
  }

  /// Those of these episodes that are known, by number, without their notes.
  package func episodes(_ ids: [Int64]) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRows.episodes(ids, in: $0) }
  }

  package func episode(_ id: Int64) throws(CatalogError) -> Episode? {
    try episodes(from: id, count: 1).first { $0.id == id }
  }

  /// Some episodes of one podcast from a number on, by number, with their notes.
  package func episodes(from id: Int64, count: Int) throws(CatalogError) -> [Episode] {
    try store.read { database in
      try database.all(
        """
        SELECT \(Episode.columns), n.text, n.chapters FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
        WHERE e.id BETWEEN ? AND ? ORDER BY e.id LIMIT ?
        """, id, EpisodeID.last(ofPodcast: EpisodeID.podcast(of: id)), count
      ) { [notes = Episode.columnCount] row in
        var episode = Episode(row)
        (episode.notes, episode.chapters) = (row.stringIfPresent(notes), row.stringIfPresent(notes + 1))
        return episode
      }
    }
  }

  /// For each key that is known the episode whose enclosure it names; where several share it, one of a
  /// subscription, else the one first seen. Without notes.
  package func entries(forKeys keys: [MediaKey]) throws(CatalogError) -> [MediaKey: EpisodeEntry] {
    let entries = try store.read { try EpisodeRows.entries(forKeys: keys, in: $0) }
    return Dictionary(entries.map { ($0.episode.mediaKey, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

// Marks: each survives the process when it returns, and is on the disk half a second later.
extension Catalog {
  package func setPlayed(_ played: Bool, episode: Int64) throws(CatalogError) {
    try mark(episode) { database in
      try EpisodeMarks.change(episode, in: database) { state, _ in
        if state.isPlayed != played { state.setPlayed(played, now: store.now) }
      }
    }
  }

  /// Sets how far the listener is; near the end of the episode it becomes played.
  /// - Parameters:
  ///   - milliseconds: from the start; 0 forgets the position.
  ///   - margin: how many seconds before the end count as the end.
  package func setPosition(_ milliseconds: Int64, episode: Int64, margin: Int) throws(CatalogError) {
    try mark(episode) { database in
      try EpisodeMarks.change(episode, in: database) { state, duration in
        state.setPosition(milliseconds, duration: duration, margin: margin, now: store.now)
      }
    }
  }

  /// Hides an episode in `Subscriptions/` and `Latest/`, until it is restored or its podcast unsubscribed.
  package func setHidden(_ hidden: Bool, episode: Int64) throws(CatalogError) {
    try mark(episode) { try EpisodeMarks.setHidden(hidden, episode, in: $0) }
  }

  /// - Parameter body: says whether it has changed something.
  private func mark(_ episode: Int64, _ body: (Database) throws -> Bool) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try EpisodeRows.check(episode, in: database)
      if try body(database) { changes.append(.episode(episode)) }
    }
  }

  package func restoreHidden(podcast: Int64) throws(CatalogError) {
    try store.change { database, changes in
      _ = try existing("podcast", PodcastRecord.load(podcast, in: database))
      if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }
}

/// Each function says whether it has changed something.
enum EpisodeMarks {
  /// - Parameter body: also gets the episode's length, in seconds.
  static func change(
    _ id: Int64, in database: Database, _ body: (inout ListeningState, Int?) -> Void
  ) throws -> Bool {
    guard let row = try EpisodeRows.episodes([id], in: database).first else { return false }
    var state = row.listening
    body(&state, row.duration)
    if state == row.listening { return false }
    try database.run(
      "UPDATE episode SET played = ?, position = ?, last_played = ?, listening_changed = ? WHERE id = ?",
      state.isPlayed, state.position, state.lastPlayed, state.changed, id)
    // `Latest/` lists others then.
    if state.isPlayed != row.listening.isPlayed { try folderChanged(row.podcastID, in: database) }
    return true
  }

  static func setHidden(_ hidden: Bool, _ episode: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = ? WHERE id = ? AND hidden <> ?1", hidden, episode)
    return try hiddenChanged(EpisodeID.podcast(of: episode), in: database)
  }

  static func restoreHidden(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = 0 WHERE podcast_id = ? AND hidden = 1", podcast)
    return try hiddenChanged(podcast, in: database)
  }

  private static func hiddenChanged(_ podcast: Int64, in database: Database) throws -> Bool {
    if database.changedRows == 0 { return false }
    try database.run("UPDATE podcast SET newest = \(EpisodeNumbers.newest) WHERE id = ?1", podcast)
    try folderChanged(podcast, in: database)
    return true
  }

  private static func folderChanged(_ podcast: Int64, in database: Database) throws {
    try database.run(
      "UPDATE subscription SET changed = ? WHERE podcast_id = ?", wallClockNanoseconds(), podcast)
  }
}
