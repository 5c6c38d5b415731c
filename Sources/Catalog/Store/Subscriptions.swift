internal import FeedKit
package import PodcastModel
internal import PosixKit
package import SQLiteKit

/// How subscriptions lie in their rows; within a transaction.
enum SubscriptionRows {
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
      try checkFree(name, in: database)
      chosen = name
    } else {
      let title = try database.first("SELECT title FROM podcast WHERE id = ?", podcast) { $0.string(0) }
      // A stranger's list may name it anything.
      let name = usual.flatMap { EpisodeName.isDirectoryName($0) ? $0 : nil }
      chosen = try NamedRows.subscriptions.free(
        name ?? EpisodeName.directoryName(title: usual ?? title), in: database)
    }
    // Marks of an earlier subscription would hide what the user now expects.
    _ = try EpisodeMarks.restoreHidden(podcast, in: database)
    try database.run(
      """
      INSERT INTO subscription (podcast_id, name, name_key, subscribed, changed, is_own_name)
      VALUES (?, ?, ?, ?, ?, ?)
      """, podcast, chosen, UniqueNames.key(chosen), wallClockSeconds(), wallClockNanoseconds(),
      name != nil && name != usual)
    let id = database.lastInsertedID
    try Folder.touchSubscriptions(in: database)
    _ = try AwaitedReport.apply(toPodcast: podcast, now: wallClockSeconds(), in: database)
    return try existing("subscription", ListedRow.subscription(id, in: database))
  }

  static func end(
    _ id: Int64, of podcast: Int64, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    try database.run("DELETE FROM subscription WHERE id = ?", id)
    try RuleRows.removeMarks(ofPodcast: podcast, in: database)
    try Folder.touchSubscriptions(in: database)
    // What was hidden in its directory does not come back there before that has gone.
    changes.append(.subscription(id, podcast: podcast))
    if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
  }

  static func isSubscribed(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM subscription WHERE podcast_id = ?", podcast)
  }

  static func checkFree(_ name: String, besides id: Int64 = 0, in database: Database) throws {
    if try NamedRows.subscriptions.isTaken(name, besides: id, in: database) {
      throw CatalogError(.EEXIST, "a subscription has that name")
    }
  }

  static func lineChanged(podcast: Int64, in database: Database) throws {
    if try isSubscribed(podcast, in: database) { try Folder.list.touch(in: database) }
  }
}

// What a user follows. Each verb is durable when it returns, and none needs the network.
extension Catalog {
  package func subscriptions() throws(CatalogError) -> [ListedPodcast] {
    try store.read { try ListedRow.subscriptions(in: $0) }
  }

  package func subscription(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { try ListedRow.subscription(id, in: $0) }
  }

  /// The subscription whose feed has this address, written in any way that means the same.
  package func subscription(feedURL: String) throws(CatalogError) -> ListedPodcast? {
    let address = SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL)
    return try store.read { try ListedRow.subscription(at: address, in: $0) }
  }

  /// Subscribes to a search's result, which leaves its search until that is made again.
  /// - Parameter name: the directory's; nil for the one that the result has, numbered where that is taken.
  /// - Throws: EEXIST where the name is taken, or the podcast is subscribed to already.
  package func subscribe(result id: Int64, name: String? = nil) throws(CatalogError) -> ListedPodcast {
    try store.change { database, changes in
      let result = try existing("result", ListedRow.results("t.id = ?", id, in: database).first)
      let podcast = result.podcast.id
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: result.name, in: database)
      let search = try SearchRows.setState(.subscribed, ofResult: id, in: database)
      changes += [.subscription(listed.id, podcast: podcast), .result(id, search: search), .search(search)]
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
      throw CatalogError(.EINVAL, "not a feed address")
    }
    return try store.change { database, changes in
      let podcast = try PodcastRecord.recordNamed(url, title: title, mayBePrivate: true, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      changes.append(.subscription(listed.id, podcast: podcast))
      return listed
    }
  }

  /// Its downloads and what is known of it stay; its hidden marks are forgotten.
  package func unsubscribe(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let listed = try existing("subscription", ListedRow.subscription(id, in: database))
      try SubscriptionRows.end(id, of: listed.podcast.id, in: database, &changes)
    }
  }

  /// Gives a subscription's directory another name, which the list keeps too.
  /// - Throws: EEXIST where the name is taken.
  package func rename(subscription id: Int64, to name: String) throws(CatalogError) {
    try store.change { database, changes in
      let old = try existing("subscription", ListedRow.subscription(id, in: database))
      if name == old.name { return }
      try SubscriptionRows.checkFree(name, besides: id, in: database)
      try database.run(
        "UPDATE subscription SET name = ?, name_key = ?, is_own_name = 1 WHERE id = ?",
        name, UniqueNames.key(name), id)
      try Folder.touchSubscriptions(in: database)
      changes.append(.subscription(id, podcast: old.podcast.id))
    }
  }

  /// Gives a subscription another address of the same show, as one with a new token. Episodes, names and marks stay; the
  /// feed is asked for when a mount next looks for due ones.
  /// - Throws: EINVAL for no address, EEXIST where another subscription has it.
  package func setFeedURL(_ address: String, ofSubscription id: Int64) throws(CatalogError) {
    guard let url = SubscriptionAddress.normalized(address) else {
      throw CatalogError(.EINVAL, "not a feed address")
    }
    try store.change { database, changes in
      let listed = try existing("subscription", ListedRow.subscription(id, in: database))
      try PodcastRecord.change(listed.podcast.id, in: database) {
        try $0.readdress(to: url, in: database, &changes)
      }
      changes.append(.subscription(id, podcast: listed.podcast.id))
    }
    try Forgetting.finish(store)
  }
}

extension ListedPodcast: RowCoded {
  package mutating func code(_ row: inout RowCoder) {
    podcast.code(&row)
    row.read("t.id", &id)
    row.read("t.name", &name)
    row.read("max(t.changed, p.changed, p.created * 1000000000)", &changed)
    row.read("coalesce(p.newest, 0)", &newest)
    row.read("p.hidden_count", &hiddenCount)
  }
}

enum ListedRow {
  private static func rows(
    of table: String, _ rest: String, _ values: any Bindable..., in database: Database
  ) throws -> [ListedPodcast] {
    try database.all(
      """
      SELECT \(ListedPodcast.columns) FROM \(table) t JOIN \(Podcast.source) AND p.id = t.podcast_id \(rest)
      """, values: values
    ) { ListedPodcast($0) }
  }

  static func results(_ condition: String, _ id: Int64, in database: Database) throws -> [ListedPodcast] {
    try rows(of: "result", "WHERE \(condition) AND t.state = 0 ORDER BY t.position", id, in: database)
  }

  static func subscriptions(in database: Database) throws -> [ListedPodcast] {
    try rows(of: "subscription", "ORDER BY t.name_key", in: database)
  }

  static func subscription(_ id: Int64, in database: Database) throws -> ListedPodcast? {
    try rows(of: "subscription", "WHERE t.id = ?", id, in: database).first
  }

  static func subscription(at address: WebAddress, in database: Database) throws -> ListedPodcast? {
    try rows(of: "subscription", "WHERE f.feed_key = ?", FeedKey.text(address), in: database).first
  }
}
