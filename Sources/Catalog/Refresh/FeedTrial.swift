internal import FeedKit
internal import PodcastModel

/// Looks whether the same podcast is at the address that its feed announces, and then goes by that address. Where the feed
/// there announces another one, it is looked for at the end of that way; one that leads back leads nowhere: feeds that
/// announce each other stay where they are.
struct FeedTrial: Sendable {
  let run: RefreshRun
  let address: WebAddress
  /// The addresses before this one.
  private var way: [WebAddress] = []
  /// What was at the last of them.
  private var last: FetchedFeed?

  /// Addresses that are looked at one behind the other.
  private static let longestWay = 4

  init(run: RefreshRun, address: WebAddress) {
    self.run = run
    self.address = address
  }

  func begin() {
    let request = run.feeds.feedRequest(
      address, of: run.state, privateHosts: run.state.isPrivate ? .allowed : .refused)
    run.fetch(request) { result in
      var feed: FetchedFeed?
      if case .success(let answer) = result, case .feed(let found) = answer.content { feed = found }
      if let feed, let announced = announced(by: feed) {
        if let next = next(announced, feed) { return next.begin() }
        try? refuse()
      } else {
        // Where the catalogue's file fails, the next refresh tries again.
        try? judge(feed)
      }
      ArchiveWalk(run: run).begin()
    }
  }

  /// Where the feed at `address` says that it has moved itself.
  private func announced(by feed: FetchedFeed) -> WebAddress? {
    guard let announced = feed.newFeedURL, FeedKey.text(announced) != FeedKey.text(address) else {
      return nil
    }
    if FeedKey.text(announced) == FeedKey.text(run.state.feedURL) { return run.state.feedURL }
    return FeedMove.candidate(announced, from: run.state)
  }

  /// - Returns: nil where it leads back, or too far.
  private func next(_ announced: WebAddress, _ feed: FetchedFeed) -> FeedTrial? {
    let key = FeedKey.text(announced)
    guard way.count + 1 < Self.longestWay,
      !([run.state.feedURL] + way).contains(where: { FeedKey.text($0) == key })
    else { return nil }
    var next = FeedTrial(run: run, address: announced)
    next.way = way + [address]
    next.last = feed
    return next
  }

  private func judge(_ feed: FetchedFeed?) throws {
    if let feed {
      if try isSame(feed, at: address) { return try follow(address) }
    } else if let last, let address = way.last, try isSame(last, at: address) {
      // Nothing is at the end of the way, but there.
      return try follow(address)
    }
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
        way.first ?? address, since: run.now + FeedMove.patience, isAnnounced: true, of: run.state.id,
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
