package import Configuration
package import FeedKit
package import HTTPKit
package import PodcastModel
internal import PosixKit

/// What is known: podcasts, episodes, searches, subscriptions, in `catalog.sqlite` of the data directory,
/// shared by all mounts and commands of a user; and how more comes to be known.
///
/// It only joins its parts: the store and its rows (`CatalogStore`), feeds (`FeedRefresher`), searches (`PodcastSearch`),
/// the full-text index (`TextIndex`).
package final class Catalog: Sendable {
  let settings: Settings
  let store: CatalogStore
  let texts: TextIndex
  let searching: PodcastSearch
  let feeds: FeedRefresher
  /// What is short: writing that nobody waits for, searches.
  private let queue: WorkQueue
  let notices: CommitNotices
  private let tasks = TaskRegistry()

  /// Opens the catalogue, creating it. Costs the same however much is known.
  /// - Parameters:
  ///   - feedReader: what parses feeds.
  ///   - logLimit: bytes of the write-ahead log, beyond which refreshes don't write.
  ///   - archiveBytes: the most bytes of the pages of one archive (RFC 5005).
  package init(
    places: Places, settings: Settings, http: HTTPClient, feedReader: FeedReader,
    logLimit: Int64 = LogLimit.usual, archiveBytes: Int64 = PagesRead.archiveBytes
  ) throws(CatalogError) {
    self.settings = settings
    do {
      try Directories.createPrivate(places.data)
    } catch {
      throw CatalogError(wrapping: error)
    }
    let log = LogFile(places.logFile)
    let requests = RequestMaker(settings: settings)
    queue = WorkQueue(name: "catalog", threads: 2)
    let background = WorkQueue(
      name: "catalog-feeds", threads: FeedRefresher.backgroundThreads, courtesy: FeedRefresher.courtesy)
    notices = CommitNotices(directory: "\(places.data)/peers")
    do throws(CatalogError) {
      store = try CatalogStore(
        path: "\(places.data)/catalog.sqlite", queue: queue, notices: notices, logLimit: logLimit)
    } catch {
      for queue in [queue, background] { queue.stop() }
      throw error
    }
    if let name = store.setAside { log.write("\(Self.setAsideNote(name))") }
    texts = TextIndex(store: store, queue: background)
    searching = PodcastSearch(
      store: store, settings: settings, requests: requests, http: http, queue: queue, texts: texts,
      tasks: tasks, log: log)
    feeds = FeedRefresher(
      store: store, settings: settings,
      fetcher: FeedFetcher(requests: requests, http: http, reader: feedReader), background: background,
      texts: texts, tasks: tasks, log: log, archiveBytes: archiveBytes)
  }

  /// What a person should know of what happened when the catalogue was opened: one of another version was set aside.
  package var note: String? { store.setAside.map(Self.setAsideNote) }

  private static func setAsideNote(_ name: String) -> String {
    "the catalogue was of another version of podcastfs: it was set aside as \(name), and a new one begun; "
      + "podcastfs import takes a list of subscriptions"
  }

  /// Ends what is under way with ECANCELED, and stops telling of changes. What is committed is safe without
  /// this.
  package func close() {
    feeds.close()
    tasks.close()
    notices.stop()
    queue.stop()
    texts.stop()
    store.checkpoint()
    do { try store.flush() } catch {
      feeds.log.write("the disk refuses the catalogue, a power loss may take its latest changes: \(error)")
    }
  }

  /// Refreshes subscriptions from now on when they are due, a few at a time, until `close()`. Of several
  /// processes that do, one refreshes each.
  /// - Parameter held: what the cache has or is to have, and how much each would be missed, from 1 on: what is
  ///   forgotten is none of it.
  package func startScheduler(held: @escaping @Sendable () -> [MediaKey: Int] = { [:] }) {
    observeChanges { [feeds, texts] change in
      switch change {
      case .subscriptions, .subscription: feeds.scheduler.wake()
      case .refreshed, .everything:
        feeds.scheduler.wake()
        // Also where a command has refreshed it, which leaves the index to us.
        texts.fill()
      default: break
      }
    }
    feeds.background.async { [self] in try? finishForgetting() }
    feeds.start { [self] in lookAfter(cached: { Array(held().keys) }) }
    texts.fillHere()
  }

  /// Once a day, for all processes together.
  /// - Returns: the seconds until it is due again.
  private func lookAfter(cached: @escaping @Sendable () -> [MediaKey]) -> Double {
    let now = wallClockSeconds()
    let last = (try? store.read { try UpkeepRows.last(in: $0) }) ?? nil
    guard let last else { return Double(Upkeep.period) }
    if last > now - Upkeep.period && last <= now { return Double(Upkeep.period - (now - last)) }
    // Where the file can't be written, tomorrow's does it.
    feeds.background.async { [self] in try? forgetUnused(keeping: cached()) }
    return Double(Upkeep.period)
  }
}
