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

  /// Nothing was fetched, or nothing new came.
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
    /// Podcasts whose time had come, and until when they are not begun again, whatever the catalogue says: one whose result
    /// cannot be written must not spin.
    var resting: [Int64: MonotonicTime] = [:]
    /// What is under way or waits for a thread.
    var activities = 0
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

  let background = WorkQueue(name: "catalog-feeds", threads: 4, courtesy: FeedRefresher.courtesy)
  /// Archives, which may have very many pages.
  private let archives = WorkQueue(name: "catalog-pages", threads: 3, courtesy: FeedRefresher.courtesy)
  /// What somebody waits for: as many as a program may open folders at once.
  private let foreground = WorkQueue(name: "catalog-looks", threads: 8)

  /// Steps of nice(2): such threads get a third of the processor time of others.
  static let courtesy: Int32 = 5
  /// Seconds after which a process that claimed a refresh counts as gone.
  static let claimTime = Int64(FeedFetcher.timeout) + 30
  /// Seconds that a process waits before it tries again to refresh a podcast that is due.
  private static let rest = 60.0
  /// Seconds by which a refresh may be ahead of the clock.
  private static let margin: Int64 = 60

  init(
    store: CatalogStore, settings: Settings, fetcher: FeedFetcher, texts: TextIndex, tasks: TaskRegistry,
    log: LogFile, archiveBytes: Int64
  ) {
    self.store = store
    usualInterval = settings.refresh
    (self.fetcher, self.texts, self.tasks, self.log) = (fetcher, texts, tasks, log)
    self.archiveBytes = archiveBytes
  }

  /// - Parameter upkeep: looks after the catalogue, and says in how many seconds it is to be called again.
  func start(upkeep: @escaping @Sendable () -> Double) {
    scheduler.start(self, upkeep: upkeep)
  }

  func close() {
    scheduler.stop()
    underWay.withLockNotifying { $0.isClosed = true }
    for queue in [foreground, archives, background] { queue.stop() }
  }

  /// Runs what somebody waits for, and `wait` too.
  func perform(_ body: @escaping @Sendable () -> Void) { perform(on: foreground, body) }

  private func perform(on queue: WorkQueue, _ body: @escaping @Sendable () -> Void) {
    underWay.withLock { $0.activities += 1 }
    queue.async { [self] in
      body()
      underWay.withLockNotifying { $0.activities -= 1 }
    }
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  func wait(seconds: Double) -> Bool {
    underWay.wait(until: .after(seconds)) { $0.activities == 0 || $0.isClosed ? true : nil } ?? false
  }
}

extension FeedRefresher {
  func refresh(_ id: Int64, _ cause: RefreshCause, _ task: Waiter) {
    let isAwaited = cause == .firstLook || cause == .forced
    perform(on: isAwaited ? foreground : background) { [self] in
      do throws(CatalogError) {
        guard let state = try begin(id, cause, task) else { return }
        run(refresh(of: state, isForced: cause == .forced))
      } catch {
        task.finish(.failure(error))
      }
    }
  }

  func refresh(of state: FeedState, isForced: Bool) -> FeedRefresh {
    FeedRefresh(
      store: store, fetcher: fetcher, log: log, usualInterval: usualInterval, state: state, now: store.now,
      isForced: isForced)
  }

  /// - Returns: the podcast as it is before the refresh; nil where there is nothing to be done, or another one does it.
  private func begin(_ id: Int64, _ cause: RefreshCause, _ task: Waiter) throws(CatalogError) -> FeedState? {
    // What waited for a thread until the end claims nothing.
    if underWay.withLock({ $0.isClosed }) { throw .cancelled }
    let now = store.now
    let state = try existing("podcast", store.read { try FeedState(podcast: id, askedAt: now, in: $0) })
    let isDue = state.nextRefresh ?? 0 <= now
    if cause == .firstLook && state.lastRefresh != nil || cause == .due && !isDue {
      task.finish(.success(.unchanged))
      return nil
    }
    if let notBefore = state.notBefore, notBefore > now {
      throw CatalogError(.EAGAIN, state.error ?? "the server has asked to wait \(notBefore - now) s")
    }
    // Before other callers can join: they wait for a feed, and must not get the end of a refresh that asks for none.
    guard try claim(state, cause, now: now) else {
      task.finish(.success(.unchanged))
      return nil
    }
    let isFirst = underWay.withLock { underWay in
      underWay.waiters[id, default: []].append(task)
      return underWay.waiters[id]?.count == 1
    }
    return isFirst ? state : nil
  }

  /// Keeps other processes from beginning a refresh that is due meanwhile.
  /// - Returns: false where this one is due, and another process is at it, or has just been.
  private func claim(_ state: FeedState, _ cause: RefreshCause, now: Int64) throws(CatalogError) -> Bool {
    do throws(CatalogError) {
      return try store.write(.refresh) { database in
        try FeedRecord.change(state.id, in: database) { feed in
          if cause == .due { return feed.claim(now: now, period: Self.claimTime) }
          feed.claimedUntil = now + Self.claimTime
          return true
        } ?? false
      }
    } catch {
      // What somebody waits for comes also where the catalogue is busy.
      if cause == .due { throw error }
      return true
    }
  }

  private func run(_ refresh: FeedRefresh) {
    do throws(CatalogError) {
      let (outcome, announced) = try refresh.run()
      finish(refresh.state.id, .success(outcome))
      follow(refresh, announced: announced)
    } catch {
      finish(refresh.state.id, .failure(error))
    }
  }

  /// Begins what is due. The queue's threads bound how many run at once.
  /// - Returns: the seconds until something is due; nil where nothing is.
  func refreshDue() -> Double? {
    let now = store.now
    // While the catalogue's file can't be read nothing can be refreshed either.
    guard
      (try? FeedRecord.followClock(now: now, refreshedAfter: now + Self.margin, store)) != nil,
      let due = try? store.read({ try FeedRecord.due(in: $0) })
    else { return Self.rest }
    underWay.withLock { underWay in underWay.resting = underWay.resting.filter { $0.value > .now } }
    var next: Double?
    for (podcast, time) in due {
      let wait = underWay.withLock { underWay in
        let wait = max(Double(time - now), underWay.resting[podcast]?.seconds(since: .now) ?? 0)
        if wait <= 0 { underWay.resting[podcast] = .after(Self.rest) }
        return wait
      }
      if wait > 0 {
        next = min(next ?? wait, wait)
      } else {
        refresh(podcast, .due, Waiter(tasks) { _ in })
      }
    }
    return next
  }

  private func finish(_ id: Int64, _ result: Result<RefreshOutcome, CatalogError>) {
    let waiters = underWay.withLock { $0.waiters.removeValue(forKey: id) ?? [] }
    for waiter in waiters { waiter.finish(result) }
    scheduler.wake()
    texts.fill()
  }

  /// What comes behind a refresh: where the feed has moved to, then its further pages. Where the catalogue's file fails, the
  /// next refresh tries again.
  func follow(_ refresh: FeedRefresh, announced: WebAddress?) {
    let (id, now) = (refresh.state.id, refresh.now)
    guard underWay.withLock({ !$0.isClosed && $0.following.insert(id).inserted }) else { return }
    perform(on: archives) { [self] in
      if let announced {
        try? FeedRelocation.tryOut(announced, of: refresh.state, store, fetcher, now: now)
      }
      try? Forgetting.finish(store)
      if let state = try? store.read({ try FeedState(podcast: id, in: $0) }) {
        try? PagedArchive(
          store: store, fetcher: fetcher, log: log, state: state, now: now, limit: archiveBytes
        ).read()
      }
      underWay.withLock { _ = $0.following.remove(id) }
      texts.fill()
    }
  }

  /// What failed where another network may have given a feed is due now, if any network is there. One that has
  /// failed for days is left to its time, wherever this machine is carried.
  func networkChanged() {
    guard NetworkState.hasDefaultRoute else { return }
    underWay.withLock { $0.resting = [:] }
    // Where the file can't be written they come when their time comes.
    try? FeedRecord.networkChanged(failures: Self.longestRow, store)
  }

  /// Failures in a row, after which a change of the network says nothing any more.
  private static let longestRow = 8
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
    try store.read { database in
      guard let feed = try FeedRecord.load(id, in: database) else { return nil }
      return feed.complaint ?? (feed.archive.nextPage == nil ? nil : "older episodes are still to come")
    }
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
