internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

// What a user follows. Each verb is durable when it returns, and none needs the network.
extension Catalog {
  /// Subscribes to a search's result, which leaves its search until that is made again.
  /// - Parameter name: the directory's; nil for the one that the result has, numbered where that is taken.
  /// - Throws: EEXIST where the name is taken, or the podcast is subscribed to already.
  package func subscribe(result id: Int64, name: String? = nil) throws(CatalogError) -> ListedPodcast {
    try change { database, changes in
      let result = try database.first("SELECT podcast_id, name FROM result WHERE id = ? AND state = 0", id) {
        ($0.int64(0), $0.string(1))
      }
      guard let (podcast, ownName) = result else { throw CatalogError.unknown("result") }
      let listed = try Self.subscribe(podcast, as: name, or: ownName, in: database)
      let search = try Self.setState(.subscribed, ofResult: id, in: database)
      changes += [
        .subscription(listed.id, podcast: podcast), .result(id, search: search), .search(search),
      ]
      return listed
    }
  }

  /// Subscribes to a feed by its address, which may have the scheme of a podcast program (`feed:`, `pcast:`).
  /// The feed is not fetched: `subscribe(address:)` also understands web pages and learns the title first.
  /// - Parameters:
  ///   - title: the podcast's, as far as it is known.
  ///   - name: the directory's; nil for the title, numbered where that is taken.
  /// - Throws: EINVAL for no address, EEXIST where the name is taken or the podcast is subscribed to already.
  package func subscribe(
    feedURL: String, title: String? = nil, name: String? = nil
  ) throws(CatalogError) -> ListedPodcast {
    guard let url = SubscriptionAddress.normalized(feedURL) else {
      throw CatalogError(.EINVAL, "no address of a feed")
    }
    return try change { database, changes in
      let podcast = try Self.keepNamed(url, title: title, in: database)
      let listed = try Self.subscribe(podcast, as: name, or: nil, in: database)
      changes.append(.subscription(listed.id, podcast: podcast))
      return listed
    }
  }

  /// Its downloads and what is known of it stay; its hidden marks are forgotten.
  /// - Parameter id: the subscription's.
  package func unsubscribe(_ id: Int64) throws(CatalogError) {
    try change { database, changes in
      let podcast = try database.first("SELECT podcast_id FROM subscription WHERE id = ?", id) { $0.int64(0) }
      guard let podcast else { throw CatalogError.unknown("subscription") }
      try database.run("DELETE FROM subscription WHERE id = ?", id)
      if try Self.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
      try Self.subscriptionsChanged(in: database)
      changes.append(.subscription(id, podcast: podcast))
    }
  }

  /// Gives a subscription's directory another name, which the list keeps too.
  /// - Parameter id: the subscription's.
  /// - Throws: EEXIST where the name is taken.
  package func rename(subscription id: Int64, to name: String) throws(CatalogError) {
    try change { database, changes in
      let old = try database.first("SELECT podcast_id, name FROM subscription WHERE id = ?", id) {
        ($0.int64(0), $0.string(1))
      }
      guard let (podcast, oldName) = old else { throw CatalogError.unknown("subscription") }
      if name == oldName { return }
      // Another case of the same name is free.
      if UniqueNames.key(name) != UniqueNames.key(oldName), try Self.isTaken(name, in: database) {
        throw CatalogError(.EEXIST, "a subscription has that name")
      }
      try database.run(
        "UPDATE subscription SET name = ?, name_key = ?, is_own_name = 1, is_provisional = 0 WHERE id = ?",
        name,
        UniqueNames.key(name), id)
      try SubscriptionList.measure(podcast: podcast, in: database)
      try Self.subscriptionsChanged(in: database)
      changes.append(.subscription(id, podcast: podcast))
    }
  }

  private static func subscriptionsChanged(in database: Database) throws {
    for folder in [Folder.subscriptions, .list] { try folder.touch(in: database) }
  }

  /// The subscription whose feed has this address, written in any way that means the same.
  package func subscription(feedURL: String) throws(CatalogError) -> ListedPodcast? {
    let key = FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    return try store.read { database in
      try database.first("\(ListedRow.subscriptions) WHERE p.feed_key = ?", key, as: ListedRow.read)
    }
  }

  /// Whether a directory in `Subscriptions/` has this name, without regard to case.
  package func isTaken(subscriptionName name: String) throws(CatalogError) -> Bool {
    try store.read { try Self.isTaken(name, in: $0) }
  }

  /// A podcast that the user names himself.
  /// - Parameter mayBePrivate: whether he named the very address, which then may be on a private host.
  static func keepNamed(
    _ url: WebAddress, title: String?, mayBePrivate: Bool = true, in database: Database
  ) throws -> Int64 {
    guard var found = FoundPodcast(feed: url.forRequest, title: title) else {
      throw CatalogError(.EINVAL, "no address of a feed")
    }
    found.isListed = false
    let key = FeedKey.text(url)
    let known = try database.first("SELECT id FROM podcast WHERE feed_key = ?", key) { $0.int64(0) }
    guard let known else { return try keep(found, mayBePrivate: mayBePrivate, in: database) }
    if mayBePrivate { try database.run("UPDATE podcast SET may_be_private = 1 WHERE id = ?", known) }
    return known
  }

  /// - Parameters:
  ///   - name: what the user wants it called; taken: EEXIST.
  ///   - usual: what it is called otherwise, numbered where it must be; nil for the podcast's title.
  static func subscribe(
    _ podcast: Int64, as name: String?, or usual: String?, in database: Database
  ) throws -> ListedPodcast {
    if try database.exists("SELECT 1 FROM subscription WHERE podcast_id = ?", podcast) {
      throw CatalogError(.EEXIST, "already subscribed to")
    }
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
    _ = try restoreHidden(podcast, in: database)
    try database.run(
      """
      INSERT INTO subscription (podcast_id, name, name_key, subscribed, changed, is_own_name, is_provisional)
      SELECT ?1, ?, ?, ?, ?, ?, ?6 = 0 AND has_title = 0 FROM podcast WHERE id = ?1
      """, podcast, chosen, UniqueNames.key(chosen), wallClockSeconds(), wallClockNanoseconds(),
      name != nil && name != usual)
    let id = database.lastInsertedID
    try SubscriptionList.measure(podcast: podcast, in: database)
    try subscriptionsChanged(in: database)
    let listed = try database.first("\(ListedRow.subscriptions) WHERE s.id = ?", id, as: ListedRow.read)
    guard let listed else { throw CatalogError.unknown("subscription") }
    return listed
  }

  /// `subscriptions.opml` lies in the same directory.
  static func isTaken(_ name: String, in database: Database) throws -> Bool {
    try UniqueNames.key(name) == "subscriptions.opml"
      || database.exists("SELECT 1 FROM subscription WHERE name_key = ?", UniqueNames.key(name))
  }
}
