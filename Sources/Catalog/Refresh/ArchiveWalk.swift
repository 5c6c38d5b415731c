internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them.
/// The page that is to be read next is kept: where the walk is interrupted, or a page cannot be had, a later
/// refresh goes on with it.
struct ArchiveWalk: Sendable {
  let run: RefreshRun
  private var pages = PagesRead()

  /// Seconds until a page that failed is asked for again: twice as many each time, up to a day.
  private static let patience: Int64 = 900
  private static let day: Int64 = 24 * 3600
  /// How often a page must not be there, 1, 2 and 4 days after each other, until that is believed.
  private static let timesGone = 4

  private var podcast: Int64 { run.state.id }

  init(run: RefreshRun) { self.run = run }
}

// What is noted of an archive by the refreshes of its feed; within their transactions.
extension ArchiveWalk {
  /// Notes the next page, where there is something to find behind the first. A feed that is seen for the first
  /// time is read to its end; later all that has come since is.
  static func note(
    _ feed: ParsedFeed, _ merged: FeedMerge.Merged, isFirst: Bool, podcast: Int64, now: Int64,
    in database: Database
  ) throws {
    if !merged.outcome.newEpisodes.isEmpty {
      // What is still to be read has moved on to later pages: a page that brings nothing new is not its end.
      try database.run("UPDATE podcast SET walks_whole = 1 WHERE id = ? AND next_page IS NOT NULL", podcast)
    }
    if let next = feed.nextPageURL, next.isWeb {
      let isReaddressed = merged.isReaddressed ? try readdress(podcast, now: now, in: database) : false
      if isFirst || isReaddressed || merged.reachesBack {
        try database.run(
          """
          UPDATE podcast SET next_page = ?, walks_whole = max(walks_whole, ?), page_failures = 0, page_gone = 0,
            page_error = NULL, page_not_before = NULL
          WHERE id = ?
          """, next.forRequest, isFirst || isReaddressed, podcast)
      }
    }
    try keepTime(podcast: podcast, now: now, in: database)
  }

  /// Seconds between two walks because of other addresses: some hosts give others each time.
  private static let readdressing: Int64 = 7 * day

  /// - Returns: whether it is long enough ago that all pages were read again.
  private static func readdress(_ podcast: Int64, now: Int64, in database: Database) throws -> Bool {
    try database.run(
      """
      UPDATE podcast SET readdressed = ?1 WHERE id = ?2
        AND (readdressed IS NULL OR readdressed <= ?1 - ?3 OR readdressed > ?1)
      """, now, podcast, readdressing)
    return database.changedRows > 0
  }

  /// After a refresh that has had an answer: what its archive still lacks is told as before, and is asked for when
  /// its own time comes.
  static func keepTime(podcast: Int64, now: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET error = page_error,
        next_refresh = CASE WHEN page_not_before > ?1 THEN min(next_refresh, page_not_before) ELSE next_refresh END
      WHERE id = ?2 AND next_page IS NOT NULL AND page_error IS NOT NULL
      """, now, podcast)
  }

  /// Has what processes that have ended have left unread asked for at once, where nothing failed.
  static func haveOpenOnesRead(_ store: CatalogStore, now: Int64) throws {
    let condition = "next_page IS NOT NULL AND is_followed = 1 AND coalesce(page_not_before, 0) <= \(now)"
    guard
      try store.read({ database in
        try database.exists("SELECT 1 FROM podcast INDEXED BY podcast_paging WHERE \(condition)")
      })
    else { return }
    try store.write(.refresh) { database in
      try database.run("UPDATE podcast INDEXED BY podcast_paging SET next_refresh = 0 WHERE \(condition)")
    }
  }
}

// Reading.
extension ArchiveWalk {
  /// Reads the page that is noted, if one is and its time has come. Who asks for a refresh need not wait for that
  /// unless the server wishes it.
  func begin() {
    let now = wallClockSeconds()
    let state = try? run.feeds.store.read { try FeedState(podcast: podcast, in: $0) }
    guard let state, let page = state.nextPage, (state.pageRetryAfter ?? 0) <= now,
      run.isForced || (state.pageNotBefore ?? 0) <= now,
      run.feeds.table.withLock({ $0.beginWalk(podcast) })
    else { return }
    read(page, state.isPrivate ? .allowed : .refused)
  }

  private func read(_ page: WebAddress, _ privateHosts: FeedRefresher.PrivateHosts) {
    var walk = self
    walk.pages.begin(page)
    let next = walk
    let address = FeedCredentials.lent(by: run.state.feedURL, to: page)
    run.fetch(run.feeds.feedRequest(address, privateHosts: privateHosts)) { result in
      next.received(result, privateHosts)
    }
  }

  private func received(
    _ result: Result<FeedAnswer, FeedFailure>, _ privateHosts: FeedRefresher.PrivateHosts
  ) {
    var walk = self
    var following: WebAddress?
    switch result {
    case .success(let answer):
      if case .feed(let feed) = answer.content {
        // Where the catalogue's file fails, the next refresh reads the page again.
        following = try? walk.keep(feed)
      } else {
        fail(FeedFailure(status: answer.head, now: run.now))
      }
    case .failure(let failure): fail(failure)
    }
    if let following, !pages.areEnough { return walk.read(following, privateHosts) }
    run.feeds.table.withLock { $0.endWalk(podcast) }
  }

  /// - Returns: the page after this one, if it is to be read.
  private mutating func keep(_ feed: ParsedFeed) throws -> WebAddress? {
    let next = pages.add(feed.episodes, next: feed.nextPageURL)
    // Of very many pages, a refresh in a while reads on.
    let soon = pages.areEnough ? wallClockSeconds() + Self.patience : nil
    var following: WebAddress?
    let (podcast, feeds) = (podcast, run.feeds)
    defer { feeds.texts.fill() }
    try FeedMerge(store: feeds.store, podcast: podcast, now: run.now).merge(feed.episodes) {
      database, changes, merged in
      let isWhole = try database.exists("SELECT 1 FROM podcast WHERE id = ? AND walks_whole = 1", podcast)
      let goesOn = isWhole || !merged.outcome.newEpisodes.isEmpty
      following = goesOn && merged.leftOut == 0 ? next : nil
      try database.run(
        """
        UPDATE podcast SET next_page = ?1, walks_whole = CASE WHEN ?1 IS NULL THEN 0 ELSE walks_whole END,
          error = CASE WHEN error = page_error THEN NULL ELSE error END, page_error = NULL, page_failures = 0,
          page_gone = 0, page_not_before = NULL, page_retry_after = NULL,
          next_refresh = CASE WHEN ?1 IS NULL THEN next_refresh
            ELSE min(coalesce(next_refresh, ?2), coalesce(?2, next_refresh)) END
        WHERE id = ?3
        """, following?.forRequest, soon, podcast)
      try FullPodcast.tell(podcast, in: database)
      changes += merged.changes(of: podcast)
      if merged.changesListing { try RefreshRun.touch(podcast, in: database) }
    }
    return following
  }

  /// A failure is told, and the page is asked for again: one that is not there on some other days, before that is
  /// taken for the archive's end.
  private func fail(_ failure: FeedFailure) {
    if failure.isCancelled { return }
    let now = wallClockSeconds()
    let isGone = failure.isGone || failure.error.errno == .ENOENT
    let text = "older episodes could not be fetched yet: \(failure.error.message)"
    // What comes of a page that was asked for before its time says nothing about how long to wait for it.
    let isEnd = try? run.feeds.store.change(.refresh) { database, changes in
      let state = try database.first(
        "SELECT page_failures, page_gone, coalesce(page_not_before, 0) > ? FROM podcast WHERE id = ?", now,
        podcast
      ) { (min(max($0.int64(0), 0), 1000), min(max($0.int64(1), 0), 1000), $0.bool(2)) }
      guard let state else { return false }
      var (failures, gone) = (state.0, state.1)
      let isEarly = state.2
      changes.append(.refreshed(podcast: podcast, newEpisodes: 0))
      if !isEarly {
        failures += 1
        gone = isGone ? gone + 1 : 0
      }
      if gone >= Self.timesGone {
        try database.run(
          """
          UPDATE podcast SET next_page = NULL, walks_whole = 0,
            error = CASE WHEN error = page_error THEN NULL ELSE error END, page_error = NULL, page_failures = 0,
            page_gone = 0, page_not_before = NULL, page_retry_after = NULL
          WHERE id = ?
          """, podcast)
        return true
      }
      let wait = isGone ? Self.day << max(gone - 1, 0) : min(Self.patience << min(failures - 1, 10), Self.day)
      let wish = failure.retryAfter.map { now + min(max($0, 0), 7 * Self.day) }
      try database.run(
        """
        UPDATE podcast SET page_failures = ?1, page_gone = ?2, page_error = ?3, error = ?3, page_retry_after = ?4,
          page_not_before = max(CASE WHEN ?5 THEN page_not_before ELSE ?6 END, coalesce(?4, 0))
        WHERE id = ?7
        """, failures, gone, text, wish, isEarly, now + wait, podcast)
      try database.run(
        "UPDATE podcast SET next_refresh = min(coalesce(next_refresh, page_not_before), page_not_before) WHERE id = ?",
        podcast)
      return false
    }
    if isEnd == true {
      run.feeds.log.write("the archive of \(run.state.feedURL.shown) ends early: \(failure.error.message)")
    }
  }
}
