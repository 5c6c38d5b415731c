import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Feeds that move, and get their names late.
@Suite struct MovingTests {
  @Test func aShowThatMovesToAnotherHostIsNotDoubled() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<20)).page)
    try world.refresh(podcast)
    let before = try world.catalog.episodes(ofPodcast: podcast)
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<21, "new", host: "other.example")).page)
    #expect(try world.refresh(podcast).newEpisodes.count == 1)
    let after = try world.catalog.episodes(ofPodcast: podcast)
    #expect(after.prefix(20).map(\.stem) == before.map(\.stem))
    #expect(after.prefix(20).map(\.mediaKey) == before.map(\.mediaKey))
    #expect(after.map(\.guid) == (0..<21).map { "new\($0)" })
  }

  @Test func aNameTakenFromAHostLastsUntilTheFeedTellsItsTitle() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/search", world.web.answer([("127.0.0.1", "/b")]))
    for path in ["/a", "/b"] {
      world.web.set(path, TestFeed(title: "Real title", items: [.init("One", guid: path)]).page)
    }
    let search = try world.search("x")
    let listed = try catalog.subscribe(feedURL: "\(world.web.address)/a")
    #expect(listed.name == "127.0.0.1")
    try catalog.rename(subscription: listed.id, to: "Mine")
    let other = try catalog.subscribe(feedURL: "\(world.web.address)/b")
    #expect(other.name == "127.0.0.1")
    let heard = Monitor<[CatalogChange]>([])
    catalog.observeChanges { change in heard.withLockNotifying { $0.append(change) } }
    try world.refresh(listed.podcast.id)
    try world.refresh(other.podcast.id)
    #expect(try catalog.subscriptions().map(\.name) == ["Mine", "Real title"])
    #expect(try catalog.results(ofSearch: search.id).map(\.name) == ["Real title"])
    #expect(Set(try catalog.subscriptions().map(\.podcast.name)) == ["Real title", "Real title (2)"])
    let isTold: Bool? = heard.wait(until: .after(patience)) {
      $0.contains(.subscription(other.id, podcast: other.podcast.id)) ? true : nil
    }
    #expect(isTold == true)
    // From then on it stays.
    world.web.set("/b", TestFeed(title: "Another title", items: [.init("One", guid: "/b")]).page)
    try world.refresh(other.podcast.id)
    #expect(try catalog.subscriptions().map(\.name) == ["Mine", "Real title"])
  }

  @Test func aPermanentRedirectCountsAlsoWhereTheTargetHasNothingNew() throws {
    let world = try CatalogWorld()
    let page = TestFeed(items: TestFeed.items(0..<2)).page
    world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "/moved")]))
    world.web.set("/moved") { request in
      if request.header("if-none-match") == "\"1\"" { return FakeWeb.Page(status: 304) }
      var page = page
      page.headers.append(("ETag", "\"1\""))
      return page
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    world.advance(1)
    #expect(try world.refreshWhenDue(podcast) == .unchanged)
    #expect(world.web.requests("/moved").last?.header("if-none-match") == "\"1\"")
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/moved")
  }

  /// Also where the two refreshes are within one second.
  @Test func twoRefreshesInARowCountAPermanentRedirectTwice() throws {
    for _ in 0..<3 {
      let world = try CatalogWorld()
      world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "/moved")]))
      world.web.set("/moved", TestFeed(items: TestFeed.items(0..<2)).page)
      let podcast = try world.podcast()
      try world.refresh(podcast)
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/feed")
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/moved")
    }
  }

  @Test(arguments: [2, 3]) func `Feeds that announce each other do not go to and fro`(count: Int) throws {
    let world = try CatalogWorld()
    for place in 0..<count {
      var feed = TestFeed(items: TestFeed.items(0..<4))
      let next = place + 1 == count ? "/feed" : "/\(place + 1)"
      feed.channel = "<itunes:new-feed-url>\(world.web.address)\(next)</itunes:new-feed-url>"
      world.web.set(place == 0 ? "/feed" : "/\(place)", feed.page)
    }
    let podcast = try world.podcast()
    // One step at two refreshes, each time forward.
    for number in 0..<8 {
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
      guard number >= 2 * count - 2 else { continue }
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/\(count - 1)")
    }
    #expect(world.web.requests("/feed").count == 2)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 4)
  }

  /// Where the way ends at nothing, what was before it is taken.
  @Test func aFeedWhoseNewPlaceAnnouncesNothingThatIsThereGoesThere() throws {
    let world = try CatalogWorld()
    for (path, next) in [("/feed", "/new"), ("/new", "/nowhere")] {
      var feed = TestFeed(items: TestFeed.items(0..<4))
      feed.channel = "<itunes:new-feed-url>\(world.web.address)\(next)</itunes:new-feed-url>"
      world.web.set(path, feed.page)
    }
    let podcast = try world.podcast()
    for _ in 0..<2 {
      try world.refresh(podcast)
      // Where the first one's further pages are still looked for, the address is tried at a later refresh.
      #expect(world.catalog.waitForRefreshes(seconds: patience))
    }
    #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/new")
  }

  /// What is much is written in pieces, and a verb of another process comes between them.
  @Test func aLargeFeedComesWholeThoughAnotherProcessChangesIt() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let page = TestFeed(
      items: (0..<5000).map {
        .init(
          "Episode \($0)", guid: "\($0)",
          date: "Wed, 03 Jan 2020 \(10 + $0 / 600):\(10 + $0 / 60 % 50):\(10 + $0 % 50) GMT")
      }
    ).page
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    let done = Monitor(0)
    for catalog in [world.catalog, other] {
      catalog.refresh(podcast: podcast, cause: .forced) { _ in done.withLockNotifying { $0 += 1 } }
    }
    let both: Bool? = done.wait(until: .after(patience)) { $0 == 2 ? true : nil }
    #expect(both == true)
    let episodes = try other.episodes(ofPodcast: podcast)
    #expect(episodes.count == 5000)
    #expect(Set(episodes.map(\.guid)).count == 5000)
    #expect(Set(episodes.map(\.stem)).count == 5000)
    #expect(try other.podcast(podcast)?.episodeCount == 5000)
  }
}
