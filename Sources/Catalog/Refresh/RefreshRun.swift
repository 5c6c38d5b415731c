internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// One refresh of one podcast, from the request to the commit.
struct RefreshRun: Sendable {
  let catalog: Catalog
  let state: FeedState
  /// When it began, in seconds since 1970.
  let now: Int64

  private var id: Int64 { state.id }

  func begin() {
    ask(Catalog.privateHosts(state))
  }

  private func ask(_ privateHosts: Catalog.PrivateHosts) {
    let isConditional = state.isConditional(now: now)
    let request = catalog.feedRequest(
      state.feedURL, conditional: isConditional ? state : nil, privateHosts: privateHosts)
    fetch(request) { result in
      switch result {
      case .failure(let failure)
      where failure.isRefusedAddress && state.mayBePrivate && privateHosts == .refused:
        ask(.allowedWithoutRedirects)
      case .failure(let failure): fail(failure)
      case .success(let answer):
        if let feed = answer.feed { keep(feed, answer) } else { receivedNoFeed(answer.head, isConditional) }
      }
    }
  }

  /// Calls `completion` on a thread that may write.
  func fetch(_ request: HTTPRequest, completion: @escaping FeedReceiver.Completion) {
    let number = catalog.refreshes.withLock { table in
      table.activities += 1
      return table.nextRequest()
    }
    let task = catalog.http.start(
      request,
      receiver: FeedReceiver { result in
        catalog.refreshes.withLock { $0.ended(number) }
        catalog.work.async {
          completion(result)
          // What comes behind it has begun by now.
          catalog.refreshes.withLockNotifying { $0.activities -= 1 }
        }
      })
    let isWanted = catalog.refreshes.withLock { $0.began(number) { task.cancel() } }
    if !isWanted { task.cancel() }
  }

  private func receivedNoFeed(_ head: HTTPResponseHead, _ isConditional: Bool) {
    guard head.status == 304, isConditional else {
      return fail(
        head.status / 100 == 2 || head.status == 304
          ? FeedFailure(
            CatalogError(
              .EPROTO,
              "HTTP \(head.status) instead of a feed from \(state.feedURL.host ?? "the server")"))
          : FeedFailure(status: head, now: now))
    }
    let move = FeedMove(state: state, announced: nil, redirected: head.permanentLocation, now: now)
    finish {
      try catalog.change(.refresh) { database, changes in
        let next = times.next(
          now: now, timeToLive: state.timeToLive,
          maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
        try database.run(
          """
          UPDATE podcast SET last_refresh = ?, next_refresh = ?, error = NULL, failures = 0, not_before = NULL,
            claimed_until = NULL
          WHERE id = ?
          """, now, next, id)
        try move.keep(in: database)
        try ProvisionalNames.settle(podcast: id, in: database, &changes)
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
        return .unchanged
      }
    }
    follow(move)
  }

  /// Puts a feed that has come into the catalogue.
  func keep(_ feed: ParsedFeed, _ answer: FeedAnswer) {
    let move = FeedMove(
      state: state, announced: feed.newFeedURL, redirected: answer.head.permanentLocation, now: now)
    finish {
      let hadNone = state.lastRefresh == nil
      return try FeedMerge(catalog: catalog, podcast: id, now: now).merge(feed.episodes) {
        database, changes, merged in
        let isChanged = try ChannelMerge.merge(feed, into: id, in: database)
        try keepTimes(feed, answer.head, in: database)
        try move.keep(in: database)
        try ArchiveWalk.note(feed, merged, isFirst: hadNone, podcast: id, in: database)
        if hadNone {
          changes.append(.podcast(id))
        } else {
          if isChanged { changes.append(.facts(podcast: id)) }
          changes += merged.changes(of: id)
        }
        try ProvisionalNames.settle(podcast: id, in: database, &changes)
        changes.append(.refreshed(podcast: id, newEpisodes: merged.outcome.newEpisodes.count))
        if isChanged || merged.changesListing { try Self.touch(id, in: database) }
      }
    }
    follow(move)
  }

  /// What comes behind a refresh: where the feed has moved to, then its further pages.
  private func follow(_ move: FeedMove) {
    switch move.next {
    case .tryOut(let address): FeedTrial(run: self, address: address).begin()
    case .merge(let address):
      // Where this fails the next refresh tries again.
      try? PodcastMerge(catalog: catalog, now: now).merge(id, movedTo: address)
      ArchiveWalk(run: self).begin()
    case nil: ArchiveWalk(run: self).begin()
    }
  }

  /// What its directories list has changed.
  static func touch(_ podcast: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET changed = ? WHERE id = ?", wallClockNanoseconds(), podcast)
    if try database.exists("SELECT 1 FROM podcast WHERE id = ? AND is_followed = 1", podcast) {
      try Folder.latest.touch(in: database)
      try SubscriptionList.measure(podcast: podcast, in: database)
    }
  }

  private func keepTimes(_ feed: ParsedFeed, _ head: HTTPResponseHead, in database: Database) throws {
    let next = times.next(
      now: now, timeToLive: feed.timeToLive,
      maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
    try database.run(
      """
      UPDATE podcast SET last_refresh = ?, next_refresh = ?, last_whole = ?, error = NULL, failures = 0,
        not_before = NULL, claimed_until = NULL, etag = ?, last_modified = ?, is_private = ?, ttl = ?,
        guid = coalesce(?, guid)
      WHERE id = ?
      """, now, next, now, head.value("etag"), head.value("last-modified"), head.isFromPrivateHost,
      feed.timeToLive, feed.guid, id)
  }

  private func fail(_ failure: FeedFailure) {
    if failure.isCancelled { return catalog.finishRefresh(id, .failure(.cancelled)) }
    let next = times.next(
      now: now, afterFailures: state.failures + 1, isGone: failure.isGone,
      isAway: failure.error.errno == .ENETUNREACH,
      retryAfter: failure.retryAfter)
    // The first of a row: a host that is away for a week is one line.
    if state.failures == 0 {
      catalog.log.write("cannot refresh \(state.feedURL.shown): \(failure.error.messageWithAdvice)")
    }
    let notBefore = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
    finish {
      try catalog.change(.refresh) { database, changes in
        try database.run(
          """
          UPDATE podcast SET error = ?, failures = failures + 1, next_refresh = ?, not_before = ?,
            claimed_until = NULL
          WHERE id = ?
          """, failure.error.message, next, notBefore, id)
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
      throw failure.error
    }
  }

  /// Writes, then tells those who wait what came of it.
  private func finish(_ body: () throws -> RefreshOutcome) {
    do {
      catalog.finishRefresh(id, .success(try body()))
    } catch {
      catalog.finishRefresh(id, .failure(CatalogError(wrapping: error)))
    }
  }

  private var times: RefreshTimes {
    RefreshTimes(interval: catalog.feedSettings(state.feedURL)?.refresh ?? catalog.settings.refresh)
  }
}
