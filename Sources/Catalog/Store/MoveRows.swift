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

  /// Changes the address to one that no other podcast has.
  static func follow(_ address: WebAddress, _ podcast: Int64, in database: Database) throws {
    try remember(nil, since: nil, of: podcast, in: database)
    try database.run(
      "UPDATE podcast SET feed_url = ?, feed_key = ? WHERE id = ?", address.forRequest, FeedKey.text(address),
      podcast)
    try SubscriptionList.measure(podcast: podcast, in: database)
  }
}
