internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Refreshes feeds when their time comes or somebody wants it, each on a thread of its own (`FeedRefresh`). Those who want
/// the same at the same time share one refresh.
final class FeedRefresher: Sendable {
  let store: CatalogStore
  let fetcher: FeedFetcher
  let tasks: TaskRegistry
  let log: LogFile
  let network = NetworkHealth()
  let table = Monitor(RefreshTable())
  let scheduler = RefreshScheduler()
  private let settings: Settings
  private let texts: TextIndex
  /// The most bytes of an archive's pages.
  private let archiveBytes: Int64

  /// What nobody waits for: refreshes that are due, the full-text index.
  let background = WorkQueue(name: "catalog-feeds", threads: 4, courtesy: FeedRefresher.courtesy)
  /// Archives, which may have very many pages.
  private let archives = WorkQueue(name: "catalog-pages", threads: 3, courtesy: FeedRefresher.courtesy)
  /// What somebody waits for. Each thread waits for one host at a time: as many as a program may open folders at once.
  let foreground = WorkQueue(name: "catalog-looks", threads: 8)

  /// A third of what others get of a processor: who has listed a new folder reads it while its words are indexed.
  static let courtesy: Int32 = 5

  init(
    store: CatalogStore, settings: Settings, fetcher: FeedFetcher, texts: TextIndex, tasks: TaskRegistry,
    log: LogFile, archiveBytes: Int64
  ) {
    self.store = store
    self.settings = settings
    self.fetcher = fetcher
    self.texts = texts
    self.tasks = tasks
    self.log = log
    self.archiveBytes = archiveBytes
  }

  /// From now on by itself, until `close()`.
  /// - Parameter upkeep: looks after the catalogue, and says in how many seconds it is to be called again.
  func start(upkeep: @escaping @Sendable () -> Double) {
    scheduler.start(self, upkeep: upkeep)
    // Where the file can't be written, the next refresh of each goes on.
    background.async { [self] in
      try? store.write(.refresh) { try ArchiveRecord.scheduleUnfinished(now: store.now, in: $0) }
      scheduler.wake()
    }
  }

  /// Ends requests that are under way.
  func close() {
    scheduler.stop()
    table.withLockNotifying { $0.isClosed = true }
    fetcher.close()
    for queue in [foreground, archives, background] { queue.stop() }
  }

  /// Fetches a podcast's feed and puts what is new into the catalogue.
  /// - Parameters:
  ///   - completion: called once, on any thread, when the first page of the feed is in the catalogue.
  /// - Returns: cancelling it ends the wait, not the refresh.
  func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void = { _ in }
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    let isAwaited = cause == .firstLook || cause == .forced
    perform(on: isAwaited ? foreground : background) { [self] in
      do throws(CatalogError) {
        guard let state = try begin(id, cause, task) else { return }
        refresh(state, isForced: cause == .forced, isBackground: !isAwaited)
      } catch {
        task.finish(.failure(error))
      }
    }
    return task
  }

  /// - Returns: the podcast as it is before the refresh; nil where there is nothing to be done, or another one does it.
  private func begin(
    _ id: Int64, _ cause: RefreshCause, _ task: CatalogWork<RefreshOutcome>
  ) throws(CatalogError) -> FeedState? {
    let now = store.now
    guard let state = try store.read({ try FeedState(podcast: id, askedAt: now, in: $0) }) else {
      throw CatalogError.unknown("podcast")
    }
    // Before anybody can join it: who waits for the feed must not be sent away with one that does not come.
    guard try isWanted(state, cause, now: now), try claim(state, cause, now: now) else {
      task.finish(.success(.unchanged))
      return nil
    }
    let isFirst: Bool? = table.withLock { $0.isClosed ? nil : $0.join(id, task) }
    guard let isFirst else { throw CatalogError.cancelled }
    return isFirst ? state : nil
  }

  /// - Throws: the last error, where the server has asked not to be asked again yet, or it was a moment ago.
  private func isWanted(_ state: FeedState, _ cause: RefreshCause, now: Int64) throws(CatalogError) -> Bool {
    switch cause {
    case .firstLook where state.lastRefresh != nil, .ahead where state.lastRefresh != nil: return false
    case .firstLook, .ahead:
      if let error = table.withLock({ $0.restingError(of: state.id) }) { throw error }
    case .due where (state.nextRefresh ?? 0) > now: return false
    case .due, .forced: break
    }
    if let notBefore = state.notBefore, notBefore > now {
      throw CatalogError(.EAGAIN, state.error ?? "the server has asked to wait \(notBefore - now) s")
    }
    return true
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

  /// Seconds after which a process that claimed a refresh counts as gone.
  static let claimTime = Int64(FeedFetcher.timeout) + 30

  private func refresh(_ state: FeedState, isForced: Bool, isBackground: Bool) {
    let refresh = refreshing(state, isForced: isForced, isBackground: isBackground)
    do throws(CatalogError) {
      let result = try refresh.run()
      finish(state.id, .success(result.outcome))
      follow(refresh, announced: result.announced)
    } catch {
      finish(state.id, .failure(error))
    }
  }

  func refreshing(_ state: FeedState, isForced: Bool, isBackground: Bool) -> FeedRefresh {
    FeedRefresh(
      store: store, fetcher: fetcher, network: network, log: log, usualInterval: settings.refresh,
      state: state,
      now: store.now, isForced: isForced, isBackground: isBackground)
  }

  /// Answers those who wait.
  private func finish(_ id: Int64, _ result: Result<RefreshOutcome, CatalogError>) {
    let waiters = table.withLock { table in
      table.note(result.failure, of: id)
      return table.end(id)
    }
    for waiter in waiters { waiter.finish(result) }
    scheduler.wake()
    texts.fill()
  }

  /// What comes behind a refresh: where the feed has moved to, then its further pages.
  func follow(_ refresh: FeedRefresh, announced: WebAddress?) {
    let id = refresh.state.id
    guard table.withLock({ $0.beginFollowing(id) }) else { return }
    perform(on: archives) { [self] in
      // Where the catalogue's file fails, the next refresh tries again.
      if let announced {
        try? FeedRelocation.tryOut(announced, of: refresh.state, store, fetcher, now: refresh.now)
      }
      try? Forgetting.finish(store)
      try? PagedArchive(
        store: store, fetcher: fetcher, log: log, podcast: id, now: refresh.now, isForced: refresh.isForced,
        limit: archiveBytes
      ).read()
      table.withLock { $0.endFollowing(id) }
      texts.fill()
    }
  }

  /// Runs what `waitForRefreshes` waits for.
  func perform(on queue: WorkQueue, _ body: @escaping @Sendable () -> Void) {
    table.withLock { $0.activities += 1 }
    queue.async { [self] in
      body()
      table.withLockNotifying { $0.activities -= 1 }
    }
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  func waitForRefreshes(seconds: Double) -> Bool {
    let isOver: Bool? = table.wait(until: .after(seconds)) { table in
      table.activities == 0 || table.isClosed ? true : nil
    }
    return isOver ?? false
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
