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

  /// - Returns: false where it was so.
  static func setHidden(_ hidden: Bool, _ episode: Int64, in database: Database) throws -> Bool {
    try EpisodeRow.check(episode, in: database)
    try database.run("UPDATE episode SET hidden = ? WHERE id = ? AND hidden <> ?1", hidden, episode)
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
