internal import Catalog
internal import PodcastModel

/// Joins what the server says with the catalogue, within one transaction.
struct SyncMerge: Sendable {
  let news: SubscriptionNews
  let scope: SubscriptionPlan.Scope
  let reports: [EpisodeReport]
  /// The server has no other reports.
  let hasAllReports: Bool
  let uploadsAll: Bool
  let margin: Int
  /// The server is on a private network.
  let isPrivate: Bool
  let clock: SyncClock
  /// By our clock.
  let now: Int64

  struct Merged: Sendable {
    var subscriptions: SubscriptionPlan
    var episodes: EpisodePlan
  }

  /// What would be done.
  func plan(_ rows: SyncRows) throws -> Merged {
    let subscriptions = SubscriptionPlan(
      local: try rows.followedFeeds(), common: try rows.serverFeeds(), news: news, scope: scope,
      uploadsAll: uploadsAll)
    return Merged(subscriptions: subscriptions, episodes: try episodes(rows, common: subscriptions.common))
  }

  func apply(_ rows: inout SyncRows) throws -> Merged {
    let known = try rows.serverFeeds()
    var subscriptions = SubscriptionPlan(
      local: try rows.followedFeeds(), common: known, news: news, scope: scope, uploadsAll: uploadsAll)
    for url in subscriptions.follow where try !rows.follow(url, mayBePrivate: isPrivate) {
      subscriptions.follow.removeAll { $0 == url }
      subscriptions.common.removeAll { $0.key == FeedKey.text(url) }
    }
    for feed in subscriptions.unfollow { try rows.unfollow(feed) }
    let kept = Set((subscriptions.common + subscriptions.remove).map(\.url))
    for feed in known where !kept.contains(feed.url) { try rows.remove(feed) }
    for feed in subscriptions.common where !known.contains(feed) { try rows.save(feed) }
    let episodes = try episodes(rows, common: subscriptions.common)
    for (id, state) in episodes.notes { try rows.save(state, of: id) }
    for (episode, state, exchanged) in episodes.applied {
      try rows.apply(state, to: episode.id)
      try rows.save(exchanged, of: episode.id)
    }
    for report in episodes.awaited { try rows.keep(report, now: now) }
    try rows.giveUpOldReports(now: now)
    return Merged(subscriptions: subscriptions, episodes: episodes)
  }

  private func episodes(_ rows: SyncRows, common: [ServerFeed]) throws -> EpisodePlan {
    var podcasts: [String: Int64] = [:]
    for feed in try rows.followedFeeds() {
      for key in feed.keys { podcasts[key] = podcasts[key] ?? feed.podcast }
    }
    for feed in common {
      if let podcast = podcasts[feed.key] { podcasts[FeedKey.text(feed.url)] = podcast }
    }
    let matching = try ReportMatching(reports, feeds: podcasts) { try rows.lookup(inPodcast: $0) }
    let pending = try rows.pending()
    // What the server has lost is uploaded again.
    let known = Set(matching.matched.keys).union(hasAllReports ? try rows.exchanged() : [])
    let further = known.subtracting(pending.map(\.id))
    var plan = EpisodePlan(
      matching.matched, pending + (try rows.episodes(further.sorted())), clock: clock, margin: margin,
      isWhole: hasAllReports)
    plan.awaited = matching.awaited.filter { $0.time != ServerAction.noTime }
    return plan
  }
}

extension SyncOutcome {
  mutating func take(_ merged: SyncMerge.Merged) {
    added = merged.subscriptions.follow
    removed = merged.subscriptions.unfollow.map(\.url)
    uploadedFeeds = merged.subscriptions.add.count
    removedFeeds = merged.subscriptions.remove.count
    episodes = merged.episodes.applied.count
    uploadedEpisodes = merged.episodes.uploads.count
    awaited = merged.episodes.awaited.count
  }
}
