internal import FeedKit
internal import PodcastModel

/// Looks whether the same podcast is at the address that its feed announces, and then goes by that address.
struct FeedTrial: Sendable {
  let run: RefreshRun
  let address: WebAddress

  /// Seconds until an address that was not the podcast's is tried again.
  private static let patience: Int64 = 7 * 24 * 3600

  func begin() {
    let request = run.catalog.feedRequest(address, privateHosts: run.state.isPrivate ? .allowed : .refused)
    run.fetch(request) { result in
      let feed = (try? result.get())?.feed
      // Where the catalogue's file fails, the next refresh tries again.
      _ = try? run.catalog.change(.refresh) { database, _ in
        let merge = FeedMerge(podcast: run.state.id, now: run.now, database: database)
        if let feed, !feed.episodes.isEmpty, try merge.hasKnown(feed.episodes) {
          try FeedMove.follow(address, run.state.id, in: database)
        } else {
          try FeedMove.remember(address, since: run.now + Self.patience, of: run.state.id, in: database)
        }
      }
      ArchiveWalk(run: run).begin()
    }
  }
}
