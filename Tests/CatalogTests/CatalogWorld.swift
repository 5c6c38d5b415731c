import Catalog
import Configuration
import FeedKit
import HTTPKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

extension Catalog {
  /// What `Latest/` shows, in its order.
  func latest(limit: Int) throws -> [Episode] {
    let ids = try episodes(selectedBy: .latest(limit, days: 0), limit: limit).map(\.id)
    let byID = Dictionary(uniqueKeysWithValues: try episodes(ids).map { ($0.id, $0) })
    return ids.compactMap { byID[$0] }
  }
}

/// A catalogue of a new user, with a directory service and feeds on loopback.
final class CatalogWorld: Sendable {
  let web: FakeWeb
  let home: TemporaryPlaces
  let http = HTTPClient(name: "test-http")
  let settings: Settings
  let catalog: Catalog
  /// How far the catalogue's clock is before the true one, in seconds.
  private let ahead = Monitor<Int64>(0)

  /// - Parameter reader: by default the parser's process, as it ships.
  init(
    reader: FeedReader = .shipped, archiveBytes: Int64 = Catalog.longestArchive,
    _ adjust: (inout Settings) -> Void = { _ in }
  ) throws {
    web = try FakeWeb()
    home = try TemporaryPlaces()
    var settings = Settings()
    settings.searchURL = "\(web.address)/search"
    adjust(&settings)
    self.settings = settings
    catalog = try Catalog(
      places: home.places, settings: settings, http: http, feedReader: reader, archiveBytes: archiveBytes,
      clock: { [ahead] in wallClockSeconds() + ahead.withLock { $0 } })
  }

  deinit {
    catalog.close()
    http.stop()
  }

  /// Another process's view of the same catalogue.
  func open(_ adjust: (inout Settings) -> Void = { _ in }) throws -> Catalog {
    var settings = settings
    adjust(&settings)
    return try Catalog(
      places: home.places, settings: settings, http: http, feedReader: .shipped,
      clock: { [ahead] in wallClockSeconds() + ahead.withLock { $0 } })
  }

  /// The catalogue's file, for what no call of it does.
  func file() throws -> Database { try Database(path: "\(home.places.data)/catalog.sqlite") }

  func search(_ name: String, replacing old: Int64? = nil) throws -> Search {
    try wait { completion in catalog.search(name, replacing: old, completion: completion) }
  }

  @discardableResult
  func refresh(_ podcast: Int64, _ cause: RefreshCause = .forced) throws -> RefreshOutcome {
    try wait { completion in catalog.refresh(podcast: podcast, cause: cause, completion: completion) }
  }

  /// What the catalogue's clock shows.
  var now: Int64 { wallClockSeconds() + ahead.withLock { $0 } }

  /// Sets the catalogue's clock forward, or back.
  func advance(_ seconds: Int64) { ahead.withLock { $0 += seconds } }

  /// Refreshes a podcast as it is when its time has come: asked for only if it has changed.
  @discardableResult
  func refreshWhenDue(_ podcast: Int64) throws -> RefreshOutcome {
    let next = try catalog.podcast(podcast)?.nextRefresh ?? 0
    advance(max(next - now, 0))
    return try refresh(podcast, .due)
  }

  /// Waits for what goes on behind a refresh for as long as it goes on: hundreds of pages, each with its commits, take as
  /// long as the machine takes.
  func waitForWalk() -> Bool {
    var asked = -1
    while !catalog.waitForRefreshes(seconds: patience) {
      let count = web.requestCount
      if count == asked { return false }
      asked = count
    }
    return true
  }

  /// A podcast whose feed is at `path`, known by a search but not fetched.
  func podcast(_ path: String = "/feed", title: String = "Harbour Lights") throws -> Int64 {
    web.set("/search", web.answer([(title, path)]))
    let search = try search("for \(path)")
    return try #require(try catalog.results(ofSearch: search.id).first).podcast.id
  }
}

/// The result of what ends on another thread, within twenty seconds.
func wait<T: Sendable>(
  _ begin: (@escaping @Sendable (Result<T, CatalogError>) -> Void) -> any Cancellable
) throws -> T {
  let results = Monitor<[Result<T, CatalogError>]>([])
  let task = begin { result in results.withLockNotifying { $0.append(result) } }
  let result: Result<T, CatalogError>? = results.wait(until: .after(patience)) { $0.first }
  task.cancel()
  return try #require(result, "no answer").get()
}

extension FeedReader {
  /// The parser's process as it ships.
  static var shipped: FeedReader { .program(Products.path("podcastfs")) }
}

extension Catalog {
  /// The titles of the podcasts with episodes that have these words.
  func titles(ofEpisodesWith words: String) throws -> [String] {
    guard let query = try EpisodeQuery(parsing: "episode: \(words)") else { return [] }
    let podcasts = Set(try episodes(selectedBy: query, limit: 10_000).map(\.podcastID))
    return try self.podcasts(Array(podcasts)).map(\.title).sorted()
  }
}
