import Catalog
import Configuration
import FeedKit
import HTTPKit
import HTTPServerKit
import PodcastModel
import PosixKit
import Sync
import TestSupport
import Testing

/// Feeds on loopback, for all devices of a test: /a.xml and so on, each with three episodes of an hour; /old-a.xml leads
/// to /a.xml for good.
final class FeedHost: Sendable {
  private let server: HTTPServer
  var address: String { server.address }

  init() throws {
    server = try HTTPServer { request, writer throws(ResponseWriter.Ended) in
      let name = request.path.dropFirst().prefix { $0 != "." }
      if name.hasPrefix("old-") {
        return try writer.respond(301, [("Location", "/\(name.dropFirst(4)).xml")], body: [])
      }
      var feed = TestFeed("Show \(name)")
      feed.items = (1...3).map { number in
        var item = TestFeed.Item(
          "Part \(number)", url: "https://media.example/\(name)/\(number).mp3?token=t0p",
          // The first has no guid of its own.
          guid: number == 1 ? nil : "\(name)-\(number)", published: 1_704_067_200 + Int64(number) * 86_400)
        item.duration = "3600"
        return item
      }
      try writer.respond(200, [("Content-Type", "application/rss+xml")], body: Array(feed.xml.utf8))
    }
  }

  deinit { server.stop() }

  func feed(_ name: String) -> String { "\(address)/\(name).xml" }
}

/// One device of the listener: a catalogue of its own.
final class SyncDevice: Sendable {
  let home: TemporaryDirectory
  let places: Places
  let catalog: Catalog
  private let http = HTTPClient(name: "test-http")
  private let host: FeedHost
  private let clock: @Sendable () -> Int64

  /// - Parameter offset: by how many seconds its clock is wrong.
  init(_ host: FeedHost, offset: Int64 = 0) throws {
    self.host = host
    home = try TemporaryDirectory()
    places = try Places(environment: ["HOME": home.path, "XDG_RUNTIME_DIR": home.path("run")])
    try places.create()
    clock = { wallClockSeconds() + offset }
    catalog = try Catalog(
      places: places, settings: Settings(), http: http, feedReader: .program(Products.path("podcastfs")),
      clock: clock)
  }

  deinit {
    catalog.close()
    http.stop()
  }

  func follow(_ name: String) throws {
    _ = try catalog.subscribe(feedURL: host.feed(name))
    try refresh()
  }

  func unfollow(_ name: String) throws {
    let listed = try #require(try catalog.subscription(feedURL: host.feed(name)))
    try catalog.unsubscribe(listed.id)
  }

  /// Fetches the feeds that have not come yet. That they are on this machine has to be said by a person.
  func refresh() throws {
    for listed in try catalog.subscriptions() where !listed.podcast.isFetched {
      _ = Waiting.result(within: patience) {
        catalog.refresh(podcast: listed.podcast.id, cause: .forced, completion: $0)
      }
    }
  }

  var follows: [String] {
    get throws {
      try catalog.subscriptions().map { $0.podcast.feedURL.forRequest }.sorted()
    }
  }

  /// An episode by its number, from 1.
  func episode(_ number: Int, of name: String) throws -> Episode {
    let listed = try #require(try catalog.subscription(feedURL: host.feed(name)))
    return try #require(
      try catalog.episodes(ofPodcast: listed.podcast.id).first { $0.title == "Part \(number)" },
      "\(name) \(number)")
  }

  func sync(
    _ server: FakeSyncServer, _ cause: SyncCause = .asked, isWhole: Bool = false, isDry: Bool = false,
    _ change: (inout SyncSettings) -> Void = { _ in }
  ) throws -> SyncOutcome? {
    var settings = SyncSettings(url: server.address + "/")
    settings.user = FakeSyncServer.user
    settings.password = FakeSyncServer.password
    settings.device = "desk"
    change(&settings)
    return try SyncRun(
      catalog: catalog, places: places, settings: Settings(), sync: settings, http: http, now: clock
    ).run(cause, isWhole: isWhole, isDry: isDry)
  }
}
