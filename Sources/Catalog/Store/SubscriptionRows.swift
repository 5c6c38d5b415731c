internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// How subscriptions lie in their rows; within a transaction.
enum SubscriptionRows {
  /// The subscription whose feed has this address, written in any way that means the same.
  static func subscription(feedURL: String, in database: Database) throws -> ListedPodcast? {
    let key = FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    return try ListedRow.subscription(feedKey: key, in: database)
  }

  /// - Parameters:
  ///   - name: what the user wants it called; taken: EEXIST.
  ///   - usual: what it is called otherwise, numbered where it must be; nil for the podcast's title.
  static func subscribe(
    _ podcast: Int64, as name: String?, or usual: String?, in database: Database
  ) throws -> ListedPodcast {
    let known = try database.first("SELECT name FROM subscription WHERE podcast_id = ?", podcast) {
      $0.string(0)
    }
    if let known { throw CatalogError.alreadyFollowed(known) }
    let chosen: String
    if let name {
      if try isTaken(name, in: database) { throw CatalogError(.EEXIST, "a subscription has that name") }
      chosen = name
    } else {
      let title = try database.first("SELECT title FROM podcast WHERE id = ?", podcast) { $0.string(0) }
      chosen = try NameClaim.free(usual ?? EpisodeName.directoryName(title: title)) {
        try isTaken($0, in: database)
      }
    }
    // Marks of an earlier subscription would hide what the user now expects.
    _ = try EpisodeMarks.restoreHidden(podcast, in: database)
    try database.run(
      """
      INSERT INTO subscription (podcast_id, name, name_key, subscribed, changed, is_own_name, is_provisional)
      SELECT ?1, ?, ?, ?, ?, ?, ?6 = 0 AND has_title = 0 FROM podcast WHERE id = ?1
      """, podcast, chosen, UniqueNames.key(chosen), wallClockSeconds(), wallClockNanoseconds(),
      name != nil && name != usual)
    let id = database.lastInsertedID
    try changed(in: database)
    guard let listed = try ListedRow.subscription(id, in: database) else {
      throw CatalogError.unknown("subscription")
    }
    return listed
  }

  static func isSubscribed(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM subscription WHERE podcast_id = ?", podcast)
  }

  /// - Returns: the podcast.
  static func remove(_ id: Int64, in database: Database) throws -> Int64 {
    let podcast = try database.first("SELECT podcast_id FROM subscription WHERE id = ?", id) { $0.int64(0) }
    guard let podcast else { throw CatalogError.unknown("subscription") }
    try database.run("DELETE FROM subscription WHERE id = ?", id)
    try KeptRows.removeAll(ofPodcast: podcast, in: database)
    try changed(in: database)
    return podcast
  }

  /// Gives it a name of the user's own.
  /// - Returns: the podcast; nil where it has that name.
  static func rename(_ id: Int64, to name: String, in database: Database) throws -> Int64? {
    let old = try database.first("SELECT podcast_id, name FROM subscription WHERE id = ?", id) {
      ($0.int64(0), $0.string(1))
    }
    guard let (podcast, oldName) = old else { throw CatalogError.unknown("subscription") }
    if name == oldName { return nil }
    // Another case of the same name is free.
    if UniqueNames.key(name) != UniqueNames.key(oldName), try isTaken(name, in: database) {
      throw CatalogError(.EEXIST, "a subscription has that name")
    }
    try database.run(
      "UPDATE subscription SET name = ?, name_key = ?, is_own_name = 1, is_provisional = 0 WHERE id = ?",
      name, UniqueNames.key(name), id)
    try changed(in: database)
    return podcast
  }

  /// `subscriptions.opml` lies in the same directory.
  /// - Parameter id: a subscription that may have the name itself; 0 for none.
  static func isTaken(_ name: String, besides id: Int64 = 0, in database: Database) throws -> Bool {
    try UniqueNames.key(name) == "subscriptions.opml"
      || database.exists(
        "SELECT 1 FROM subscription WHERE name_key = ? AND id <> ?", UniqueNames.key(name), id)
  }

  /// The subscriptions whose feeds have an address that differs from this one by nothing but its secrets.
  static func subscriptions(likeAddress address: WebAddress, in database: Database) throws -> [Int64] {
    let key = FeedKey.text(WebAddress(address.shown))
    return try database.all(
      "SELECT s.id, f.feed_url FROM subscription s JOIN feed f ON f.podcast_id = s.podcast_id ORDER BY s.id"
    ) { (id: $0.int64(0), address: WebAddress($0.string(1))) }
    .filter { FeedKey.text(WebAddress($0.address.shown)) == key }.map(\.id)
  }

  static func changed(in database: Database) throws {
    for folder in [Folder.subscriptions, .list] { try folder.touch(in: database) }
  }
}
