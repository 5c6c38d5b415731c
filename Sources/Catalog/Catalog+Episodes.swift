package import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension Catalog {
  /// All episodes, also hidden ones, in the order in which they were first seen, without their notes.
  package func episodes(ofPodcast id: Int64) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.all(ofPodcast: id, EpisodeRow.columns, in: $0) { EpisodeRow.read($0) } }
  }

  /// What `make` makes of each of them, of which only what directories show is read: a large podcast's are never in memory
  /// together.
  package func listedEpisodes<Made: Sendable>(
    ofPodcast id: Int64, as make: (Episode) -> Made
  ) throws(CatalogError) -> [Made] {
    try store.read {
      try EpisodeRow.all(ofPodcast: id, EpisodeRow.listedColumns, in: $0) { make(EpisodeRow.readListed($0)) }
    }
  }

  /// Those of these episodes that are known, by number, without their notes.
  package func episodes(_ ids: [Int64]) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.episodes(ids, in: $0) }
  }

  package func episode(_ id: Int64) throws(CatalogError) -> Episode? {
    try episodes(from: id, count: 1).first { $0.id == id }
  }

  /// Some episodes of one podcast from a number on, by number, with their notes.
  package func episodes(from id: Int64, count: Int) throws(CatalogError) -> [Episode] {
    try store.read { try EpisodeRow.episodes(from: id, count: count, in: $0) }
  }

  /// For each key that is known the episode whose enclosure it names; where several share it, one of a
  /// subscription, else the one first seen. Without notes.
  package func entries(forKeys keys: [MediaKey]) throws(CatalogError) -> [MediaKey: EpisodeEntry] {
    let entries = try store.read { try EpisodeRow.entries(forKeys: keys, in: $0) }
    return Dictionary(entries.map { ($0.episode.mediaKey, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

// Marks: each survives the process when it returns, and is on the disk half a second later.
extension Catalog {
  package func setPlayed(_ played: Bool, episode: Int64) throws(CatalogError) {
    try changeListening(episode) { state, _ in
      if state.isPlayed != played { state.setPlayed(played, now: store.now) }
    }
  }

  /// Sets how far the listener is; near the end of the episode it becomes played.
  /// - Parameters:
  ///   - milliseconds: from the start; 0 forgets the position.
  ///   - margin: how many seconds before the end count as the end.
  package func setPosition(_ milliseconds: Int64, episode: Int64, margin: Int) throws(CatalogError) {
    try changeListening(episode) { state, duration in
      state.setPosition(milliseconds, duration: duration, margin: margin, now: store.now)
    }
  }

  private func changeListening(
    _ episode: Int64, _ change: (inout ListeningState, _ duration: Int?) -> Void
  ) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      let row = try existing("episode", EpisodeRow.episodes([episode], in: database).first)
      var state = row.listening
      change(&state, row.duration)
      if try EpisodeMarks.set(state, replacing: row, in: database) { changes.append(.episode(episode)) }
    }
  }

  /// Hides an episode in `Subscriptions/` and `Latest/`, until it is restored or its podcast unsubscribed.
  package func setHidden(_ hidden: Bool, episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try EpisodeRow.check(episode, in: database)
      if try EpisodeMarks.setHidden(hidden, episode, in: database) { changes.append(.episode(episode)) }
    }
  }

  package func restoreHidden(podcast: Int64) throws(CatalogError) {
    try store.change { database, changes in
      _ = try existing("podcast", PodcastRecord.load(podcast, in: database))
      if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }
}

enum EpisodeMarks {
  /// - Returns: whether that is another state than the episode had; false where it is not known.
  static func set(_ state: ListeningState, episode: Int64, in database: Database) throws -> Bool {
    guard let row = try EpisodeRow.episodes([episode], in: database).first else { return false }
    return try set(state, replacing: row, in: database)
  }

  static func set(_ state: ListeningState, replacing row: Episode, in database: Database) throws -> Bool {
    if state == row.listening { return false }
    try database.run(
      "UPDATE episode SET played = ?, position = ?, last_played = ?, listening_changed = ? WHERE id = ?",
      state.isPlayed, state.position, state.lastPlayed, state.changed, row.id)
    // `Latest/` lists others then.
    if state.isPlayed != row.listening.isPlayed {
      try database.run(
        "UPDATE subscription SET changed = ? WHERE podcast_id = ?", wallClockNanoseconds(), row.podcastID)
    }
    return true
  }

  static func setHidden(_ hidden: Bool, _ episode: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = ? WHERE id = ? AND hidden <> ?1", hidden, episode)
    if database.changedRows == 0 { return false }
    try hiddenChanged(EpisodeID.podcast(of: episode), in: database)
    return true
  }

  static func restoreHidden(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = 0 WHERE podcast_id = ? AND hidden = 1", podcast)
    if database.changedRows == 0 { return false }
    try hiddenChanged(podcast, in: database)
    return true
  }

  fileprivate static func hiddenChanged(_ podcast: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET newest = \(EpisodeNumbers.newest) WHERE id = ?1", podcast)
    try database.run(
      "UPDATE subscription SET changed = ? WHERE podcast_id = ?", wallClockNanoseconds(), podcast)
  }
}
