package import Configuration
package import FeedKit
package import HTTPKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What is known: podcasts, episodes, searches, subscriptions, in `catalog.sqlite` of the data directory,
/// shared by all mounts and commands of a user; and how more comes to be known.
package final class Catalog: Sendable {
  let places: Places
  let settings: Settings
  let store: CatalogStore
  let requests: RequestMaker
  let services: SearchServices
  let http: HTTPClient
  /// Runs what writes, so that the HTTP client's thread never waits for the disk.
  let work: WorkQueue
  /// Parses and merges feeds: what takes long, so that nothing else waits for it.
  let feeds: WorkQueue
  let feedReader: FeedReader
  let network = NetworkHealth()
  let isFlushDue = Monitor(false)
  /// Waits for other processes, so that nothing else does.
  let peers = WorkQueue(name: "catalog-acks", stackSize: 128 * 1024)
  let notices: CommitNotices
  let refreshes = Monitor(RefreshTable())
  let scheduler = RefreshScheduler()
  let indexing = IndexingState()
  let tasks = TaskRegistry()
  let log: LogFile

  /// Opens the catalogue, creating or migrating it. Costs the same however much is known.
  /// - Parameters:
  ///   - feedReader: what parses feeds.
  ///   - logLimit: bytes of the write-ahead log, beyond which refreshes don't write.
  package init(
    places: Places, settings: Settings, http: HTTPClient, feedReader: FeedReader = .inThisProcess,
    logLimit: Int64 = Checkpoints.logLimit
  ) throws(CatalogError) {
    self.feedReader = feedReader
    self.places = places
    self.settings = settings
    self.http = http
    log = LogFile(places.logFile)
    do {
      try Directories.createPrivate(places.data)
    } catch {
      throw CatalogError(wrapping: error)
    }
    work = WorkQueue(name: "catalog", threads: 2)
    store = try CatalogStore(path: "\(places.data)/catalog.sqlite", queue: work, logLimit: logLimit)
    requests = RequestMaker(settings: settings)
    services = SearchServices(settings: settings)
    feeds = WorkQueue(name: "catalog-feeds", threads: 2)
    notices = CommitNotices(directory: "\(places.data)/peers")
  }

  /// Ends what is under way with ECANCELED, and stops telling of changes. What is committed is safe without
  /// this.
  package func close() {
    scheduler.stop()
    let cancellations = refreshes.withLock { $0.close() }
    for cancel in cancellations { cancel() }
    tasks.close()
    notices.stop()
    work.stop()
    peers.stop()
    feeds.stop()
    indexing.stop()
    store.checkpoint()
    store.flush()
  }

  /// Refreshes subscriptions from now on when they are due, a few at a time, until `close()`. Of several
  /// processes that do, one refreshes each.
  /// - Parameter cached: what the cache has or is to have: what is forgotten is none of it.
  package func startScheduler(cached: @escaping @Sendable () -> [MediaKey] = { [] }) {
    observe { [weak self] change in
      switch change {
      case .subscriptions, .subscription, .everything: self?.scheduler.wake()
      case .refreshed:
        self?.scheduler.wake()
        // Also where a command has refreshed it, which leaves the index to us.
        self?.indexTexts()
      default: break
      }
    }
    scheduler.start(self, cached: cached)
    // Where the file can't be written, the next refresh of each goes on.
    feeds.async { [self] in try? PodcastMerge(catalog: self, now: wallClockSeconds()).finishAll() }
    indexTexts()
  }

  /// Once a day, for all processes together.
  /// - Returns: the seconds until it is due again.
  func lookAfter(cached: @escaping @Sendable () -> [MediaKey]) -> Double {
    let now = wallClockSeconds()
    let last = (try? store.read { try $0.first("SELECT upkeep FROM counter") { $0.int64(0) } }) ?? nil
    guard let last, !(0..<Upkeep.period).contains(now - last) else {
      return Double(Upkeep.period - min(max(now - (last ?? now), 0), Upkeep.period))
    }
    // Where the file can't be written, tomorrow's does it.
    feeds.async { [self] in try? forgetUnused(keeping: cached()) }
    return Double(Upkeep.period)
  }

  /// Puts what has no place in the full-text index yet into it, behind; only in a process that refreshes by itself:
  /// a command leaves it to that, or to the next search.
  func indexTexts() {
    if scheduler.isRunning { indexBehind() }
  }

  func indexBehind() {
    guard indexing.begin() else { return }
    feeds.async { [self] in
      repeat {
        // Where the file can't be written, the next refresh tries again.
        _ = try? TextIndexer(store: store).run(until: .distantFuture) { indexing.isStopped }
      } while indexing.end()
    }
  }
}
