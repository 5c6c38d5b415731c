package import Catalog
package import PodcastModel

/// What the server says of subscriptions since it was asked last.
package struct SubscriptionNews: Hashable, Sendable {
  package var added: [WebAddress]
  package var removed: [WebAddress]
  /// To be asked with next, by the server's clock.
  package var time: Int64

  package init(added: [WebAddress] = [], removed: [WebAddress] = [], time: Int64) {
    self.added = added
    self.removed = removed
    self.time = time
  }
}

/// What a synchronization does about subscriptions.
package struct SubscriptionPlan: Hashable, Sendable {
  /// Feeds that another device follows, and this one does from now on.
  package var follow: [WebAddress] = []
  package var unfollow: [FollowedFeed] = []
  /// Feeds that the server is to be told of.
  package var add: [ServerFeed] = []
  package var remove: [ServerFeed] = []
  /// What both have, apart from what is to be uploaded and taken away.
  package var common: [ServerFeed] = []

  /// Compares what is followed here with what both had and with the server's news.
  /// - Parameters:
  ///   - common: what both had at the last synchronization.
  ///   - scope: how much `news` holds.
  ///   - uploadsAll: whether addresses with credentials or tokens are uploaded too.
  package init(
    local: [FollowedFeed], common: [ServerFeed], news: SubscriptionNews, scope: Scope, uploadsAll: Bool
  ) {
    var index = LocalIndex(local)
    var shared = CommonIndex(common)
    for url in news.added {
      let key = FeedKey.text(url)
      if index.feed(key) != nil || shared.feed(key).flatMap({ index.feed($0.key) }) != nil {
        if shared.feed(key) == nil { shared.insert(ServerFeed(url: url)) }
        shared.note(key)
      } else if let feed = shared.feed(key), scope != .first {
        // It is unfollowed here since.
        shared.note(feed.key)
      } else if url.isWeb {
        follow.append(url)
        index.expect(key)
        shared.insert(ServerFeed(url: url))
        shared.note(key)
      }
    }
    for url in news.removed {
      let key = FeedKey.text(url)
      let feed = shared.feed(key)
      // Followed here since, it is uploaded again. The first synchronization takes nothing away.
      if scope != .first, let feed, let here = index.feed(feed.key) ?? index.feed(key) {
        unfollow.append(here)
        index.forget(here)
      }
      if let feed { shared.remove(feed.key) }
    }
    // A server that has lost one is told of it again: that it is missing there says nothing of the user's wish.
    if scope == .whole { shared.removeUnnoted() }
    remove = shared.feeds.filter { !index.has($0.key) && !$0.isRefused }
    self.common = shared.feeds.filter { index.has($0.key) }
    let known = Set(self.common.flatMap { [$0.key, FeedKey.text($0.url)] })
    add = index.local.filter { feed in
      (uploadsAll || feed.isPublic) && !feed.keys.contains(where: known.contains)
    }.map { ServerFeed(url: $0.url) }
  }

  package enum Scope: Hashable, Sendable {
    /// All that the server has, at the first synchronization: both sides are merged.
    case first
    /// All that the server has.
    case whole
    /// What has changed.
    case changes
  }
}

/// What is followed here, by the keys of all its addresses.
private struct LocalIndex {
  private(set) var local: [FollowedFeed]
  private var byKey: [String: FollowedFeed] = [:]
  private var expected: Set<String> = []

  init(_ local: [FollowedFeed]) {
    self.local = local
    for feed in local {
      for key in feed.keys where byKey[key] == nil { byKey[key] = feed }
    }
  }

  func feed(_ key: String) -> FollowedFeed? { byKey[key] }

  /// Whether it is followed, or about to be.
  func has(_ key: String) -> Bool { byKey[key] != nil || expected.contains(key) }

  mutating func expect(_ key: String) { expected.insert(key) }

  mutating func forget(_ feed: FollowedFeed) {
    local.removeAll { $0.podcast == feed.podcast }
    byKey = byKey.filter { $0.value.podcast != feed.podcast }
  }
}

/// What both have, by the keys of the addresses that either side writes.
private struct CommonIndex {
  private var byKey: [String: ServerFeed]
  private var aliases: [String: String] = [:]
  private var noted: Set<String> = []

  init(_ feeds: [ServerFeed]) {
    byKey = Dictionary(feeds.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    for feed in feeds { aliases[FeedKey.text(feed.url)] = feed.key }
  }

  var feeds: [ServerFeed] { byKey.values.sorted { $0.key < $1.key } }

  func feed(_ key: String) -> ServerFeed? { byKey[key] ?? aliases[key].flatMap { byKey[$0] } }

  mutating func insert(_ feed: ServerFeed) { byKey[feed.key] = feed }

  mutating func remove(_ key: String) { byKey[key] = nil }

  /// The server has named it.
  mutating func note(_ key: String) {
    if let feed = feed(key) { noted.insert(feed.key) }
  }

  mutating func removeUnnoted() { byKey = byKey.filter { noted.contains($0.key) || $0.value.isRefused } }
}
