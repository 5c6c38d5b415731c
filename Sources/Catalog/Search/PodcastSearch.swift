internal import Configuration
internal import HTTPKit
internal import PosixKit

/// Searches for podcasts: puts queries to services and to the catalogue itself, and keeps the searches that are
/// directories.
final class PodcastSearch: Sendable {
  let store: CatalogStore
  let settings: Settings
  let services: SearchServices
  let requests: RequestMaker
  let http: HTTPClient
  /// Runs what writes, so that the HTTP client's thread never waits for the disk.
  let queue: WorkQueue
  let texts: TextIndex
  let tasks: TaskRegistry
  let log: LogFile

  init(
    store: CatalogStore, settings: Settings, requests: RequestMaker, http: HTTPClient, queue: WorkQueue,
    texts: TextIndex, tasks: TaskRegistry, log: LogFile
  ) {
    self.store = store
    self.settings = settings
    services = SearchServices(settings: settings)
    self.requests = requests
    self.http = http
    self.queue = queue
    self.texts = texts
    self.tasks = tasks
    self.log = log
  }
}
