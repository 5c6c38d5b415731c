package import Configuration
package import Directory
package import FeedKit
package import HTTPKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit
package import Transcripts

/// What is known: podcasts, episodes, searches, subscriptions, in `catalog.sqlite` of the data directory,
/// shared by all mounts and commands of a user; and how more comes to be known.
///
/// Each call that reads costs one query on the calling thread, on a connection of its own: it waits neither for the
/// network nor for a refresh that is being written.
package final class Catalog: Sendable {
  let settings: Settings
  let store: CatalogStore
  let texts: TextIndex
  package let directory: PodcastDirectory
  let feeds: FeedRefresher
  let apple: AppleSearch
  let chartsOnTheirWay = Monitor<Set<Int64>>([])
  /// The size of the catalogue when it was last looked after; the largest number meanwhile.
  let bytesLookedAt = Monitor<Int64>(0)
  package let transcripts: LazyTranscriptIndex
  let requests: RequestMaker
  let http: HTTPClient
  let log: LogFile
  let tasks = TaskRegistry()
  /// What a person should know of what has happened since this was last called: a file was set aside, at its opening or
  /// later, or subscriptions of a lost catalogue came back.
  package func takeNote() -> String? {
    store.notes.withLock { notes in
      defer { notes = [] }
      return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }
  }
  /// Threads that wait for the answers of the search service.
  let searchThreads = WorkQueue(name: "catalog-search", threads: 4)
  /// The same for searches that the directory has answered: no other search waits for theirs.
  let completingThreads = WorkQueue(name: "catalog-merge", threads: 2)
  private let queue: WorkQueue

  /// Opens the catalogue, creating it. Costs the same however much is known.
  package init(
    places: Places, settings: Settings, http: HTTPClient, feedReader: FeedReader,
    archiveBytes: Int64 = Catalog.longestArchive,
    clock: @escaping @Sendable () -> Int64 = { wallClockSeconds() }
  ) throws(CatalogError) {
    (self.settings, self.http) = (settings, http)
    try wrapping { try Directories.createPrivate(places.data) }
    log = LogFile(places.logFile)
    requests = RequestMaker(settings: settings)
    apple = AppleSearch(settings: settings)
    directory = PodcastDirectory(place: DirectoryPlace(settings, places))
    transcripts = LazyTranscriptIndex(data: places.data, copies: Self.sidecarCopies(in: places))
    queue = WorkQueue(name: "catalog", isPermanent: true)
    do throws(CatalogError) {
      store = try CatalogStore(path: "\(places.data)/catalog.sqlite", queue: queue, log: log, clock: clock)
    } catch {
      for queue in [queue, searchThreads, completingThreads] { queue.stop() }
      throw error
    }
    texts = TextIndex(store: store)
    feeds = FeedRefresher(
      store: store, settings: settings,
      fetcher: FeedFetcher(requests: requests, http: http, reader: feedReader, tasks: tasks), texts: texts,
      tasks: tasks, log: log, archiveBytes: archiveBytes)
    if let told = store.subscriptionCopy.restore(into: self) { store.tell(told) }
  }

  package static func sidecarCopies(in places: Places) -> String { places.cache + "/sidecars" }

  /// Bytes of the pages of one archive: several times what the largest honest one has.
  package static let longestArchive: Int64 = 256 << 20

  /// Ends what is under way with ECANCELED, and stops telling of changes. What is committed is safe without this.
  package func close() {
    feeds.close()
    tasks.close()
    store.commits.stop()
    for queue in [queue, searchThreads, completingThreads] { queue.stop() }
    texts.stop()
    store.subscriptionCopy.update(from: store)
    store.checkpoint()
    do { try store.flush() } catch {
      log.write("the disk refuses the catalogue, a power loss may take its latest changes: \(error)")
    }
  }

  /// Refreshes subscriptions from now on when they are due, a few at a time, until `close()`. Of several
  /// processes that do, one refreshes each.
  /// - Parameter held: what the cache has or is to have: what is forgotten is none of it.
  package func startScheduler(held: @escaping @Sendable () -> [MediaKey: Int] = { [:] }) {
    observeChanges { [feeds, texts] change in
      switch change {
      case .subscriptions, .subscription, .results, .texts: feeds.scheduler.wake()
      case .refreshed, .everything:
        feeds.scheduler.wake()
        // A command that refreshes a podcast leaves its texts to the mount's index.
        texts.fill()
      default: break
      }
    }
    feeds.background.async { [self] in
      try? finishForgetting()
      store.subscriptionCopy.update(from: store)
    }
    feeds.scheduler.start(feeds) { [self] in lookAfter(cached: { Array(held().keys) }) }
    texts.fillHere()
  }
}
