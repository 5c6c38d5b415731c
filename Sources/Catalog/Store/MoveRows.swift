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

  /// Whether another podcast, which the user follows, has an address. Says so in the error of the podcast that has moved
  /// there: both directories stay.
  static func isOfFollowed(
    _ address: WebAddress, besides podcast: Int64, in database: Database
  ) throws -> Bool {
    guard let listed = try ListedRow.subscription(feedKey: FeedKey.text(address), in: database),
      listed.podcast.id != podcast
    else { return false }
    try RefreshRows.setError(podcast, "has moved to “\(listed.name)”, which you follow", in: database)
    return true
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

  /// Gives a podcast another address of the same feed, as the user says: one with a new token. The next answer is read
  /// whole, and soon.
  /// - Throws: EEXIST where the user follows another podcast at that address.
  static func readdress(
    _ podcast: Int64, to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    if let listed = try ListedRow.subscription(feedKey: FeedKey.text(address), in: database),
      listed.podcast.id != podcast
    {
      throw CatalogError.alreadyFollowed(listed.name)
    }
    try follow(address, podcast, in: database, &changes)
    try RefreshRows.forgetAnswer(podcast, in: database)
    try database.run(
      """
      UPDATE podcast SET came_from = NULL, is_listed = 0, may_be_private = 1, error = NULL, failures = 0,
        next_refresh = NULL, not_before = NULL, next_page = NULL
      WHERE id = ?
      """, podcast)
  }

  /// Changes a podcast's address. Another podcast at that address is forgotten where nobody follows it; searches then show
  /// this one in its place.
  /// - Returns: false where the other podcast is followed: both stay as they are.
  @discardableResult
  static func follow(
    _ address: WebAddress, _ podcast: Int64, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> Bool {
    if try isOfFollowed(address, besides: podcast, in: database) { return false }
    if let other = try PodcastRow.other(than: podcast, at: address, in: database) {
      let searches = try database.all("SELECT search_id FROM result WHERE podcast_id = ?", other) {
        $0.int64(0)
      }
      try database.run("UPDATE OR IGNORE result SET podcast_id = ? WHERE podcast_id = ?", podcast, other)
      try Forgetting.hide(other, in: database, &changes)
      changes += searches.map { .results(search: $0) }
    }
    try remember(nil, since: nil, of: podcast, in: database)
    let key = FeedKey.text(address)
    try database.run(
      "INSERT OR REPLACE INTO former_address SELECT feed_key, id FROM podcast WHERE id = ? AND feed_key <> ?",
      podcast, key)
    try belongsToNobody(key, in: database)
    try database.run(
      "UPDATE podcast SET feed_url = ?, feed_key = ? WHERE id = ?", address.forRequest, key, podcast)
    try SubscriptionList.measure(podcast: podcast, in: database)
    changes.append(.facts(podcast: podcast))
    return true
  }
}
