internal import PosixKit
internal import SQLiteKit

/// What hangs on the marks of a podcast's episodes; within a transaction.
enum EpisodeMarks {
  /// - Returns: false where it was so.
  static func setPlayed(_ played: Bool, _ episode: Int64, in database: Database) throws -> Bool {
    try EpisodeRow.check(episode, in: database)
    try database.run("UPDATE episode SET played = ? WHERE id = ? AND played <> ?1", played, episode)
    return database.changedRows > 0
  }

  /// - Returns: false where it was hidden.
  static func hide(_ episode: Int64, in database: Database) throws -> Bool {
    try EpisodeRow.check(episode, in: database)
    try database.run("UPDATE episode SET hidden = 1 WHERE id = ? AND hidden = 0", episode)
    if database.changedRows == 0 { return false }
    try hiddenChanged(EpisodeID.podcast(of: episode), in: database)
    return true
  }

  /// - Returns: whether any was hidden.
  static func restoreHidden(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = 0 WHERE podcast_id = ? AND hidden = 1", podcast)
    if database.changedRows == 0 { return false }
    try hiddenChanged(podcast, in: database)
    return true
  }

  private static func hiddenChanged(_ podcast: Int64, in database: Database) throws {
    try findNewest(of: podcast, in: database)
    try database.run(
      "UPDATE subscription SET changed = ? WHERE podcast_id = ?", wallClockNanoseconds(), podcast)
  }

  /// Gives the marks of an episode to the one that it is the same as.
  static func give(of old: Int64, to new: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE episode SET played = max(episode.played, o.played), hidden = max(episode.hidden, o.hidden)
      FROM (SELECT played, hidden FROM episode WHERE id = ?) o WHERE id = ?
      """, old, new)
    try FormerKeys.note(of: old, for: new, in: database)
    try database.run("INSERT OR IGNORE INTO kept SELECT ? FROM kept WHERE episode_id = ?", new, old)
    try KeptRows.remove(old, in: database)
    try database.run(
      "UPDATE OR IGNORE hidden_in_search SET episode_id = ? WHERE episode_id = ?", new, old)
  }

  /// Keeps `podcast.newest`, by which `latest` looks no further than it must.
  static func findNewest(of podcast: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET newest =
        (SELECT max(published) FROM episode INDEXED BY episode_by_date WHERE podcast_id = ?1 AND hidden = 0)
      WHERE id = ?1
      """, podcast)
  }
}
