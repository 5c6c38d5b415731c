internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them.
/// The page that is to be read next is kept: where the walk is interrupted, or a page cannot be had, a later
/// refresh goes on with it.
struct ArchiveWalk: Sendable {
  let run: RefreshRun
  private var pages = PagesRead()
  private var archiveBytes: Int64 { run.feeds.archiveBytes }

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
    _ feed: FetchedFeed, _ merged: FeedMerge.Merged, isFirst: Bool, isCut: Bool, podcast: Int64, now: Int64,
    in database: Database
  ) throws {
    // Where the first that came broke off before it named the next page, the next that comes does.
    let isFirst = try isFirst || ArchiveRows.isFirstStillToCome(podcast, in: database)
    if isCut, isFirst, feed.nextPageURL == nil {
      return try ArchiveRows.firstIsStillToCome(podcast, true, in: database)
    }
    if !isCut { try ArchiveRows.firstIsStillToCome(podcast, false, in: database) }
    if !merged.outcome.newEpisodes.isEmpty { try ArchiveRows.episodesCame(podcast, in: database) }
    if let next = feed.nextPageURL, next.isWeb {
      // Not each time: some hosts give other addresses at each.
      let isReaddressed =
        try merged.isReaddressed
        && ArchiveRows.readdress(podcast, now: now, period: readdressing, in: database)
      if isFirst || isReaddressed || merged.reachesBack {
        try ArchiveRows.begin(podcast, at: next, isWhole: isFirst || isReaddressed, in: database)
      }
    }
    try ArchiveRows.keepTime(podcast, now: now, in: database)
  }

  /// Seconds between two walks because of other addresses.
  private static let readdressing: Int64 = 7 * day

  /// Has what processes that have ended have left unread asked for at once, where nothing failed.
  static func haveOpenOnesRead(_ store: CatalogStore, now: Int64) throws {
    guard try store.read({ try ArchiveRows.isAnyOpen(now: now, in: $0) }) else { return }
    try store.write(.refresh) { try ArchiveRows.haveOpenOnesRead(now: now, in: $0) }
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
    let request = run.feeds.feedRequest(
      address, of: run.state, privateHosts: privateHosts, bytes: PagesRead.pageBytes)
    run.fetch(request) { result in
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
      if let refusal = try? refusal(answer) {
        fail(refusal)
      } else if let cut = answer.cut, case .feed(let feed) = answer.content {
        // What has come of it stays, and the page is asked for again.
        _ = try? FeedMerge(
          store: run.feeds.store, podcast: podcast, now: run.now, isSerial: feed.isSerial
        ).merge(feed.episodes) {
          _, changes, merged in changes += merged.changes(of: podcast)
        }
        fail(FeedFailure(cut))
      } else if case .feed(let feed) = answer.content {
        // Where the catalogue's file fails, the next refresh reads the page again.
        following = try? walk.store(feed, bytes: answer.bytes)
      } else {
        fail(FeedFailure(status: answer.head, now: run.now))
      }
    case .failure(let failure): fail(failure)
    }
    if let following, !pages.areEnough { return walk.read(following, privateHosts) }
    run.feeds.table.withLock { $0.endWalk(podcast) }
  }

  /// Why a page that redirects have led to is not to be taken.
  private func refusal(_ answer: FeedAnswer) throws -> FeedFailure? {
    guard case .feed(let feed) = answer.content, !answer.head.redirects.isEmpty,
      let state = try run.feeds.store.read({ try FeedState(podcast: podcast, in: $0) })
    else { return nil }
    return try RedirectedFeed(
      feed: feed, head: answer.head, state: state, store: run.feeds.store, now: run.now
    ).refusalOfPage()
  }

  /// - Returns: the page after this one, if it is to be read.
  private mutating func store(_ feed: FetchedFeed, bytes: Int) throws -> WebAddress? {
    let next = pages.add(feed.episodes.lazy.map(\.parsed), next: feed.nextPageURL)
    // Of very many pages, a refresh in a while reads on.
    let soon = pages.areEnough ? wallClockSeconds() + Self.patience : nil
    var following: WebAddress?
    var isTooLong = false
    let (podcast, feeds) = (podcast, run.feeds)
    defer { feeds.texts.fill() }
    try FeedMerge(
      store: feeds.store, podcast: podcast, now: run.now, isSerial: feed.isSerial
    ).merge(feed.episodes) {
      database, changes, merged in
      let isWhole = try ArchiveRows.isReadWhole(podcast, in: database)
      let goesOn = isWhole || !merged.outcome.newEpisodes.isEmpty
      following = goesOn && merged.leftOut == 0 ? next : nil
      if following != nil, try ArchiveRows.add(bytes: bytes, to: podcast, in: database) > archiveBytes {
        (following, isTooLong) = (nil, true)
      }
      try ArchiveRows.pageCame(podcast, next: following, soon: soon, in: database)
      try FullPodcast.tell(podcast, in: database)
      changes += merged.changes(of: podcast)
      if merged.changesListing { try RefreshRows.listingChanged(podcast, in: database) }
    }
    if isTooLong {
      let size = archiveBytes >> 20
      feeds.log.write(
        "the archive of \(run.state.feedURL.shown) has more than \(size) MiB: older episodes are left out")
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
      guard var failures = try ArchiveRows.failures(of: podcast, now: now, in: database) else { return false }
      changes.append(.refreshed(podcast: podcast, newEpisodes: 0))
      if !failures.isEarly {
        failures.count += 1
        failures.gone = isGone ? failures.gone + 1 : 0
      }
      if failures.gone >= Self.timesGone {
        try ArchiveRows.end(podcast, in: database)
        return true
      }
      let wait =
        isGone
        ? Self.day << max(failures.gone - 1, 0)
        : min(Self.patience << min(failures.count - 1, 10), Self.day)
      let wish = failure.retryAfter.map { now + min(max($0, 0), 7 * Self.day) }
      try ArchiveRows.fail(podcast, failures, text: text, wish: wish, again: now + wait, in: database)
      return false
    }
    if isEnd == true {
      run.feeds.log.write("the archive of \(run.state.feedURL.shown) ends early: \(failure.error.message)")
    }
  }
}
