internal import Configuration
internal import FeedKit
internal import HTTPKit
internal import PosixKit

/// Asks for feeds, when their time comes or somebody wants it, and puts what comes into the catalogue.
final class FeedRefresher: Sendable {
  let store: CatalogStore
  let settings: Settings
  let requests: RequestMaker
  let http: HTTPClient
  let reader: FeedReader
  let texts: TextIndex
  let tasks: TaskRegistry
  let log: LogFile
  let threads: FeedThreads
  let network = NetworkHealth()
  /// The most bytes of an archive's pages.
  let archiveBytes: Int64
  let table = Monitor(RefreshTable())
  let scheduler = RefreshScheduler()

  init(
    store: CatalogStore, settings: Settings, requests: RequestMaker, http: HTTPClient, reader: FeedReader,
    threads: FeedThreads, texts: TextIndex, tasks: TaskRegistry, log: LogFile,
    archiveBytes: Int64
  ) {
    self.store = store
    self.settings = settings
    self.requests = requests
    self.http = http
    self.reader = reader
    self.threads = threads
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
    threads.behind.async { [self] in
      try? ArchiveWalk.haveOpenOnesRead(store, now: wallClockSeconds())
      scheduler.wake()
    }
  }

  /// Ends requests that are under way.
  func close() {
    scheduler.stop()
    let cancellations = table.withLock { $0.close() }
    for cancel in cancellations { cancel() }
  }
}
