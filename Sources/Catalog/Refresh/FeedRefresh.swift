internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// One refresh of one podcast, from the request to the commit, on the thread that runs it.
struct FeedRefresh: Sendable {
  let store: CatalogStore
  let fetcher: FeedFetcher
  let network: NetworkHealth
  let log: LogFile
  /// Seconds between refreshes as the settings say, where they do not say it of the feed itself.
  let usualInterval: Int
  /// The podcast as it was before.
  let state: FeedState
  /// When it began, in seconds since 1970.
  let now: Int64
  /// A person has asked for it.
  var isForced = false
  /// Nobody waits for it.
  var isBackground = false

  /// What a refresh has brought, and where the same podcast is to be looked for next.
  typealias Result = (outcome: RefreshOutcome, announced: WebAddress?)

  private var id: Int64 { state.id }
  private var hadNone: Bool { state.lastRefresh == nil }

  /// - Throws: why there is nothing new, which is in the podcast's `error`, too.
  func run() throws(CatalogError) -> Result {
    do {
      // What a person asks for is asked for whole: some servers go on saying 304 after a change.
      var isConditional = !isForced && state.feed.isConditional(now: now, isDoubtful: state.isDoubtful)
      var answer = try ask(isConditional: isConditional)
      if answer.head.status == 304, isConditional,
        !RedirectedFeed.isAboutSame(notModified: answer.head, state)
      {
        isConditional = false
        answer = try ask(isConditional: false)
      }
      switch answer.content {
      case .feed(let document): return try take(document, answer)
      case .same: return try takeUnchanged(answer.head, isWhole: true)
      case .none where answer.head.status == 304 && isConditional:
        return try takeUnchanged(answer.head, isWhole: false)
      case .none: throw noFeed(answer.head)
      }
    } catch let failure as FeedFailure {
      throw try note(failure)
    } catch {
      throw CatalogError(wrapping: error)
    }
  }

  /// Who names the feed himself may mean a private host by an ordinary name: as long as it has never come from a public
  /// one, whose owner could lead it there later. Then it leads nowhere else.
  private func ask(isConditional: Bool) throws(FeedFailure) -> FeedAnswer {
    var question = FeedFetcher.Question(
      address: state.feedURL, podcast: state, isConditional: isConditional, privateHosts: state.privateHosts)
    do {
      return try fetch(question)
    } catch {
      guard error.isRefusedAddress, hadNone, question.privateHosts == .refused else { throw error }
      if !state.mayBePrivate { throw error.withPrivateAdvice }
      question.privateHosts = .allowedWithoutRedirects
      do { return try fetch(question) } catch let second { throw second.leadsElsewhere ? error : second }
    }
  }

  private func fetch(_ question: FeedFetcher.Question) throws(FeedFailure) -> FeedAnswer {
    try fetcher.fetch(
      question, known: state.feed.saysMore(now: now) ? nil : state.digest, now: now,
      isBackground: isBackground)
  }

  private func noFeed(_ head: HTTPResponseHead) -> FeedFailure {
    if head.status / 100 != 2 && head.status != 304 { return FeedFailure(status: head, now: now) }
    let host = state.feedURL.host ?? "the server"
    return FeedFailure(CatalogError(.EPROTO, "HTTP \(head.status) instead of a feed from \(host)"))
  }
}

// What becomes of an answer.
extension FeedRefresh {
  /// The feed is as it was.
  /// - Parameter isWhole: it came, and is the same.
  private func takeUnchanged(_ head: HTTPResponseHead, isWhole: Bool) throws -> Result {
    network.reached(state.feedURL.host ?? "")
    let relocation = FeedRelocation(
      state: state, announced: state.isAnnounced ? state.movedTo : nil, redirected: head.permanentLocation,
      now: now)
    try store.change(.refresh) { database, changes in
      try change(in: database, &changes) { feed, archive, podcast, changes in
        feed.answered(now: now)
        if isWhole {
          feed.lastWhole = now
          (feed.etag, feed.lastModified) = (head.value("etag"), head.value("last-modified"))
          feed.cameFrom = Self.place(head)
        }
        feed.nextRefresh = try next(head, feed, in: database)
        feed.keep(archive, now: now)
        try relocation.note(in: &feed, database, &changes)
        try ProvisionalNames.settle(&podcast, in: database, &changes)
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
    }
    return (.unchanged, relocation.trial)
  }

  /// Puts a feed that has come into the catalogue.
  func take(_ document: FetchedFeed, _ answer: FeedAnswer) throws -> Result {
    network.reached(state.feedURL.host ?? "")
    let head = answer.head
    if let refusal = try RedirectedFeed(
      feed: document, head: head, state: state, store: store, now: now
    ).refusal() {
      throw refusal
    }
    // What is missing of a feed that broke off says nothing: it has not been withdrawn.
    let isCut = answer.cut != nil
    if let cut = answer.cut, state.failures == 0 {
      log.write("\(state.feedURL.shown) broke off: \(cut.message(adviceFor: .refresh))")
    }
    // Where a redirect leads to nothing yet, the old address is kept, and the next answer is read whole.
    let isEmptied = document.episodes.isEmpty && !hadNone
    let relocation = FeedRelocation(
      state: state, announced: isCut ? nil : document.newFeedURL,
      redirected: isCut || isEmptied ? nil : head.permanentLocation, now: now)
    do {
      let outcome = try FeedMerge(store: store, podcast: id, now: now, isSerial: document.isSerial).merge(
        document.episodes
      ) {
        database, changes, merged in
        try change(in: database, &changes) { feed, archive, podcast, changes in
          take(
            head, of: document, isKept: !isCut && !isEmptied, digest: isEmptied ? nil : answer.digest, &feed)
          feed.nextRefresh = try next(head, feed, in: database)
          podcast.guid = document.guid ?? podcast.guid
          if hadNone || !isCut { podcast.take(document, isWhole: !isCut) }
          if !isCut { try relocation.note(in: &feed, database, &changes) }
          archive.note(document, merged, isFirst: hadNone, isCut: isCut, now: now)
          feed.keep(archive, now: now)
          if let cut = answer.cut { take(cut, &feed) }
          if hadNone { changes.append(.podcast(id)) } else { changes += merged.changes(of: id) }
          try ProvisionalNames.settle(&podcast, in: database, &changes)
          if merged.changesListing { podcast.changed = wallClockNanoseconds() }
          changes.append(.refreshed(podcast: id, newEpisodes: merged.outcome.newEpisodes.count))
        }
      }
      return (outcome, relocation.trial)
    } catch {
      // Where even this can't be written, those who wait still hear of it.
      let error = CatalogError(wrapping: error)
      try? store.change(.refresh) { database, changes in
        _ = try FeedRecord.change(id, in: database) { $0.error = error.message }
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
      throw error
    }
  }

  /// Loads the podcast's records, and saves each once.
  private func change(
    in database: Database, _ changes: inout [CatalogChange],
    _ body: (inout FeedRecord, inout ArchiveRecord, inout PodcastRecord, inout [CatalogChange]) throws -> Void
  ) throws {
    guard var known = try FeedState(podcast: id, in: database) else { throw CatalogError.unknown("podcast") }
    let old = known.podcast
    try body(&known.feed, &known.archive, &known.podcast, &changes)
    if known.feed.error == nil, try EpisodeNumbers(podcast: id, in: database)?.isFull == true {
      known.feed.error = EpisodeNumbers.fullMessage
    }
    var facts = known.podcast
    (facts.changed, facts.guid) = (old.changed, old.guid)
    if facts != old {
      known.podcast.changed = wallClockNanoseconds()
      if !changes.contains(.podcast(id)) { changes.append(.facts(podcast: id)) }
    }
    if known.podcast.changed != old.changed { try SubscriptionRows.lineChanged(podcast: id, in: database) }
    try known.podcast.save(replacing: old, in: database)
    try known.archive.save(in: database)
    try known.feed.save(in: database)
  }

  private func take(
    _ head: HTTPResponseHead, of document: FetchedFeed, isKept: Bool, digest: Int64?, _ feed: inout FeedRecord
  ) {
    feed.notice = document.episodes.isEmpty ? document.emptiness : nil
    feed.answered(now: now)
    feed.lastWhole = now
    feed.firstRefresh = feed.firstRefresh ?? now
    (feed.etag, feed.lastModified) = isKept ? (head.value("etag"), head.value("last-modified")) : (nil, nil)
    feed.digest = digest
    feed.readAgain = document.nextDate(after: now)
    feed.cameFrom = Self.place(head)
    feed.timeToLive = document.timeToLive
    feed.isComplete = document.isComplete
    // A feed is private where it was from the first: its owner cannot lead it there later.
    if hadNone { feed.isPrivate = head.isFromPrivateHost }
  }

  /// Some of the feed is missing: it is said, and asked for again soon, at first.
  private func take(_ cut: CatalogError, _ feed: inout FeedRecord) {
    let wait = Self.cutPatience << Int64(min(state.failures, 10))
    feed.error = "only some of the feed came: \(cut.message)"
    feed.failures = state.failures + 1
    feed.isCut = true
    feed.nextRefresh = min(feed.nextRefresh ?? now + wait, now + wait)
  }

  /// Seconds until a feed that broke off is asked for again: twice as many each time, up to what is usual.
  private static let cutPatience: Int64 = 900

  /// Notes a failure.
  /// - Returns: what those who wait hear.
  private func note(_ failure: FeedFailure) throws(CatalogError) -> CatalogError {
    if failure.isCancelled { return .cancelled }
    // What is no fault of the feed does not count as its failure.
    let isInnocent = failure.cause.map(network.isAway) ?? false || failure.isOwnFault
    if failure.cause == nil { network.reached(state.feedURL.host ?? "") }
    let failures = state.failures + (isInnocent ? 0 : 1)
    // The first of a row: a host that is away for a week is one line.
    if state.failures == 0 {
      let why = failure.isAnotherShow ? failure.error.message : failure.error.message(adviceFor: .refresh)
      log.write("cannot refresh \(state.feedURL.shown): \(why)")
    }
    // Who has led elsewhere for days will go on.
    let isLost = failure.isGone || failure.isAnotherShow && failures > Self.patientFailures
    try store.change(.refresh) { database, changes in
      _ = try FeedRecord.change(id, in: database) { feed in
        feed.error = failure.error.message
        feed.failures = failures
        feed.nextRefresh = times.next(
          now: now, afterFailures: failures, isGone: isLost, isAway: isInnocent,
          retryAfter: failure.retryAfter)
        feed.notBefore = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
        feed.claimedUntil = nil
        feed.isAway = failure.mayBeTheNetworks
      }
      changes.append(.refreshed(podcast: id, newEpisodes: 0))
    }
    return failure.error
  }

  /// Failures in a row, after which an address that leads to another podcast is asked once a week.
  private static let patientFailures = 7

  /// When the feed is asked for again after an answer.
  private func next(_ head: HTTPResponseHead, _ feed: FeedRecord, in database: Database) throws -> Int64 {
    // Where the user has said himself how often, its rhythm says nothing.
    let rhythm = fetcher.settings(state.keys)?.refresh == nil ? try feed.rhythm(in: database) : nil
    return times.next(
      now: now, rhythm: rhythm, timeToLive: feed.timeToLive,
      maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
  }

  private var times: RefreshTimes {
    RefreshTimes(interval: fetcher.settings(state.keys)?.refresh ?? usualInterval)
  }

  /// Where redirects have led; nil where there were none.
  private static func place(_ head: HTTPResponseHead) -> WebAddress? {
    head.redirects.isEmpty ? nil : WebAddress(head.effectiveURL)
  }
}

extension FeedState {
  /// Who names a feed on a private host himself may have it, on hosts that are private by their very name;
  /// an ordinary name is taken for a public one until it proves private.
  fileprivate var privateHosts: FeedFetcher.PrivateHosts {
    if feed.isPrivate { return .allowed }
    guard feed.mayBePrivate, let host = feed.feedURL.host else { return .refused }
    return PrivateHostName.isPrivate(host) ? .allowed : .refused
  }
}

extension FeedFailure {
  /// Of an address in a private network that nobody has typed.
  var withPrivateAdvice: FeedFailure {
    var failure = self
    failure.error.message += ": to follow it all the same, type podcastfs subscribe with its address"
    return failure
  }
}
