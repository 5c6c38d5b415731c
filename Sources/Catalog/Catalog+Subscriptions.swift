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
      changes += [.subscriptions, .results(search: search), .searches]
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
      changes.append(.subscriptions)
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
      changes.append(.subscriptions)
    }
  }

  /// The subscription whose feed has this address, written in any way that means the same.
  package func subscription(feedURL: String) throws(CatalogError) -> ListedPodcast? {
    let key = FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    return try subscriptions().first { FeedKey.text($0.podcast.feedURL) == key }
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
      "INSERT INTO subscription (podcast_id, name, name_key, subscribed) VALUES (?, ?, ?, ?)", podcast,
      chosen,
      UniqueNames.key(chosen), wallClockSeconds())
    let listed = try database.first(
      """
      SELECT s.id, s.name, \(PodcastRow.columns) FROM subscription s JOIN podcast p ON p.id = s.podcast_id
      WHERE s.id = ?
      """, database.lastInsertedID, as: Self.listed)
    guard let listed else { throw CatalogError.unknown("subscription") }
    return listed
  }

  /// `subscriptions.opml` lies in the same directory.
  static func isTaken(_ name: String, in database: Database) throws -> Bool {
    try UniqueNames.key(name) == "subscriptions.opml"
      || database.exists("SELECT 1 FROM subscription WHERE name_key = ?", UniqueNames.key(name))
  }
}
