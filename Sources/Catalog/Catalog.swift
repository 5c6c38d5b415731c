package import Configuration
package import HTTPKit
internal import PodcastModel
internal import PosixKit

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
  let notices: CommitNotices
  let refreshes = Monitor(RefreshTable())
  let scheduler = RefreshScheduler()
  let tasks = TaskRegistry()
  let log: LogFile

  /// Opens the catalogue, creating or migrating it. Costs the same however much is known.
  package init(places: Places, settings: Settings, http: HTTPClient) throws(CatalogError) {
    self.places = places
    self.settings = settings
    self.http = http
    log = LogFile(places.logFile)
    do {
      try Directories.createPrivate(places.data)
    } catch {
      throw CatalogError(wrapping: error)
    }
    store = try CatalogStore(path: "\(places.data)/catalog.sqlite")
    requests = RequestMaker(settings: settings)
    services = SearchServices(settings: settings)
    work = WorkQueue(name: "catalog", threads: 2)
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
  }

  /// Refreshes subscriptions from now on when they are due, a few at a time, until `close()`. Of several
  /// processes that do, one refreshes each.
  package func startScheduler() {
    observe { [scheduler] change in
      switch change {
      case .subscriptions, .subscription, .refreshed, .everything: scheduler.wake()
      default: break
      }
    }
    scheduler.start(self)
  }
}
