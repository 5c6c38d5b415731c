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
  let log: LogFile
  /// Seconds between refreshes as the settings say, where they do not say it of the feed itself.
  let usualInterval: Int
  /// The podcast as it was before.
  let state: FeedState
  /// When it began, in seconds since 1970.
  let now: Int64
  /// A person has asked for it.
  var isForced = false

  /// What a refresh has brought, and where the same podcast is to be looked for next.
  typealias Result = (outcome: RefreshOutcome, announced: WebAddress?)

  private var id: Int64 { state.id }
  private var hadNone: Bool { state.lastRefresh == nil }

  /// - Throws: why there is nothing new, which is in the podcast's `error`, too.
  func run() throws(CatalogError) -> Result {
    do {
      // What a person asks for is asked for whole: some servers go on saying 304 after a change.
      var isConditional = !isForced && state.feed.isConditional(now: now, isDoubtful: state.isDoubtful)
      var answer = try ask(isConditional)
      // A date or a short tag is anybody's: what comes from elsewhere than before must come whole.
      if answer.head.status == 304, isConditional, !state.isFromBefore(answer.head) {
        isConditional = false
        answer = try ask(isConditional)
      }
      switch answer.content {
      case .feed(let document): return try take(document, answer)
      case .same: return try takeUnchanged(answer.head, isWhole: true)
      case .none where answer.head.status == 304 && isConditional:
        return try takeUnchanged(answer.head, isWhole: false)
      case .none: throw FeedFailure(status: answer.head, now: now)
      }
    } catch let failure as FeedFailure {
      throw try note(failure)
    } catch {
      throw CatalogError(wrapping: error)
    }
  }

  private func ask(_ isConditional: Bool) throws(FeedFailure) -> FeedAnswer {
    try fetcher.fetch(
      FeedFetcher.Question(
        address: state.feedURL, podcast: state, isConditional: isConditional,
        privateHosts: state.privateHosts(
          isConfigured: fetcher.settings([FeedKey.text(state.feedURL)]) != nil),
        known: state.digest, now: now))
  }
}

extension FeedRefresh {
  /// The feed is as it was.
  /// - Parameter isWhole: it came, and is the same.
  private func takeUnchanged(_ head: HTTPResponseHead, isWhole: Bool) throws -> Result {
    let relocation = FeedRelocation(
      state: state, announced: state.isAnnounced ? state.movedTo : nil, redirected: head.permanentLocation,
      now: now)
    try store.change(.refresh) { database, changes in
      try change(in: database, &changes) { known, changes in
        known.feed.answered(now: now)
        if isWhole { known.feed.came(head, now: now) }
        known.feed.nextRefresh = try next(head, known.feed, in: database)
        try relocation.note(in: &known.feed, database, &changes)
      }
    }
    return (.unchanged, relocation.trial)
  }

  func take(_ document: FetchedFeed, _ answer: FeedAnswer) throws -> Result {
    let head = answer.head
    if let refusal = try state.refusal(of: document, head, store) { throw refusal }
    if hadNone {
      let listed = try store.change(.refresh) { database, changes in
        try FeedRecord.join(id, redirected: head.permanentLocation, in: database, &changes)
      }
      if let listed {
        try Forgetting.finish(store)
        throw CatalogError.alreadyFollowed(listed.name)
      }
    }
    // A feed that had episodes and now has none may be under construction: its redirect does not count yet.
    let isEmptied = document.episodes.isEmpty && !hadNone
    let relocation = FeedRelocation(
      state: state, announced: document.newFeedURL, redirected: isEmptied ? nil : head.permanentLocation,
      now: now)
    let merge = FeedMerge(store: store, podcast: id, now: now, isSerial: document.isSerial)
    do {
      let outcome = try merge.merge(document.episodes) { database, changes, merged in
        try change(in: database, &changes) { known, changes in
          known.feed.take(document, head, now: now)
          if isEmptied || !document.isWhole { known.feed.forgetAnswer() }
          known.feed.digest = isEmptied ? nil : answer.digest
          known.feed.nextRefresh = try next(head, known.feed, in: database)
          known.podcast.take(document)
          try relocation.note(in: &known.feed, database, &changes)
          known.feed.changeArchive {
            $0.note(document, hasNew: !merged.outcome.newEpisodes.isEmpty, isFirst: hadNone)
          }
          if hadNone { changes.append(.podcast(id)) } else { changes += merged.changes(of: id) }
          if merged.changesListing { known.podcast.changed = wallClockNanoseconds() }
        }
        changes.append(.refreshed(podcast: id, newEpisodes: merged.outcome.newEpisodes.count))
      }
      return (outcome, relocation.trial)
    } catch {
      // What came before the failure stays.
      let error = CatalogError(wrapping: error)
      try? store.change(.refresh) { database, changes in
        try FeedRecord.change(id, in: database) { $0.error = error.message }
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
      throw error
    }
  }

  /// Loads the podcast's records, and saves each once.
  private func change(
    in database: Database, _ changes: inout [CatalogChange],
    _ body: (inout FeedState, inout [CatalogChange]) throws -> Void
  ) throws {
    var known = try existing("podcast", FeedState(podcast: id, in: database))
    let old = known.podcast
    try body(&known, &changes)
    if !old.hasTitle, known.podcast.hasTitle {
      try NamedRows.settle(&known.podcast, formerly: old.title, in: database, &changes)
    }
    var facts = known.podcast
    (facts.changed, facts.guid) = (old.changed, old.guid)
    if facts != old {
      known.podcast.changed = wallClockNanoseconds()
      if !changes.contains(.podcast(id)) { changes.append(.facts(podcast: id)) }
    }
    if known.podcast.changed != old.changed { try SubscriptionRows.lineChanged(podcast: id, in: database) }
    try known.podcast.save(replacing: old, in: database)
    try known.feed.save(in: database)
  }

  /// - Returns: the error for the waiting callers.
  private func note(_ failure: FeedFailure) throws(CatalogError) -> CatalogError {
    if failure.isCancelled { return .cancelled }
    // What is no fault of the feed does not count as its failure.
    var isInnocent = false
    var isLost = failure.isGone
    switch failure.cause {
    case .request(let error):
      let isSilent = [.nameNotResolved, .timedOut].contains(error.code)
      isInnocent = error.code == .networkUnreachable || isSilent && !NetworkState.hasDefaultRoute
    case .ownFault: isInnocent = true
    // An address that has led elsewhere for days will go on.
    case .anotherShow: isLost = state.failures >= Self.patientFailures
    case .notAFeed, .status: break
    }
    let failures = state.failures + (isInnocent ? 0 : 1)
    // The first of a row: a host that is away for a week is one line.
    if state.failures == 0 { log.write("cannot refresh \(state.feedURL.shown): \(failure.error)") }
    try store.change(.refresh) { [isInnocent, isLost] database, changes in
      try FeedRecord.change(id, in: database) { feed in
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
}

/// What a refresh has to know of a podcast: its feed, and what it is compared with.
@dynamicMemberLookup
struct FeedState: Sendable {
  var feed: FeedRecord
  var podcast: PodcastRecord
  /// Of its address, then of those that it has moved away from (`FeedKey`).
  var keys: [String]
  /// An unchanged answer is not believed this time: some servers go on saying 304 after a change.
  var isDoubtful = false

  var id: Int64 { feed.podcast }

  subscript<Value>(dynamicMember fact: KeyPath<FeedRecord, Value>) -> Value { feed[keyPath: fact] }

  /// - Parameter now: when the feed is asked for, in seconds since 1970; nil where it is not.
  init?(podcast id: Int64, askedAt now: Int64? = nil, in database: Database) throws {
    guard let feed = try FeedRecord.load(id, in: database),
      let podcast = try PodcastRecord.load(id, in: database)
    else { return nil }
    self.feed = feed
    self.podcast = podcast
    keys = try FormerAddresses.keys(of: id, in: database)
    if let now, let lastWhole = feed.lastWhole, lastWhole <= now {
      isDoubtful = try feed.rhythm(in: database).isDoubtful(now: now, lastWhole: lastWhole)
    }
  }

  /// - Parameter isConfigured: the configuration file has a section for the address: the user has named it.
  fileprivate func privateHosts(isConfigured: Bool) -> FeedFetcher.PrivateHosts {
    if feed.isPrivate { return .allowed }
    let mayBePrivate = feed.mayBePrivate || isConfigured
    if feed.lastRefresh == nil { return mayBePrivate ? .typed : .untyped }
    return mayBePrivate && feed.feedURL.host.map(PrivateHostName.isPrivate) == true ? .allowed : .refused
  }
}
