internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// One refresh of one podcast, from the request to the commit.
struct RefreshRun: Sendable {
  let feeds: FeedRefresher
  let state: FeedState
  /// When it began, in seconds since 1970.
  let now: Int64
  /// Somebody has asked for it.
  var isForced = false

  private var id: Int64 { state.id }

  func begin() {
    // What a person asks for is asked for whole: some servers go on saying 304 after a change.
    ask(FeedRefresher.privateHosts(state), isConditional: !isForced && state.isConditional(now: now))
  }

  /// - Parameter refusal: why a private host was refused that may be meant all the same, if it leads nowhere else.
  private func ask(
    _ privateHosts: FeedRefresher.PrivateHosts, isConditional: Bool, after refusal: FeedFailure? = nil
  ) {
    let request = feeds.feedRequest(
      state.feedURL, of: state, isConditional: isConditional, privateHosts: privateHosts)
    fetch(request, known: state.saysMore(now: now) ? nil : state.digest) { result in
      switch result {
      // Who named the feed himself may mean a private host by an ordinary name: as long as it has never come from
      // a public one, whose owner could lead it there later.
      case .failure(let failure)
      where failure.isRefusedAddress && state.mayBePrivate && state.lastRefresh == nil
        && privateHosts == .refused:
        ask(.allowedWithoutRedirects, isConditional: isConditional, after: failure)
      case .failure(var failure):
        if failure.leadsElsewhere { failure = refusal ?? failure }
        if failure.isRefusedAddress, !state.mayBePrivate, state.lastRefresh == nil {
          failure.error = failure.error.withPrivateAdvice
        }
        fail(failure)
      case .success(let answer):
        switch answer.content {
        case .feed(let feed): store(feed, answer)
        case .same: unchanged(answer.head, isWhole: true)
        case .none where answer.head.status == 304 && isConditional:
          if RedirectedFeed.isAboutSame(notModified: answer.head, state) {
            unchanged(answer.head, isWhole: false)
          } else {
            ask(privateHosts, isConditional: false)
          }
        case .none: receivedNoFeed(answer.head)
        }
      }
    }
  }

  /// Calls `completion` on a thread that may write.
  /// - Parameter known: the digest of a body that need not be read again.
  func fetch(
    _ request: HTTPRequest, known: Int64? = nil,
    completion: @escaping @Sendable (Result<FeedAnswer, FeedFailure>) -> Void
  ) {
    let number = feeds.table.withLock { table in
      table.activities += 1
      return table.nextRequest()
    }
    let task = feeds.http.start(
      request,
      receiver: FeedReceiver { result in
        feeds.table.withLock { $0.ended(number) }
        feeds.threads.run(for: id) { isBehind in
          completion(
            result.flatMap {
              $0.read(
                known: known, now: now, by: feeds.reader,
                isBehind: isBehind)
            })
          // What comes behind it has begun by now.
          feeds.table.withLockNotifying { $0.activities -= 1 }
        }
      })
    let isWanted = feeds.table.withLock { $0.began(number) { task.cancel() } }
    if !isWanted { task.cancel() }
  }

  private func receivedNoFeed(_ head: HTTPResponseHead) {
    guard head.status / 100 == 2 || head.status == 304 else {
      fail(FeedFailure(status: head, now: now))
      return
    }
    let host = state.feedURL.host ?? "the server"
    fail(FeedFailure(CatalogError(.EPROTO, "HTTP \(head.status) instead of a feed from \(host)")))
  }

  /// The feed is as it was.
  /// - Parameter isWhole: it came, and is the same.
  private func unchanged(_ head: HTTPResponseHead, isWhole: Bool) {
    feeds.network.reached(state.feedURL.host ?? "")
    let move = FeedMove(
      state: state, announced: state.isAnnounced ? state.movedTo : nil, redirected: head.permanentLocation,
      now: now)
    finish {
      try feeds.store.change(.refresh) { database, changes in
        let next = times.next(
          now: now, rhythm: try rhythm(in: database), timeToLive: state.timeToLive,
          maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
        try RefreshRows.unchanged(id, now: now, next: next, isWhole: isWhole, in: database)
        if isWhole {
          try RefreshRows.setValidators(
            id, etag: head.value("etag"), lastModified: head.value("last-modified"), from: Self.place(head),
            in: database)
        }
        try ArchiveRows.keepTime(id, now: now, in: database)
        try FullPodcast.tell(id, in: database)
        try move.note(in: database, &changes)
        try ProvisionalNames.settle(podcast: id, in: database, &changes)
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
        return .unchanged
      }
    }
    follow(move)
  }

  /// Puts a feed that has come into the catalogue.
  /// - Returns: what is told to those who wait.
  @discardableResult
  func store(_ feed: FetchedFeed, _ answer: FeedAnswer) -> Result<RefreshOutcome, CatalogError> {
    feeds.network.reached(state.feedURL.host ?? "")
    do {
      let redirected = RedirectedFeed(
        feed: feed, head: answer.head, state: state, store: feeds.store, now: now)
      if let refusal = try redirected.refusal() { return fail(refusal) }
    } catch {
      return finish { throw error }
    }
    // What is missing of a feed that broke off says nothing: it has not been withdrawn.
    let isCut = answer.cut != nil
    if let cut = answer.cut, state.failures == 0 {
      feeds.log.write("\(state.feedURL.shown) broke off: \(cut.message(adviceFor: .refresh))")
    }
    let move = FeedMove(
      state: state, announced: isCut ? nil : feed.newFeedURL,
      redirected: isCut || isEmptied(feed) ? nil : answer.head.permanentLocation, now: now)
    let result = finish {
      let hadNone = state.lastRefresh == nil
      return try FeedMerge(store: feeds.store, podcast: id, now: now, isSerial: feed.isSerial).merge(
        feed.episodes
      ) {
        database, changes, merged in
        let isChanged =
          try (hadNone || !isCut)
          && ChannelMerge.merge(
            feed, isWhole: !isCut, into: id, in: database)
        try noteAnswer(feed, answer, in: database)
        if !isCut { try move.note(in: database, &changes) }
        try ArchiveWalk.note(
          feed, merged, isFirst: hadNone, isCut: isCut, podcast: id, now: now, in: database)
        if let cut = answer.cut { try noteCut(cut, in: database) }
        try FullPodcast.tell(id, in: database)
        if hadNone {
          changes.append(.podcast(id))
        } else {
          if isChanged { changes.append(.facts(podcast: id)) }
          changes += merged.changes(of: id)
        }
        try ProvisionalNames.settle(podcast: id, in: database, &changes)
        changes.append(.refreshed(podcast: id, newEpisodes: merged.outcome.newEpisodes.count))
        if isChanged || merged.changesListing { try RefreshRows.listingChanged(id, in: database) }
      }
    }
    if case .failure(let error) = result { tell(error) }
    feeds.texts.fill()
    follow(move)
    return result
  }

  /// Of a feed that has come, but could not be put into the catalogue wholly: where even this can't be written, those
  /// who wait still hear of it.
  private func tell(_ error: CatalogError) {
    try? feeds.store.change(.refresh) { database, changes in
      try RefreshRows.setError(id, error.message, in: database)
      changes.append(.refreshed(podcast: id, newEpisodes: 0))
    }
  }

  /// What comes behind a refresh: where the feed has moved to, then its further pages.
  private func follow(_ move: FeedMove) {
    if let address = move.trial { return FeedTrial(run: self, address: address).begin() }
    // Where this fails a later start goes on.
    try? Forgetting.finish(feeds.store)
    ArchiveWalk(run: self).begin()
  }

  private func noteAnswer(_ feed: FetchedFeed, _ answer: FeedAnswer, in database: Database) throws {
    let head = answer.head
    let isWhole = answer.cut == nil && !isEmptied(feed)
    let noted = RefreshRows.Answer(
      etag: isWhole ? head.value("etag") : nil, lastModified: isWhole ? head.value("last-modified") : nil,
      isPrivate: isPrivate(head), timeToLive: feed.timeToLive, guid: feed.guid, isComplete: feed.isComplete,
      digest: isWhole || answer.cut != nil ? answer.digest : nil, cameFrom: Self.place(head),
      readAgain: feed.nextDate(after: now), notice: feed.emptiness)
    try RefreshRows.came(id, noted, now: now, in: database)
    // By what the feed says now.
    let next = times.next(
      now: now, rhythm: try rhythm(in: database), timeToLive: feed.timeToLive,
      maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
    try RefreshRows.setNext(id, next, in: database)
  }

  /// Whether it has no episodes, of a podcast that had: where a redirect leads to nothing yet, the old address is kept,
  /// and the next answer is read whole.
  private func isEmptied(_ feed: FetchedFeed) -> Bool { feed.episodes.isEmpty && state.lastRefresh != nil }

  /// Some of the feed is missing: it is told, and asked for again soon, at first.
  private func noteCut(_ cut: CatalogError, in database: Database) throws {
    let wait = Self.cutPatience << Int64(min(state.failures, 10))
    try RefreshRows.breakOff(
      id, "only some of the feed came: \(cut.message)", failures: state.failures + 1, next: now + wait,
      in: database)
  }

  /// Seconds until a feed that broke off is asked for again: twice as many each time, up to what is usual.
  private static let cutPatience: Int64 = 900

  /// Where redirects have led; nil where there were none.
  private static func place(_ head: HTTPResponseHead) -> WebAddress? {
    head.redirects.isEmpty ? nil : WebAddress(head.effectiveURL)
  }

  @discardableResult
  private func fail(_ failure: FeedFailure) -> Result<RefreshOutcome, CatalogError> {
    if failure.isCancelled { return finish { throw CatalogError.cancelled } }
    // What is no fault of the feed does not count as its failure.
    let isAway = failure.cause.map(feeds.network.isAway) ?? false
    let isInnocent = isAway || failure.isOwnFault
    if failure.cause == nil { feeds.network.reached(state.feedURL.host ?? "") }
    let failures = state.failures + (isInnocent ? 0 : 1)
    // Who has led elsewhere for days will go on.
    let isLost = failure.isGone || failure.isAnotherShow && failures > Self.patientFailures
    let next = times.next(
      now: now, afterFailures: failures, isGone: isLost, isAway: isInnocent, retryAfter: failure.retryAfter)
    // The first of a row: a host that is away for a week is one line.
    if state.failures == 0 {
      let error = failure.error
      let why = failure.isAnotherShow ? error.message : error.message(adviceFor: .refresh)
      feeds.log.write("cannot refresh \(state.feedURL.shown): \(why)")
    }
    let noted = RefreshRows.Failure(
      message: failure.error.message, count: failures, next: next,
      notBefore: RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter),
      mayBeTheNetworks: failure.mayBeTheNetworks)
    return finish {
      try feeds.store.change(.refresh) { database, changes in
        try RefreshRows.fail(id, noted, in: database)
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
      throw failure.error
    }
  }

  /// Failures in a row, after which an address that leads to another podcast is asked once a week.
  private static let patientFailures = 7

  /// Writes, then tells those who wait what came of it.
  @discardableResult
  private func finish(_ body: () throws -> RefreshOutcome) -> Result<RefreshOutcome, CatalogError> {
    let result = Result { try body() }.mapError { CatalogError(wrapping: $0) }
    feeds.finishRefresh(id, result)
    return result
  }

  /// A feed is private where it was from the first: its owner cannot lead it there later.
  private func isPrivate(_ head: HTTPResponseHead) -> Bool {
    state.lastRefresh == nil ? head.isFromPrivateHost : state.isPrivate
  }

  /// Nil where the user has said himself how often the feed is to be asked for.
  private func rhythm(in database: Database) throws -> FeedRhythm? {
    if feeds.feedSettings(state.keys)?.refresh != nil { return nil }
    return try RefreshRows.rhythm(of: id, in: database)
  }

  private var times: RefreshTimes {
    RefreshTimes(interval: feeds.feedSettings(state.keys)?.refresh ?? feeds.settings.refresh)
  }
}
