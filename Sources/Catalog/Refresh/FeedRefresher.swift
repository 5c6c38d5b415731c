internal import Configuration
package import FeedKit
internal import HTTPKit
internal import PodcastModel
package import PosixKit
internal import SQLiteKit

package enum RefreshCause: Sendable {
  /// Somebody looks into it: fetched unless it was before.
  case firstLook
  /// Somebody looks, or its time has come: fetched where a refresh is due and no other process is at it, behind what
  /// somebody waits for.
  case due
  /// Somebody asks for it: fetched, due or not, unless the server has asked to wait.
  case forced
}

package struct RefreshOutcome: Hashable, Sendable {
  /// The episodes that were not known before, in the order of their publication.
  package var newEpisodes: [Int64] = []

  package static let unchanged = RefreshOutcome()
}

/// Refreshes feeds when their time comes or somebody wants it, each on a thread that waits for its host (`FeedRefresh`).
/// Callers that ask for the same feed at the same time share one refresh.
final class FeedRefresher: Sendable {
  typealias Waiter = CatalogWork<RefreshOutcome>

  private struct UnderWay: ~Copyable {
    var waiters: [Int64: [Waiter]] = [:]
    /// Podcasts of which that is under way which comes behind a refresh.
    var following: Set<Int64> = []
    /// Threads that refresh what is due, one podcast after the other.
    var rounds = 0
    /// Until when nothing is begun that is due: the catalogue's file cannot be written.
    var rest = MonotonicTime.now
    /// How many pieces of work run or wait for a thread, and for how many of them a person waits (`awaited`).
    var activities = 0
    var awaited = 0
    var isClosed = false
  }

  let store: CatalogStore
  let fetcher: FeedFetcher
  let tasks: TaskRegistry
  let log: LogFile
  let scheduler = RefreshScheduler()
  private let underWay = Monitor(UnderWay())
  /// Seconds between refreshes as the settings say.
  private let usualInterval: Int
  private let texts: TextIndex
  private let archiveBytes: Int64
  let background = WorkQueue(name: "catalog-feeds", threads: mostRounds, courtesy: FeedRefresher.courtesy)
  /// Archives, which may have very many pages.
  private let archives = WorkQueue(name: "catalog-pages", threads: 3, courtesy: FeedRefresher.courtesy)
  /// What somebody waits for: as many as a program may open folders at once.
  private let foreground = WorkQueue(name: "catalog-looks", threads: 8)

  private static let mostRounds = 4
  /// Steps of nice(2): such threads get a third of the processor time of others.
  static let courtesy: Int32 = 5
  /// Seconds after which a process that claimed a refresh counts as gone.
  static let claimTime = Int64(FeedFetcher.timeout) + 30
  /// Seconds until the catalogue's file is tried again.
  private static let rest = 60.0
  /// Seconds that a background refresh waits at most while a person waits for a feed. That host may be a silent one.
  private static let patience = 2.0
  /// Seconds by which a refresh may be ahead of the clock.
  private static let margin: Int64 = 60
  /// Failures in a row, after which a change of the network says nothing any more.
  private static let longestRow = 8

  init(
    store: CatalogStore, settings: Settings, fetcher: FeedFetcher, texts: TextIndex, tasks: TaskRegistry,
    log: LogFile, archiveBytes: Int64
  ) {
    self.store = store
    usualInterval = settings.refresh
    (self.fetcher, self.texts, self.tasks, self.log) = (fetcher, texts, tasks, log)
    self.archiveBytes = archiveBytes
  }

  func close() {
    scheduler.stop()
    underWay.withLockNotifying { $0.isClosed = true }
    for queue in [foreground, archives, background] { queue.stop() }
  }

  /// Runs what somebody waits for, and `wait` too.
  func perform(_ body: @escaping @Sendable () -> Void) { perform(on: foreground, body) }

  private func perform(on queue: WorkQueue, _ body: @escaping @Sendable () -> Void) {
    let awaited = queue === foreground ? 1 : 0
    underWay.withLock { ($0.activities, $0.awaited) = ($0.activities + 1, $0.awaited + awaited) }
    queue.async { [self] in
      if awaited == 0 { giveWay() }
      body()
      underWay.withLockNotifying { ($0.activities, $0.awaited) = ($0.activities - 1, $0.awaited - awaited) }
    }
  }

  /// A refresh that nobody waits for begins later while a person waits for another feed: two seconds later at most.
  private func giveWay() {
    _ = underWay.wait(until: .after(Self.patience)) { $0.awaited == 0 || $0.isClosed ? true : nil }
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  func wait(seconds: Double) -> Bool {
    underWay.wait(until: .after(seconds)) { $0.activities == 0 || $0.isClosed ? true : nil } ?? false
  }
}

extension FeedRefresher {
  func refresh(_ id: Int64, _ cause: RefreshCause, _ task: Waiter) {
    perform(on: cause == .due ? background : foreground) { [self] in
      do throws(CatalogError) {
        guard let podcast = try claim(id, cause) else { return task.finish(.success(.unchanged)) }
        if join(id, task) { run(refresh(of: podcast, isForced: cause == .forced)) }
      } catch {
        task.finish(.failure(error))
      }
    }
  }

  /// Those who wait for a feed share its refresh.
  /// - Returns: whether none is under way.
  private func join(_ id: Int64, _ task: Waiter? = nil) -> Bool {
    underWay.withLock { underWay in
      defer { underWay.waiters[id, default: []] += [task].compactMap(\.self) }
      return underWay.waiters[id] == nil
    }
  }

  func refresh(of podcast: PodcastRecord, isForced: Bool) -> FeedRefresh {
    FeedRefresh(
      store: store, fetcher: fetcher, log: log, usualInterval: usualInterval, podcast: podcast,
      keys: (try? store.read { try PodcastRecord.keys(of: podcast.id, in: $0) }) ?? [], now: store.now,
      isForced: isForced)
  }

  /// Keeps other processes from beginning a refresh that is due meanwhile.
  /// - Returns: the podcast as it is before the refresh; nil where there is nothing to be done: it was refreshed, or is due
  ///   and another process is at it, or has just been.
  private func claim(_ id: Int64, _ cause: RefreshCause) throws(CatalogError) -> PodcastRecord? {
    // What waited for a thread until the end claims nothing.
    if underWay.withLock({ $0.isClosed }) { throw .cancelled }
    let now = store.now
    let podcast = try existing("podcast", store.read { try PodcastRecord.load(id, in: $0) })
    let isDue = podcast.nextRefresh ?? 0 <= now
    if cause == .firstLook && podcast.lastRefresh != nil || cause == .due && !isDue { return nil }
    if cause != .due, let notBefore = podcast.notBefore, notBefore > now {
      throw CatalogError(.EAGAIN, podcast.error ?? "the server has asked to wait \(notBefore - now) s")
    }
    do throws(CatalogError) {
      let isClaimed = try store.write(.refresh) { database in
        try PodcastRecord.change(id, in: database) { podcast in
          if cause == .due { return podcast.claim(now: now, period: Self.claimTime) }
          podcast.claimedUntil = now + Self.claimTime
          return true
        }
      }
      return isClaimed == true ? podcast : nil
    } catch {
      // What somebody waits for comes also where the catalogue is busy.
      if cause == .due { throw error }
      return podcast
    }
  }

  private func run(_ refresh: FeedRefresh) {
    let id = refresh.podcast.id
    func finish(_ result: Result<RefreshOutcome, CatalogError>) {
      let waiters = underWay.withLock { $0.waiters.removeValue(forKey: id) ?? [] }
      for waiter in waiters { waiter.finish(result) }
      scheduler.wake()
      texts.fill()
    }
    do throws(CatalogError) {
      let (outcome, announced) = try refresh.run()
      finish(.success(outcome))
      follow(refresh, announced: announced)
    } catch {
      finish(.failure(error))
    }
  }

  /// What comes behind a refresh: where the feed has moved to, then its further pages. Where the catalogue's file fails, the
  /// next refresh tries again.
  func follow(_ refresh: FeedRefresh, announced: WebAddress?) {
    let id = refresh.podcast.id
    guard underWay.withLock({ !$0.isClosed && $0.following.insert(id).inserted }) else { return }
    perform(on: archives) { [self] in
      if let announced { try? refresh.tryOut(announced) }
      try? Forgetting.finish(store)
      if let podcast = try? store.read({ try PodcastRecord.load(id, in: $0) }) {
        try? self.refresh(of: podcast, isForced: false).readArchive(limit: archiveBytes)
      }
      underWay.withLock { _ = $0.following.remove(id) }
      texts.fill()
    }
  }
}

extension FeedRefresher {
  /// Has threads begin what is due.
  /// - Returns: the seconds until something is due; nil where nothing is, or where all threads are at it.
  func refreshDue() -> Double? {
    let now = store.now
    let rest = underWay.withLock { $0.rest.seconds(since: .now) }
    if rest > 0 { return rest }
    guard (try? followClock(now: now)) != nil, let found = try? store.read({ [try Self.due(in: $0)] }) else {
      return Self.rest
    }
    guard let due = found[0] else { return nil }
    if due.time > now { return Double(due.time - now) }
    let missing = underWay.withLock { underWay in
      defer { underWay.rounds = Self.mostRounds }
      return Self.mostRounds - underWay.rounds
    }
    for _ in 0..<missing { perform(on: background) { [self] in refreshNext() } }
    return nil
  }

  /// Refreshes what is due next, and then has this thread look for more, behind what somebody has asked for meanwhile.
  private func refreshNext() {
    let due = try? store.read { try Self.due(in: $0) }
    var isOver = true
    if let (podcast, time) = due, time <= store.now, !underWay.withLock({ $0.isClosed }) {
      do throws(CatalogError) {
        if let podcast = try claim(podcast, .due), join(podcast.id) {
          run(refresh(of: podcast, isForced: false))
        }
        isOver = false
      } catch {
        underWay.withLock { $0.rest = .after(Self.rest) }
      }
    }
    if isOver {
      underWay.withLock { $0.rounds -= 1 }
    } else {
      perform(on: background) { [self] in refreshNext() }
    }
    scheduler.wake()
  }

  /// The subscription whose refresh is nearest, and when it is due. One that another process is refreshing is due when that
  /// one counts as gone.
  private static func due(in database: Database) throws -> (podcast: Int64, time: Int64)? {
    try database.first(
      """
      SELECT podcast_id, max(coalesce(next_refresh, 0), coalesce(claimed_until, 0)) AS due
      FROM feed INDEXED BY feed_due WHERE is_followed = 1 ORDER BY due LIMIT 1
      """
    ) { ($0.int64(0), max($0.int64(1), 0)) }
  }

  /// What was refreshed later than now is due: the clock has been set back since.
  private func followClock(now: Int64) throws(CatalogError) {
    let later = try store.read {
      try $0.numbers("SELECT podcast_id FROM feed WHERE last_refresh > ?", now + Self.margin)
    }
    if later.isEmpty { return }
    try store.write(.refresh) { database in
      for podcast in later {
        try PodcastRecord.change(podcast, in: database) { podcast in
          (podcast.lastRefresh, podcast.nextRefresh) = (now, now)
          (podcast.notBefore, podcast.lastWhole) = (nil, nil)
        }
      }
    }
  }

  /// What failed where another network may have given a feed is due now, if any network is there. One that has
  /// failed for days is left to its time, wherever this machine is carried.
  func networkChanged() {
    guard NetworkState.hasDefaultRoute else { return }
    underWay.withLock { $0.rest = .now }
    // Where the file can't be written they come when their time comes.
    try? store.write(.refresh) {
      try $0.run(
        "UPDATE feed SET next_refresh = 0, is_away = 0 WHERE is_away = 1 AND failures < ?", Self.longestRow)
    }
  }
}

extension Catalog {
  /// Fetches a podcast's feed and puts what is new into the catalogue. Callers that ask for the same feed at the same time
  /// share one request.
  /// - Parameter completion: called once, on any thread, when the first page of the feed is in the catalogue; further
  ///   pages (RFC 5005) come behind. Errors: see `CatalogError`; they are in the podcast's `error` too, and
  ///   what was known stays.
  /// - Returns: cancelling it ends the wait, not the refresh.
  @discardableResult
  package func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void = { _ in }
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    feeds.refresh(id, cause, task)
    return task
  }

  /// - Returns: false where something still is after `seconds`.
  @discardableResult
  package func waitForRefreshes(seconds: Double) -> Bool { feeds.wait(seconds: seconds) }

  /// What of a podcast's feed or archive (RFC 5005) is still missing, in words for a person; nil where it is whole.
  package func missingPages(ofPodcast id: Int64) throws(CatalogError) -> String? {
    let podcast = try store.read { try PodcastRecord.load(id, in: $0) }
    return podcast?.complaint ?? (podcast?.archive.nextPage == nil ? nil : "older episodes are still to come")
  }

  /// Puts a page of a feed, that did not come by a refresh, into the catalogue.
  package func merge(_ items: [ParsedEpisode], into podcast: Int64, now: Int64) throws(CatalogError) {
    try wrapping {
      let incoming = items.compactMap { IncomingEpisode($0, now: now) }
      try FeedMerge(store: store, podcast: podcast, now: now).merge(incoming) { _, changes, merged in
        changes += merged.changes(of: podcast)
      }
    }
  }
}
