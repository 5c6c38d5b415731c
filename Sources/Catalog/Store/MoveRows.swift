internal import PodcastModel
internal import SQLiteKit

/// What is noted of feeds that move (`FeedMove`), in the podcast's row; within a transaction.
enum MoveRows {
  /// Not tried again before `since`.
  static func remember(
    _ address: WebAddress?, since: Int64?, isAnnounced: Bool = false, of podcast: Int64, in database: Database
  ) throws {
    try database.run(
      "UPDATE podcast SET moved_to = ?, moved_since = ?, is_announced = ? WHERE id = ?", address?.forRequest,
      since, isAnnounced, podcast)
  }

  /// What a podcast's address is, and was before it moved, as keys (`FeedKey`): the present one first.
  static func keys(of podcast: Int64, in database: Database) throws -> [String] {
    try database.all(
      """
      SELECT feed_key FROM podcast WHERE id = ?1
      UNION ALL SELECT feed_key FROM former_address WHERE podcast_id = ?1
      """, podcast
    ) { $0.string(0) }
  }

  /// An address that a podcast has now is no other one's former address.
  static func belongsToNobody(_ key: String, in database: Database) throws {
    try database.run("DELETE FROM former_address WHERE feed_key = ?", key)
  }

  /// Changes the address to one that no other podcast has.
  static func follow(_ address: WebAddress, _ podcast: Int64, in database: Database) throws {
    try remember(nil, since: nil, of: podcast, in: database)
    let key = FeedKey.text(address)
    try database.run(
      "INSERT OR REPLACE INTO former_address SELECT feed_key, id FROM podcast WHERE id = ? AND feed_key <> ?",
      podcast, key)
    try belongsToNobody(key, in: database)
    try database.run(
      "UPDATE podcast SET feed_url = ?, feed_key = ? WHERE id = ?", address.forRequest, key, podcast)
    try SubscriptionList.changed(podcast: podcast, in: database)
  }
}
