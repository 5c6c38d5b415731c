import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Conditional requests, times, moves, pages, private hosts.
@Suite struct FeedMannersTests {
  @Test func validatorsAreSentBackVerbatimAndA304ChangesNothing() throws {
    let world = try CatalogWorld()
    let page = TestFeed(items: [.init("One", guid: "1")]).page
    world.web.set("/feed") { request in
      if request.header("if-none-match") == "W/\"a b\"" { return FakeWeb.Page(status: 304) }
      var page = page
      page.headers += [("ETag", "W/\"a b\""), ("Last-Modified", "yesterday, about noon")]
      return page
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(try world.refreshWhenDue(podcast) == .unchanged)
    let requests = world.web.requests("/feed")
    #expect(requests.count == 2)
    #expect(requests[0].header("if-none-match") == nil)
    #expect(requests[0].header("accept-encoding")?.contains("gzip") == true)
    #expect(requests[1].header("if-modified-since") == "yesterday, about noon")
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 1)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test(arguments: [
    ("", 0, 3600), ("", 180, 10_800), ("max-age=7200, public", 0, 7200), ("no-cache", 0, 3600),
    ("max-age=999999999", 0, 86_400),
  ])
  func theNextRefreshIsWhenSettingsFeedAndServerAllow(cacheControl: String, ttl: Int, wait: Int) throws {
    let world = try CatalogWorld()
    var page = TestFeed(channel: "<ttl>\(ttl)</ttl>", items: [.init("One", guid: "1")]).page
    if !cacheControl.isEmpty { page.headers.append(("Cache-Control", cacheControl)) }
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    let now = Int(wallClockSeconds())
    try world.refresh(podcast)
    let next = Int(try #require(try world.catalog.podcast(podcast)?.nextRefresh))
    #expect((now + wait...now + wait + wait / 10 + 20).contains(next))
    #expect(try world.refresh(podcast, .due) == .unchanged)
    #expect(world.web.requests("/feed").count == 1)
  }

  @Test func neverMoreOftenThanEveryQuarterOfAnHour() throws {
    let world = try CatalogWorld { $0.refresh = 1 }
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(try #require(try world.catalog.podcast(podcast)?.nextRefresh) >= wallClockSeconds() + 890)
  }

  @Test func retryAfterIsHonouredEvenWhenForced() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", FakeWeb.Page(status: 503, headers: [("Retry-After", "5000")]))
    let podcast = try world.podcast()
    #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast, .forced) }
    #expect(error?.errno == .EAGAIN)
    #expect(world.web.requests("/feed").count == 1)
    #expect(try #require(try world.catalog.podcast(podcast)?.nextRefresh) >= wallClockSeconds() + 4990)
  }

  @Test func aPermanentRedirectIsFollowedWhenItWasSeenTwice() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "/moved")]))
    world.web.set("/moved", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let first = try #require(try world.catalog.podcast(podcast))
    #expect(first.feedURL == "\(world.web.address)/feed")
    world.advance(1)
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.feedURL == "\(world.web.address)/moved")
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 1)
    try world.refresh(podcast)
    #expect(world.web.requests("/feed").count == 2)
  }

  @Test func aTemporaryRedirectMovesNothing() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", FakeWeb.Page(status: 302, headers: [("Location", "/moved")]))
    world.web.set("/moved", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    for _ in 0..<2 {
      try world.refresh(podcast)
      world.advance(1)
    }
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.feedURL == "\(world.web.address)/feed")
  }

  /// One that has an episode of this podcast, or says that it is it (`podcast:guid`).
  @Test(arguments: [("1", nil, true), ("x", nil, false), ("x", "the same", true), ("x", "another", false)])
  func anAnnouncedAddressIsTakenWhenTheSamePodcastIsThere(
    item: String, guid: String?, isSame: Bool
  ) throws {
    let world = try CatalogWorld()
    var feed = TestFeed(items: [.init("One", guid: "1")])
    feed.channel = """
      <itunes:new-feed-url>\(world.web.address)/new</itunes:new-feed-url>
      <podcast:guid xmlns:podcast="https://podcastindex.org/namespace/1.0">the same</podcast:guid>
      """
    world.web.set("/feed", feed.page)
    var new = TestFeed(items: [.init(item == "1" ? "One" : "Else", guid: item)])
    if let guid {
      new.channel =
        "<podcast:guid xmlns:podcast=\"https://podcastindex.org/namespace/1.0\">\(guid)</podcast:guid>"
    }
    world.web.set("/new", new.page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/new").isEmpty)
    world.advance(1)
    try world.refresh(podcast)
    #expect(world.web.wait("/new", count: 1))
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    let isMoved = try world.catalog.podcast(podcast)?.feedURL == "\(world.web.address)/new"
    #expect(isMoved == isSame)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 1)
  }

  @Test func theFurtherPagesOfAPagedFeedComeBehind() throws {
    let world = try CatalogWorld()
    for page in 1...3 {
      var feed = TestFeed(items: [.init("Episode \(page)", guid: "\(page)")])
      // The last page leads back to the first.
      feed.channel =
        "<atom:link rel=\"next\" href=\"\(world.web.address)/feed\(page == 3 ? "" : "/\(page + 1)")\"/>"
      world.web.set(page == 1 ? "/feed" : "/feed/\(page)", feed.page)
    }
    let podcast = try world.podcast()
    let outcome = try world.refresh(podcast, .firstLook)
    #expect(outcome.newEpisodes.count == 1)
    #expect(try eventually { try world.catalog.episodes(ofPodcast: podcast).count == 3 })
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.episodeCount == 3)
    #expect(world.web.requests("/feed/2").count == 1)
  }

  @Test func aPublicDirectoryLeadsToNoPrivateHost() throws {
    let world = try CatalogWorld { $0.searchURL = nil }
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    // Who names it himself may have it.
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.allowsPrivateHosts == true)
  }

  @Test func aFeedMayHaveSettingsOfItsOwn() throws {
    let world = try CatalogWorld { settings in
      var own = FeedSettings()
      own.userAgent = "Special/1"
      own.refresh = 7200
      settings.userAgent = "Usual/1"
      settings.feeds["http://feeds.example/a/"] = own
    }
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    try world.refresh(try world.podcast())
    #expect(world.web.requests("/feed").first?.header("user-agent") == "Usual/1")
    let other = try world.open { settings in
      settings.feeds = [
        "\(world.web.address)/other": settings.feeds["http://feeds.example/a/"] ?? FeedSettings()
      ]
    }
    defer { other.close() }
    world.web.set("/other", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try other.subscribe(feedURL: "\(world.web.address)/other").podcast.id
    _ = try wait { other.refresh(podcast: podcast, cause: .forced, completion: $0) }
    #expect(world.web.requests("/other").first?.header("user-agent") == "Special/1")
    #expect(try #require(try other.podcast(podcast)?.nextRefresh) >= wallClockSeconds() + 7190)
  }

  @Test func aBodyThatIsTheSameIsNotReadAgain() throws {
    let world = try CatalogWorld()
    var page = TestFeed(items: [.init("One", guid: "1")]).page
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    // What is in the catalogue is not what the feed says: who reads it again puts that right.
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("UPDATE episode SET title = 'Else', fingerprint = 0")
    page.headers.append(("ETag", "\"2\""))
    world.web.set("/feed", page)
    #expect(try world.refresh(podcast) == .unchanged)
    #expect(try world.catalog.episodes(ofPodcast: podcast).map(\.title) == ["Else"])
    world.web.set("/feed", TestFeed(items: [.init("Two", guid: "1")]).page)
    try world.refreshWhenDue(podcast)
    #expect(try world.catalog.episodes(ofPodcast: podcast).map(\.title) == ["Two"])
    try world.refresh(podcast)
    #expect(world.web.requests("/feed")[2].header("if-none-match") == "\"2\"")
  }

  @Test func theFeedsOwnWishIsKeptForAnswersThatDoNotRepeatIt() throws {
    let world = try CatalogWorld()
    let page = TestFeed(channel: "<ttl>600</ttl>", items: [.init("One", guid: "1")]).page
    world.web.set("/feed") { request in
      if request.header("if-none-match") != nil { return FakeWeb.Page(status: 304) }
      var page = page
      page.headers.append(("ETag", "\"1\""))
      return page
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    try world.refreshWhenDue(podcast)
    #expect(world.web.requests("/feed")[1].header("if-none-match") != nil)
    #expect(try #require(try world.catalog.podcast(podcast)?.nextRefresh) >= wallClockSeconds() + 35_900)
  }

  @Test func aFeedThatCameFromAPublicHostCannotLeadToAPrivateOneLater() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("UPDATE feed SET is_private = 0, may_be_private = 0")
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == .EACCES)
    #expect(world.web.requests("/feed").count == 1)
  }

  @Test func aCopyOfTheFileAloneIsWholeWhenTheCatalogueIsClosed() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    _ = try other.subscribe(feedURL: "http://a.example/")
    other.close()
    let copy = try TemporaryPlaces()
    try Directories.createPrivate(copy.places.data)
    try Directories.replace(
      "\(copy.places.data)/catalog.sqlite",
      with: try Directories.read("\(world.home.places.data)/catalog.sqlite"))
    let restored = try Catalog(
      places: copy.places, settings: world.settings, http: world.http, feedReader: .shipped)
    defer { restored.close() }
    #expect(try restored.subscriptions().count == 1)
  }

  @Test func aClockThatWasSetBackDelaysNoRefreshForLong() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    // All that is known was learnt in a year from now.
    world.advance(365 * 86_400)
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    try world.refresh(podcast)
    world.advance(-365 * 86_400)
    let other = try world.open()
    defer { other.close() }
    other.startScheduler()
    let soon = wallClockSeconds() + 4000
    #expect(try eventually { try (other.podcast(podcast)?.nextRefresh ?? .max) < soon })
    #expect(try #require(try other.podcast(podcast)?.lastRefresh) <= wallClockSeconds())
  }

  @Test func aFeedThatNeverEndsIsBounded() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set("/feed") { _ in
      var text = "<rss version=\"2.0\"><channel><title>Endless</title>"
      text += String(repeating: "<item><title>no enclosure</title></item>", count: 1_800_000)
      return FakeWeb.Page(text)
    }
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error.map { $0.errno == .EFBIG || $0.errno == .EPROTO } == true)
  }

  @Test func aFeedThatIsCompleteIsAskedForInAWeekFromTheFirstTimeOn() throws {
    let world = try CatalogWorld()
    var feed = TestFeed(items: [.init("One", guid: "1")])
    feed.channel = "<itunes:complete>Yes</itunes:complete>"
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let next = try #require(try world.catalog.podcast(podcast)?.nextRefresh)
    #expect(next >= wallClockSeconds() + 6 * 86_400)
  }
}
