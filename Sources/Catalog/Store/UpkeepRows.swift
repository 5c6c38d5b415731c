internal import SQLiteKit

/// What may leave the catalogue, and when it was last looked after.
enum UpkeepRows {
  static func last(in database: Database) throws -> Int64? {
    try database.first("SELECT upkeep FROM counter") { $0.int64(0) }
  }

  static func setLast(_ time: Int64, in database: Database) throws {
    try database.run("UPDATE counter SET upkeep = ?", time)
  }

  /// Which of the podcasts that nobody follows.
  enum Condition {
    case shownNowhere, withEpisodes

    fileprivate var text: String {
      switch self {
      case .shownNowhere:
        """
        NOT EXISTS
          (SELECT 1 FROM result r WHERE r.podcast_id = p.id AND r.state <> \(ResultState.gone.rawValue))
        """
      case .withEpisodes: "p.episode_count > 0"
      }
    }
  }

  /// Podcasts that nobody follows and that were not looked at since `time`: those longest
  /// unused first.
  static func unused(before time: Int64, _ condition: Condition, in database: Database) throws -> [Int64] {
    try database.all(
      """
      SELECT p.id FROM shown p WHERE p.is_followed = 0 AND coalesce(p.last_refresh, p.created) < ?
        AND \(condition.text)
      ORDER BY coalesce(p.last_refresh, p.created)
      """, time
    ) { $0.int64(0) }
  }

  static func isUnfollowed(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.exists(
      "SELECT 1 FROM podcast WHERE id = ? AND is_followed = 0 AND is_forgotten = 0", podcast)
  }

  /// Its episodes have gone: it is as if it had never been fetched.
  static func emptied(_ podcast: Int64, in database: Database) throws {
    _ = try FeedRecord.change(podcast, in: database) { ($0.lastRefresh, $0.nextRefresh) = (nil, nil) }
    try database.run("UPDATE podcast SET indexed_upto = next_episode - 1 WHERE id = ?", podcast)
  }
}
