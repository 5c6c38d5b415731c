internal import SQLiteKit

/// The episodes that a feed's setting `keep` has had downloaded, of podcasts that are followed.
enum KeptRows {
  static func episodes(ofPodcast id: Int64, in database: Database) throws -> Set<Int64> {
    Set(
      try database.all(
        "SELECT episode_id FROM kept WHERE episode_id BETWEEN ? AND ?", EpisodeID.first(ofPodcast: id),
        EpisodeID.last(ofPodcast: id)
      ) { $0.int64(0) })
  }

  static func add(_ episode: Int64, in database: Database) throws {
    try database.run(
      """
      INSERT OR IGNORE INTO kept (episode_id)
      SELECT ?1 WHERE EXISTS (SELECT 1 FROM podcast WHERE id = ?2 AND is_followed = 1)
      """, episode, EpisodeID.podcast(of: episode))
  }

  /// The setting is one of subscriptions: with that they go.
  static func removeAll(ofPodcast id: Int64, in database: Database) throws {
    try database.run(
      "DELETE FROM kept WHERE episode_id BETWEEN ? AND ?", EpisodeID.first(ofPodcast: id),
      EpisodeID.last(ofPodcast: id))
  }

  static func remove(_ episode: Int64, in database: Database) throws {
    try database.run("DELETE FROM kept WHERE episode_id = ?", episode)
  }
}
