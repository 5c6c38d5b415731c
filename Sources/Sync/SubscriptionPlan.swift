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
      let known = shared.feeds(FeedKey.text(url))
      let keys = [FeedKey.text(url)] + known.map(\.key)
      let key = keys.first(where: index.has) ?? keys[0]
      if !index.has(key) && (known.isEmpty || scope == .first) {
        guard url.isWeb else { continue }
        follow.append(url)
        index.expect(key)
      }
      // What both had, and is not here, is unfollowed here since.
      shared.list(ServerFeed(url: url, key: key, state: .listed))
    }
    for url in news.removed {
      let key = FeedKey.text(url)
      let known = shared.feeds(key)
      // Followed here since, it is uploaded again. The first synchronization takes nothing away. The server may have the
      // same feed under another spelling, by another device.
      if scope != .first, !known.isEmpty,
        let here = ([key] + known.map(\.key)).lazy.compactMap({ index.feed($0) }).first,
        !here.keys.flatMap({ shared.feeds($0) }).contains(where: { $0.state == .listed && $0.url != url })
      {
        unfollow.append(here)
        index.forget(here)
      }
      shared.remove(url)
    }
    // A server that has lost one is told of it again: that it is missing there says nothing of the user's wish.
    if scope == .whole { shared.removeUnlisted() }
    remove = shared.feeds.filter { !index.has($0.key) && $0.state != .refused }
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

/// What both have. The server may have one feed under several spellings.
private struct CommonIndex {
  private var byURL: [WebAddress: ServerFeed]
  /// By the keys of the addresses that either side writes.
  private var byKey: [String: Set<WebAddress>] = [:]
  private var listed: Set<WebAddress> = []

  init(_ feeds: [ServerFeed]) {
    byURL = [:]
    for feed in feeds { insert(feed) }
  }

  var feeds: [ServerFeed] {
    byURL.values.sorted { ($0.key, $0.url.forRequest) < ($1.key, $1.url.forRequest) }
  }

  func feeds(_ key: String) -> [ServerFeed] { byKey[key, default: []].compactMap { byURL[$0] } }

  private mutating func insert(_ feed: ServerFeed) {
    byURL[feed.url] = feed
    for key in [feed.key, FeedKey.text(feed.url)] { byKey[key, default: []].insert(feed.url) }
  }

  /// The server has named it.
  mutating func list(_ feed: ServerFeed) {
    insert(feed)
    listed.insert(feed.url)
  }

  mutating func remove(_ url: WebAddress) { byURL[url] = nil }

  mutating func removeUnlisted() {
    byURL = byURL.filter { listed.contains($0.key) || $0.value.state == .refused }
  }
}
