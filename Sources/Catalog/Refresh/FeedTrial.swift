internal import FeedKit
internal import PodcastModel

/// Looks whether the same podcast is at the address that its feed announces, and then goes by that address.
struct FeedTrial: Sendable {
  let run: RefreshRun
  let address: WebAddress

  /// Seconds until an address that was not the podcast's is tried again.
  private static let patience: Int64 = 7 * 24 * 3600

  func begin() {
    let request = run.feeds.feedRequest(address, privateHosts: run.state.isPrivate ? .allowed : .refused)
    run.fetch(request) { result in
      var feed: ParsedFeed?
      if case .success(let answer) = result, case .feed(let found) = answer.content { feed = found }
      // Where the catalogue's file fails, the next refresh tries again.
      try? judge(feed)
      ArchiveWalk(run: run).begin()
    }
  }

  private func judge(_ feed: ParsedFeed?) throws {
    let (feeds, id) = (run.feeds, run.state.id)
    if let feed, !feed.episodes.isEmpty {
      let overlap = try FeedMerge(store: feeds.store, podcast: id, now: run.now).overlap(feed.episodes)
      if try overlap.known == 0 || overlap.common > 0 || hasSameGuid(feed) {
        return try PodcastMerge(feeds: feeds, now: run.now).merge(id, movedTo: address)
      }
    }
    try feeds.store.change(.refresh) { database, _ in
      try MoveRows.remember(
        address, since: run.now + Self.patience, isAnnounced: true, of: id, in: database)
    }
  }

  private func hasSameGuid(_ feed: ParsedFeed) throws -> Bool {
    guard let guid = feed.guid, guid == run.state.guid else { return false }
    return try run.feeds.store.read { database in
      let there = try PodcastRow.other(than: run.state.id, at: address, in: database)
      return try PodcastRow.isGuid(guid, ofNoneBut: [run.state.id, there ?? run.state.id], in: database)
    }
  }
}
