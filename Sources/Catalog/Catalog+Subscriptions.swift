internal import FeedKit
package import PodcastModel
internal import PosixKit

// What a user follows. Each verb is durable when it returns, and none needs the network.
extension Catalog {
  /// Subscribes to a search's result, which leaves its search until that is made again.
  /// - Parameter name: the directory's; nil for the one that the result has, numbered where that is taken.
  /// - Throws: EEXIST where the name is taken, or the podcast is subscribed to already.
  package func subscribe(result id: Int64, name: String? = nil) throws(CatalogError) -> ListedPodcast {
    try store.change { database, changes in
      guard let (podcast, ownName) = try SearchRows.result(id, in: database) else {
        throw CatalogError.unknown("result")
      }
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: ownName, in: database)
      let search = try SearchRows.setState(.subscribed, ofResult: id, in: database)
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
      throw CatalogError(.EINVAL, "not a feed address")
    }
    return try store.change { database, changes in
      let podcast = try PodcastRow.recordNamed(url, title: title, mayBePrivate: true, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      changes.append(.subscription(listed.id, podcast: podcast))
      return listed
    }
  }

  /// Its downloads and what is known of it stay; its hidden marks are forgotten.
  /// - Parameter id: the subscription's.
  package func unsubscribe(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let podcast = try SubscriptionRows.remove(id, in: database)
      // What was hidden in its directory does not come back there before that has gone.
      changes.append(.subscription(id, podcast: podcast))
      if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }

  /// A list that somebody copies to their directory has come there, or has gone.
  package func noteUpload() throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try Folder.uploads.touch(in: database)
      changes.append(.subscriptions)
    }
  }

  /// Gives a subscription's directory another name, which the list keeps too.
  /// - Parameter id: the subscription's.
  /// - Throws: EEXIST where the name is taken.
  package func rename(subscription id: Int64, to name: String) throws(CatalogError) {
    try store.change { database, changes in
      guard let podcast = try SubscriptionRows.rename(id, to: name, in: database) else { return }
      changes.append(.subscription(id, podcast: podcast))
    }
  }

  /// Gives a subscription another address of the same show, as one with a new token. Episodes, names and marks stay; the
  /// feed is asked for when a mount next looks for due ones.
  /// - Parameter id: the subscription's.
  /// - Throws: EINVAL for no address, EEXIST where another subscription has it.
  package func setFeedURL(_ address: String, ofSubscription id: Int64) throws(CatalogError) {
    guard let url = SubscriptionAddress.normalized(address) else {
      throw CatalogError(.EINVAL, "no address of a feed")
    }
    try store.change { database, changes in
      guard let listed = try ListedRow.subscription(id, in: database) else {
        throw CatalogError.unknown("subscription")
      }
      try FeedRecord.readdress(listed.podcast.id, to: url, in: database, &changes)
      changes.append(.subscription(id, podcast: listed.podcast.id))
    }
    try Forgetting.finish(store)
  }

  /// The subscription whose feed has this address, written in any way that means the same.
  package func subscription(feedURL: String) throws(CatalogError) -> ListedPodcast? {
    try store.read { try SubscriptionRows.subscription(feedURL: feedURL, in: $0) }
  }

  /// Whether a directory in `Subscriptions/` has this name, without regard to case.
  package func isTaken(subscriptionName name: String) throws(CatalogError) -> Bool {
    try store.read { try SubscriptionRows.isTaken(name, in: $0) }
  }
}
