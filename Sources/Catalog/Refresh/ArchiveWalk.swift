internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them.
/// The page that is to be read next is kept: where the walk is interrupted, or a page cannot be had, a later
/// refresh goes on with it.
struct ArchiveWalk: Sendable {
  let run: RefreshRun
  var visited: Set<WebAddress> = []

  /// The most pages at one refresh.
  private static let pageLimit = 200
  /// Seconds until a page that failed is asked for again: twice as many each time, up to a day.
  private static let patience: Int64 = 900
  private static let longestPatience: Int64 = 24 * 3600

  private var podcast: Int64 { run.state.id }

  init(run: RefreshRun) { self.run = run }

  /// Notes the next page, where there is something to find behind the first. A feed that is seen for the first
  /// time is read to its end; later all that has come since is.
  static func note(
    _ feed: ParsedFeed, _ merged: FeedMerge.Merged, isFirst: Bool, podcast: Int64, in database: Database
  ) throws {
    if !merged.outcome.newEpisodes.isEmpty {
      // What is still to be read has moved on to later pages: a page that brings nothing new is not its end.
      try database.run("UPDATE podcast SET walks_whole = 1 WHERE id = ? AND next_page IS NOT NULL", podcast)
    }
    guard isFirst || merged.reachesBack, let next = feed.nextPageURL, next.isWeb else { return }
    try database.run(
      """
      UPDATE podcast SET next_page = ?, walks_whole = max(walks_whole, ?), page_failures = 0,
        page_not_before = NULL
      WHERE id = ?
      """, next.forRequest, isFirst, podcast)
  }

  /// Reads the page that is noted, if one is and its time has come.
  func begin() {
    let state = try? run.feeds.store.read { try FeedState(podcast: podcast, in: $0) }
    guard let state, let page = state.nextPage, (state.pageNotBefore ?? 0) <= wallClockSeconds(),
      run.feeds.table.withLock({ $0.beginWalk(podcast) })
    else { return }
    read(page, state.isPrivate ? .allowed : .refused)
  }

  private func read(_ page: WebAddress, _ privateHosts: FeedRefresher.PrivateHosts) {
    var walk = self
    walk.visited.insert(page)
    let next = walk
    let address = FeedCredentials.lent(by: run.state.feedURL, to: page)
    run.fetch(run.feeds.feedRequest(address, privateHosts: privateHosts)) { result in
      next.received(result, privateHosts)
    }
  }

  private func received(
    _ result: Result<FeedAnswer, FeedFailure>, _ privateHosts: FeedRefresher.PrivateHosts
  ) {
    var following: WebAddress?
    switch result {
    case .success(let answer):
      if case .feed(let feed) = answer.content {
        // Where the catalogue's file fails, the next refresh reads the page again.
        following = try? keep(feed)
      } else {
        fail(FeedFailure(status: answer.head, now: run.now))
      }
    case .failure(let failure): fail(failure)
    }
    if let following, visited.count < Self.pageLimit { return read(following, privateHosts) }
    // Of very many pages, the next refresh reads on.
    run.feeds.table.withLock { $0.endWalk(podcast) }
  }

  /// - Returns: the page after this one, if it is to be read.
  private func keep(_ feed: ParsedFeed) throws -> WebAddress? {
    // Pages that lead back to each other end here.
    let next = feed.nextPageURL.flatMap { $0.isWeb && !visited.contains($0) ? $0 : nil }
    var following: WebAddress?
    defer { run.feeds.texts.fill() }
    try FeedMerge(store: run.feeds.store, podcast: podcast, now: run.now).merge(feed.episodes) {
      database, changes, merged in
      let isWhole = try database.exists("SELECT 1 FROM podcast WHERE id = ? AND walks_whole = 1", podcast)
      if isWhole || !merged.outcome.newEpisodes.isEmpty { following = next }
      try database.run(
        """
        UPDATE podcast SET next_page = ?, walks_whole = CASE WHEN ?1 IS NULL THEN 0 ELSE walks_whole END,
          error = CASE WHEN page_failures > 0 THEN NULL ELSE error END, page_failures = 0, page_not_before = NULL
        WHERE id = ?
        """, following?.forRequest, podcast)
      changes += merged.changes(of: podcast)
      if merged.changesListing { try RefreshRun.touch(podcast, in: database) }
    }
    return following
  }

  /// A page that is gone ends the archive; any other failure is told, and the page is asked for again.
  private func fail(_ failure: FeedFailure) {
    if failure.isCancelled { return }
    let isGone = failure.isGone || failure.error.errno == .ENOENT
    if isGone {
      run.feeds.log.write("the archive of \(run.state.feedURL.shown) ends early: \(failure.error.message)")
    }
    _ = try? run.feeds.store.change(.refresh) { database, changes in
      if isGone {
        try database.run("UPDATE podcast SET next_page = NULL, walks_whole = 0 WHERE id = ?", podcast)
        return
      }
      let failures = try database.first("SELECT page_failures FROM podcast WHERE id = ?", podcast) {
        $0.int64(0)
      }
      let wait = min(Self.patience << min(failures ?? 0, 10), Self.longestPatience)
      let time = wallClockSeconds() + max(wait, min(failure.retryAfter ?? 0, 7 * Self.longestPatience))
      try database.run(
        """
        UPDATE podcast SET page_failures = page_failures + 1, page_not_before = ?1,
          next_refresh = min(coalesce(next_refresh, ?1), ?1), error = ?2
        WHERE id = ?3
        """, time, "older episodes could not be fetched yet: \(failure.error.message)", podcast)
      changes.append(.refreshed(podcast: podcast, newEpisodes: 0))
    }
  }
}
