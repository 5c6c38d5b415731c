internal import FeedKit
internal import PodcastModel

/// Looks whether the same podcast is at the address that its feed announces, and then goes by that address: one
/// step at a time.
struct FeedTrial: Sendable {
  let run: RefreshRun
  let address: WebAddress

  func begin() {
    let request = run.feeds.feedRequest(
      address, of: run.state, privateHosts: run.state.isPrivate ? .allowed : .refused)
    run.fetch(request) { result in
      var feed: FetchedFeed?
      if case .success(let answer) = result, case .feed(let found) = answer.content { feed = found }
      // Where the catalogue's file fails, the next refresh tries again.
      try? judge(feed)
      ArchiveWalk(run: run).begin()
    }
  }

  /// - Parameter feed: what is at the address; nil for no feed.
  private func judge(_ feed: FetchedFeed?) throws {
    if let feed, try isSame(feed, at: address) { return try follow(address) }
    try refuse()
  }

  private func isSame(_ feed: FetchedFeed, at address: WebAddress) throws -> Bool {
    if feed.episodes.isEmpty { return false }
    let merge = FeedMerge(store: run.feeds.store, podcast: run.state.id, now: run.now)
    let overlap = try merge.overlap(feed.episodes)
    return try overlap.other == 0 || overlap.common > 0 || hasSameGuid(feed, at: address)
  }

  private func follow(_ address: WebAddress) throws {
    let isFollowed = try run.feeds.store.change(.refresh) { database, changes in
      try MoveRows.follow(address, run.state.id, in: database, &changes)
    }
    if isFollowed { try Forgetting.finish(run.feeds.store) } else { try refuse() }
  }

  /// What the podcast's own feed announces is not tried again for a while.
  private func refuse() throws {
    try run.feeds.store.change(.refresh) { database, _ in
      try MoveRows.remember(
        address, since: run.now + FeedMove.patience, isAnnounced: true, of: run.state.id,
        in: database)
    }
  }

  private func hasSameGuid(_ feed: FetchedFeed, at address: WebAddress) throws -> Bool {
    guard let guid = feed.guid, guid == run.state.guid else { return false }
    return try run.feeds.store.read { database in
      let there = try PodcastRow.other(than: run.state.id, at: address, in: database)
      return try PodcastRow.isGuid(guid, ofNoneBut: [run.state.id, there ?? run.state.id], in: database)
    }
  }
}
