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
  let podcast: PodcastRecord
  /// Of its address, then of those that it has moved away from (`FeedKey`).
  let keys: [String]
  /// When it began, in seconds since 1970.
  let now: Int64
  /// A person has asked for it.
  var isForced = false

  /// What a refresh has brought, and where the same podcast is to be looked for next.
  typealias Result = (outcome: RefreshOutcome, announced: WebAddress?)

  private var id: Int64 { podcast.id }
  private var isFirst: Bool { podcast.lastRefresh == nil }

  /// - Parameter answer: what has come already.
  /// - Throws: why there is nothing new, which is in the podcast's `error`, too.
  func run(with answer: FeedAnswer? = nil) throws(CatalogError) -> Result {
    do {
      if let answer { return try take(answer) }
      // What a person asks for is asked for whole: some servers go on saying 304 after a change.
      let isConditional = try !isForced && mayBeUnchanged()
      var answer = try ask(isConditional)
      // A date or a short tag is anybody's: what comes from elsewhere than before must come whole.
      if answer.head.status == 304, isConditional {
        if podcast.isFromBefore(answer.head) { answer.content = .same } else { answer = try ask(false) }
      }
      return try take(answer)
    } catch let failure as FeedFailure {
      throw try note(failure)
    } catch {
      // What came before the failure stays.
      let error = CatalogError(wrapping: error)
      try? store.change(.refresh) { database, changes in
        try PodcastRecord.change(id, in: database) { $0.error = error.message }
        changes.append(.refreshed(podcast: id, newEpisodes: 0))
      }
      throw error
    }
  }

  /// Whether the feed is asked for only if it has changed. Some servers go on saying 304 after a change: now and then, or
  /// where an episode is overdue, an unchanged answer is not believed.
  private func mayBeUnchanged() throws -> Bool {
    guard podcast.etag != nil || podcast.lastModified != nil, let last = podcast.lastWhole, last <= now else {
      return false
    }
    return try !store.read { try podcast.rhythm(in: $0) }.isDoubtful(now: now, lastWhole: last)
  }

  private func ask(_ isConditional: Bool) throws(FeedFailure) -> FeedAnswer {
    // A section of the configuration for the address: the user has named it.
    let isNamed = podcast.mayBePrivate || fetcher.settings([FeedKey.text(podcast.feedURL)]) != nil
    let privateHosts: FeedFetcher.PrivateHosts =
      if podcast.allowsPrivateHosts { .allowed } else if isFirst { isNamed ? .typed : .untyped } else {
        isNamed && podcast.feedURL.host.map(PrivateHostName.isPrivate) == true ? .allowed : .refused
      }
    return try fetcher.fetch(
      FeedFetcher.Question(
        address: podcast.feedURL, podcast: podcast, keys: keys, isConditional: isConditional,
        privateHosts: privateHosts, known: podcast.digest, now: now))
  }

  /// Asks for what the feed has named.
  func askElsewhere(
    _ address: WebAddress, bytes: Int64 = FeedFetcher.longestFeed
  ) throws(FeedFailure) -> FeedAnswer {
    try fetcher.fetch(
      FeedFetcher.Question(
        address: address, keys: keys, privateHosts: podcast.allowsPrivateHosts ? .allowed : .refused,
        bytes: bytes, now: now))
  }

  private func take(_ answer: FeedAnswer) throws -> Result {
    let head = answer.head
    let document: FetchedFeed? = if case .same = answer.content { nil } else { try answer.feed(now: now) }
    if let document { try checkRedirects(document, head) }
    if isFirst {
      let listed = try store.change(.refresh) { database, changes in
        try PodcastRecord.join(id, redirected: head.permanentLocation, in: database, &changes)
      }
      if let listed {
        try Forgetting.finish(store)
        throw CatalogError.alreadyFollowed(listed.name)
      }
    }
    // A feed that had episodes and now has none may be under construction: its redirect does not count yet.
    let isEmptied = document?.episodes.isEmpty == true && !isFirst
    let announced = document == nil && podcast.isAnnounced ? podcast.movedTo : document?.newFeedURL
    let move = FeedMove(
      of: podcast, keys, announced: announced, redirected: isEmptied ? nil : head.permanentLocation, now: now)
    let finish: FeedMerge.Finish = { database, changes, merged in
      try change(in: database, &changes) { podcast, changes in
        if let document { podcast.take(document, head, now: now) }
        podcast.answered(head, now: now)
        if let document {
          podcast.digest = answer.digest
          // Without its digest the same body is read and judged again.
          if isEmptied || !document.isWhole { podcast.forgetAnswer() }
          podcast.changeArchive {
            $0.note(document, hasNew: !merged.outcome.newEpisodes.isEmpty, isFirst: isFirst)
          }
        }
        podcast.nextRefresh = try next(head, podcast, in: database)
        try move.note(in: &podcast, database, &changes)
        if document != nil, isFirst {
          changes.append(.podcast(id))
        } else {
          changes += merged.changes(of: id)
        }
        if merged.changesListing { podcast.changed = wallClockNanoseconds() }
      }
      if document != nil {
        changes.append(.refreshed(podcast: id, newEpisodes: merged.outcome.newEpisodes.count))
      }
    }
    var outcome = RefreshOutcome.unchanged
    if let document {
      let merge = FeedMerge(store: store, podcast: id, now: now, isSerial: document.isSerial)
      outcome = try merge.merge(document.episodes, finish: finish)
    } else {
      try store.change(.refresh) { try finish($0, &$1, FeedMerge.Merged()) }
    }
    return (outcome, move.trial)
  }

  /// An address that leads elsewhere than before must prove to be the podcast's.
  private func checkRedirects(_ document: FetchedFeed, _ head: HTTPResponseHead) throws {
    if podcast.isFromBefore(head) { return }
    let isSame = try store.read { database in
      let isOthers = try head.redirects.contains {
        try PodcastRecord.other(than: id, at: WebAddress($0.location), in: database) != nil
      }
      return try SameShow(document, podcast, in: database).isRedirected(isOthers: isOthers)
    }
    if !isSame { throw FeedFailure(anotherShow: document, head: head, of: podcast) }
  }

  private func change(
    in database: Database, _ changes: inout [CatalogChange],
    _ body: (inout PodcastRecord, inout [CatalogChange]) throws -> Void
  ) throws {
    let isKnown: Void? = try PodcastRecord.change(id, in: database) { podcast in
      let old = podcast
      try body(&podcast, &changes)
      if !old.hasTitle, podcast.hasTitle {
        try NamedRows.settle(&podcast, formerly: old.title, in: database, &changes)
      }
      if !podcast.hasSameFacts(as: old) {
        podcast.changed = wallClockNanoseconds()
        if !changes.contains(.podcast(id)) { changes.append(.facts(podcast: id)) }
      }
      if podcast.changed != old.changed { try SubscriptionRows.lineChanged(podcast: id, in: database) }
    }
    _ = try existing("podcast", isKnown)
  }

  private func note(_ failure: FeedFailure) throws(CatalogError) -> CatalogError {
    if failure.isCancelled { return .cancelled }
    // What is no fault of the feed does not count as its failure.
    let isInnocent: Bool
    switch failure.cause {
    case .request(let error):
      let isSilent = [.nameNotResolved, .timedOut].contains(error.code)
      isInnocent = error.code == .networkUnreachable || isSilent && !NetworkState.hasDefaultRoute
    case .ownFault: isInnocent = true
    case .anotherShow, .notAFeed, .status: isInnocent = false
    }
    // An address that has led elsewhere for days will go on.
    let isLost =
      failure.cause == .status(410)
      || failure.cause == .anotherShow && podcast.failures >= Self.patientFailures
    // Only the first of several failures in a row is logged: a host may be away for a week.
    if podcast.failures == 0 { log.write("cannot refresh \(podcast.feedURL.shown): \(failure.error)") }
    try store.change(.refresh) { database, changes in
      try PodcastRecord.change(id, in: database) { known in
        known.error = failure.error.message
        known.failures = podcast.failures + (isInnocent ? 0 : 1)
        known.nextRefresh = times.next(
          now: now, afterFailures: known.failures, isGone: isLost, isAway: isInnocent,
          retryAfter: failure.retryAfter)
        known.notBefore = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
        known.claimedUntil = nil
        known.isAway = failure.mayBeTheNetworks
      }
      changes.append(.refreshed(podcast: id, newEpisodes: 0))
    }
    return failure.error
  }

  /// Failures in a row, after which an address that leads to another podcast is asked once a week.
  private static let patientFailures = 7
  private func next(_ head: HTTPResponseHead, _ podcast: PodcastRecord, in database: Database) throws -> Int64
  {
    // Where the user has said himself how often, its rhythm says nothing.
    let rhythm = fetcher.settings(keys)?.refresh == nil ? try podcast.rhythm(in: database) : nil
    return times.next(
      now: now, rhythm: rhythm, timeToLive: podcast.timeToLive,
      maximumAge: RefreshTimes.maximumAge(head.value("cache-control")))
  }

  private var times: RefreshTimes { RefreshTimes(interval: fetcher.settings(keys)?.refresh ?? usualInterval) }

  /// Looks whether the same podcast is at an address that its feed announces, and then goes by that address.
  func tryOut(_ address: WebAddress) throws {
    var isSame = false
    if case .feed(let document)? = try? askElsewhere(address).content {
      isSame = try store.read { try SameShow(document, podcast, in: $0).isAnnounced }
    }
    try store.change(.refresh) { database, changes in
      try PodcastRecord.change(id, in: database) { podcast in
        if isSame, try podcast.move(to: address, in: database, &changes) { return }
        (podcast.movedTo, podcast.movedSince, podcast.isAnnounced) = (address, now + FeedMove.patience, true)
      }
    }
    try Forgetting.finish(store)
  }
}

extension PodcastRecord {
  fileprivate mutating func take(_ document: FetchedFeed, _ head: HTTPResponseHead, now: Int64) {
    take(document)
    // A feed is private where it was from the first: its owner cannot lead it there later.
    if self.lastRefresh == nil { self.allowsPrivateHosts = head.isFromPrivateHost }
    let emptiness = document.episodes.isEmpty ? document.emptiness : nil
    self.notice = document.isWhole ? emptiness : "the feed breaks off: its complete part was read"
    self.firstRefresh = self.firstRefresh ?? now
    (self.timeToLive, self.isComplete, self.isSerial) = (
      document.timeToLive, document.isComplete, document.isSerial
    )
  }

  /// An answer has come: nothing of an earlier failure holds any more.
  fileprivate mutating func answered(_ head: HTTPResponseHead, now: Int64) {
    (self.lastRefresh, self.error, failures) = (now, complaint, 0)
    (self.notBefore, claimedUntil, isAway) = (nil, nil, false)
    if head.status == 304 { return }
    (self.lastWhole, self.cameFrom) = (now, head.place)
    (self.etag, self.lastModified) = (head.value("etag"), head.value("last-modified"))
  }

  /// The next answer is read, whatever it says of changes.
  mutating func forgetAnswer() { (self.etag, self.lastModified, self.digest) = (nil, nil, nil) }

  /// What is known of how often the feed brings something.
  func rhythm(in database: Database) throws -> FeedRhythm {
    let times = try database.numbers(
      """
      SELECT published FROM episode INDEXED BY episode_by_date
      WHERE podcast_id = ? AND hidden = 0 AND is_dated = 1 ORDER BY published DESC LIMIT ?
      """, self.id, FeedRhythm.memory)
    return FeedRhythm(published: times, firstRead: self.firstRefresh ?? .max, isComplete: self.isComplete)
  }

  /// What a person should know while the feed itself comes.
  var complaint: String? { (self.archive.nextPage == nil ? nil : self.archive.error) ?? self.notice }

  mutating func changeArchive<R>(_ body: (inout ArchiveState) -> R) -> R {
    let former = complaint
    defer { if self.error == former { self.error = complaint } }
    return body(&self.archive)
  }

  /// Keeps other processes from refreshing the same podcast for `period` seconds.
  /// - Returns: false where one is at it, or has just been.
  mutating func claim(now: Int64, period: Int64) -> Bool {
    let isTaken = claimedUntil.map { $0 > now && $0 <= now + period } ?? false
    if let notBefore = self.notBefore { self.nextRefresh = max(self.nextRefresh ?? 0, notBefore) }
    if isTaken || (self.nextRefresh ?? 0) > now { return false }
    claimedUntil = now + period
    return true
  }
}
