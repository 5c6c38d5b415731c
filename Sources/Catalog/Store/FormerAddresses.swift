internal import PodcastModel
internal import SQLiteKit

/// Addresses that feeds have moved away from: what the configuration says of them goes on to apply, and no feed that
/// announces one of them is followed back.
enum FormerAddresses {
  /// The key (`FeedKey`) of a podcast's address, then those of its former ones.
  static func keys(of podcast: Int64, in database: Database) throws -> [String] {
    try database.all(
      """
      SELECT feed_key FROM feed WHERE podcast_id = ?1
      UNION ALL SELECT feed_key FROM former_address WHERE podcast_id = ?1
      """, podcast
    ) { $0.string(0) }
  }

  /// Notes that a podcast is at another address from now on.
  static func moved(_ podcast: Int64, from old: WebAddress, to new: WebAddress, in database: Database) throws
  {
    if FeedKey.text(old) != FeedKey.text(new) {
      try database.run(
        "INSERT OR REPLACE INTO former_address (feed_key, podcast_id) VALUES (?, ?)", FeedKey.text(old),
        podcast)
    }
    try take(new, in: database)
  }

  /// An address that a podcast has now is no other one's former address.
  static func take(_ address: WebAddress, in database: Database) throws {
    try database.run("DELETE FROM former_address WHERE feed_key = ?", FeedKey.text(address))
  }
}
