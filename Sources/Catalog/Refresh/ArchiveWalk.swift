internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found
/// them. Where it is interrupted the next refresh goes on.
struct ArchiveWalk: Sendable {
  let run: RefreshRun
  var visited: Set<WebAddress> = []

  /// The most pages at one refresh.
  private static let pageLimit = 200

  private var podcast: Int64 { run.state.id }

  init(run: RefreshRun) { self.run = run }

  /// Notes the next page, where there is something to find: when the feed is seen for the first time, and when
  /// all that a page has is new.
  static func note(
    _ feed: ParsedFeed, _ outcome: RefreshOutcome, isFirst: Bool, podcast: Int64, in database: Database
  ) throws {
    let isAllNew = !feed.episodes.isEmpty && outcome.newEpisodes.count == feed.episodes.count
    guard isFirst || isAllNew, let next = feed.nextPageURL, next.isWeb else { return }
    try database.run("UPDATE podcast SET next_page = ? WHERE id = ?", next.forRequest, podcast)
  }

  /// Reads the page that is noted, if one is.
  func begin() {
    let state = try? run.catalog.store.read { try FeedState(podcast: podcast, in: $0) }
    guard let page = state?.nextPage, run.catalog.refreshes.withLock({ $0.beginWalk(podcast) }) else {
      return
    }
    read(page, state?.isPrivate == true ? .allowed : .refused)
  }

  private func read(_ page: WebAddress, _ privateHosts: Catalog.PrivateHosts) {
    var walk = self
    walk.visited.insert(page)
    let next = walk
    let address = FeedCredentials.lent(by: run.state.feedURL, to: page)
    run.fetch(run.catalog.feedRequest(address, privateHosts: privateHosts)) { result in
      next.received(result, page, privateHosts)
    }
  }

  private func received(
    _ result: Result<FeedAnswer, FeedFailure>, _ page: WebAddress, _ privateHosts: Catalog.PrivateHosts
  ) {
    var following: WebAddress?
    switch result.map(\.feed) {
    case .success(let feed?): following = try? keep(feed)
    case .failure(let failure) where failure.isCancelled: break
    default: forgetPage()
    }
    guard let following, !visited.contains(following), visited.count < Self.pageLimit else {
      // Pages that lead back to each other; of very many, the next refresh reads on.
      if let following, visited.contains(following) { forgetPage() }
      return run.catalog.refreshes.withLock { $0.endWalk(podcast) }
    }
    read(following, privateHosts)
  }

  /// - Returns: the page after this one, if it is to be read.
  private func keep(_ feed: ParsedFeed) throws -> WebAddress? {
    try run.catalog.change(.refresh) { database, changes in
      let outcome = try FeedMerge(podcast: podcast, now: run.now, database: database).merge(feed.episodes)
      var next: WebAddress?
      if !outcome.newEpisodes.isEmpty, let page = feed.nextPageURL, page.isWeb { next = page }
      try database.run("UPDATE podcast SET next_page = ? WHERE id = ?", next?.forRequest, podcast)
      if outcome.changedCount > 0 {
        changes.append(.podcast(podcast))
      } else if let first = outcome.newEpisodes.first, let last = outcome.newEpisodes.last {
        changes.append(.newEpisodes(podcast: podcast, first: first, last: last))
      }
      if outcome != .unchanged { try RefreshRun.touch(podcast, in: database) }
      return next
    }
  }

  private func forgetPage() {
    // Where this fails the page is tried at the next refresh.
    _ = try? run.catalog.store.write(.refresh) {
      try $0.run("UPDATE podcast SET next_page = NULL WHERE id = ?", podcast)
    }
  }
}
