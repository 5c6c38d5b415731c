import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Addresses that lead to a feed elsewhere: the podcast's own, or another's.
@Suite struct RedirectTests {
  static let own = TestFeed(title: "Harbour Lights", items: TestFeed.items(0..<8))
  static let other = TestFeed(title: "Morning News", items: stories(2..<12))

  /// Another podcast's episodes, of the same days.
  static func stories(_ numbers: Range<Int>) -> [TestFeed.Item] {
    TestFeed.items(numbers, "n", host: "n.example").map { item in
      var item = item
      item.title = "The story of \(item.title)"
      item.date = item.date?.replacing("10:00:00", with: "17:30:00")
      return item
    }
  }

  private func redirect(_ status: Int, _ path: String = "/there") -> FakeWeb.Page {
    FakeWeb.Page(status: status, headers: [("Location", path)])
  }

  /// A world with a podcast that has been read, at /feed.
  private func followed(_ feed: TestFeed = own, in world: CatalogWorld) throws -> Int64 {
    world.web.set("/feed", feed.page)
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    try world.refresh(podcast)
    return podcast
  }

  private func database(_ world: CatalogWorld) throws -> Database {
    try Database(path: "\(world.home.places.data)/catalog.sqlite")
  }

  /// Refreshes, and sees that nothing is taken.
  private func expectRefused(_ podcast: Int64, in world: CatalogWorld, times: Int = 3) throws {
    let before = try world.catalog.episodes(ofPodcast: podcast)
    let (title, address) = try facts(podcast, world)
    for _ in 0..<times {
      let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
      #expect(error?.errno == .EPROTO)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
    }
    #expect(try world.catalog.episodes(ofPodcast: podcast) == before)
    #expect(try facts(podcast, world) == (title, address))
  }

  private func facts(_ podcast: Int64, _ world: CatalogWorld) throws -> (String, String) {
    let known = try #require(try world.catalog.podcast(podcast))
    return (known.title, known.feedURL.forRequest)
  }

  @Test(arguments: [301, 302, 307, 308], [true, false])
  func anotherPodcastsFeedIsNotTaken(status: Int, isFollowed: Bool) throws {
    let world = try CatalogWorld()
    let podcast = try followed(in: world)
    world.web.set("/there", Self.other.page)
    var there: Int64?
    if isFollowed {
      let id = try world.catalog.subscribe(feedURL: "\(world.web.address)/there").podcast.id
      try world.refresh(id)
      there = id
    }
    world.web.set("/feed", redirect(status))
    try expectRefused(podcast, in: world)
    let told = try #require(try world.catalog.podcast(podcast)?.error)
    #expect(told.contains("another podcast") && told.contains("“Morning News”"))
    #expect(try world.catalog.subscriptions().count == (isFollowed ? 2 : 1))
    if let there {
      try world.refresh(there)
      #expect(try world.catalog.episodes(ofPodcast: there).count == 10)
    }
    // As soon as it is itself again it goes on.
    world.web.set("/feed", TestFeed(title: "Harbour Lights", items: TestFeed.items(1..<9)).page)
    #expect(try world.refresh(podcast).newEpisodes.count == 1)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test(arguments: [true, false])
  func `Of two addresses that lead to one feed one says where it has moved to`(isAnnounced: Bool) throws {
    let world = try CatalogWorld()
    world.web.set("/there", Self.own.page)
    var announcing = Self.own
    announcing.channel = "<itunes:new-feed-url>\(world.web.address)/there</itunes:new-feed-url>"
    for path in ["/a", "/b"] { world.web.set(path, isAnnounced ? announcing.page : redirect(301)) }
    let listed = try ["/a", "/b"].map { path in
      let one = try wait { world.catalog.subscribe(address: "\(world.web.address)\(path)", completion: $0) }
      #expect(world.catalog.waitForRefreshes(seconds: patience))
      return one
    }
    for _ in 0..<3 {
      for one in listed {
        try world.refresh(one.podcast.id)
        #expect(world.catalog.waitForRefreshes(seconds: patience))
      }
    }
    let now = try world.catalog.subscriptions()
    #expect(now.map(\.name) == ["Harbour Lights", "Harbour Lights (2)"])
    #expect(now.map(\.podcast.error) == [nil, "has moved to “Harbour Lights”, which you follow"])
    #expect(now.map(\.podcast.feedURL.forRequest) == ["/there", "/b"].map { world.web.address + $0 })
  }

  /// A date says nothing of another feed, nor does a tag that anybody may give.
  @Test(arguments: [301, 302]) func anotherFeedThatHasNothingNewIsNoMove(status: Int) throws {
    let world = try CatalogWorld()
    var page = Self.own.page
    page.headers += [("Last-Modified", "Wed, 01 Jan 2025 10:00:00 GMT"), ("ETag", "\"1\"")]
    let podcast = try world.podcast()
    world.web.set("/feed", page)
    try world.refresh(podcast)
    world.web.set("/there") { request in
      if request.header("if-modified-since") != nil { return FakeWeb.Page(status: 304) }
      return Self.other.page
    }
    world.web.set("/feed", redirect(status))
    try expectRefused(podcast, in: world)
  }

  @Test func aMoveCountsThoughTheTargetHasNothingNew() throws {
    let world = try CatalogWorld()
    let tag = "\"0123456789abcdef\""
    var page = Self.own.page
    page.headers.append(("ETag", tag))
    let podcast = try world.podcast()
    world.web.set("/feed", page)
    try world.refresh(podcast)
    world.web.set("/there") { [page] request in
      if request.header("if-none-match") != tag { return page }
      return FakeWeb.Page(status: 304, headers: [("ETag", tag)])
    }
    world.web.set("/feed", redirect(301))
    for _ in 0..<2 { #expect(try world.refreshWhenDue(podcast) == .unchanged) }
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try facts(podcast, world).1 == "\(world.web.address)/there")
    // What comes from elsewhere than before must come whole once.
    #expect(world.web.requests("/there").count == 3)
  }

  /// A show that has moved for good: what is at its new address, and how many episodes there are then.
  enum Move: CaseIterable {
    case same, otherHost, onlyNews, renamedLongAgo, empty, oneItem, hasSaidItsGuid

    var before: TestFeed {
      var feed = own
      if self == .oneItem { feed.items = TestFeed.items(3..<4) }
      if self == .hasSaidItsGuid { feed.channel = Self.guid }
      return feed
    }

    var after: (feed: TestFeed, count: Int) {
      switch self {
      case .same: (TestFeed(title: own.title, items: TestFeed.items(1..<9)), 9)
      case .otherHost: (TestFeed(title: own.title, items: TestFeed.items(0..<9, "z", host: "z.example")), 9)
      case .onlyNews: (TestFeed(title: own.title, items: TestFeed.items(20..<24)), 12)
      case .renamedLongAgo: (TestFeed(title: "Quayside", items: TestFeed.items(3..<25)), 25)
      case .empty: (TestFeed(title: own.title), 8)
      case .oneItem: (TestFeed(title: own.title, items: TestFeed.items(9..<10)), 2)
      case .hasSaidItsGuid:
        (TestFeed(title: "Quayside", channel: Self.guid, items: TestFeed.items(20..<24, "z")), 12)
      }
    }

    private static let guid =
      "<podcast:guid xmlns:podcast=\"https://podcastindex.org/namespace/1.0\">a-guid</podcast:guid>"
  }

  @Test(arguments: Move.allCases, [[301], [308, 302], [302]])
  func aShowThatHasMovedIsTakenAtOnce(move: Move, way: [Int]) throws {
    let world = try CatalogWorld()
    let podcast = try followed(move.before, in: world)
    let stems = try world.catalog.episodes(ofPodcast: podcast).map(\.stem)
    world.web.set("/feed", redirect(way[0], way.count == 1 ? "/there" : "/between"))
    if way.count > 1 { world.web.set("/between", redirect(way[1])) }
    world.web.set("/there", move.after.feed.page)
    for _ in 0..<3 {
      try world.refresh(podcast)
      #expect(try world.catalog.episodes(ofPodcast: podcast).count == move.after.count)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
    }
    #expect(try world.catalog.episodes(ofPodcast: podcast).prefix(stems.count).map(\.stem) == stems)
    // What holds nothing yet is no new home.
    let place = way[0] == 302 || move == .empty ? "/feed" : way.count == 1 ? "/there" : "/between"
    #expect(try facts(podcast, world) == (move.after.feed.title, world.web.address + place))
  }

  /// It may be filled one day, or the redirect be taken back.
  @Test(arguments: [true, false]) func anEmptyFeedIsNoNewHome(isFilled: Bool) throws {
    let world = try CatalogWorld()
    let podcast = try followed(in: world)
    let count = try world.catalog.episodes(ofPodcast: podcast).count
    var empty = TestFeed(title: Self.own.title).page
    empty.headers.append(("ETag", "\"0123456789abcdef\""))
    world.web.set("/there") { [empty] request in
      request.header("if-none-match") == nil ? empty : FakeWeb.Page(status: 304, headers: empty.headers)
    }
    world.web.set("/feed", redirect(301))
    for _ in 0..<3 { try world.refresh(podcast) }
    var grown = Self.own
    grown.items = TestFeed.items(40..<41) + grown.items
    world.web.set(isFilled ? "/there" : "/feed", grown.page)
    for _ in 0..<2 { try world.refresh(podcast) }
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == count + 1)
    #expect(try facts(podcast, world).1 == world.web.address + (isFilled ? "/there" : "/feed"))
  }

  /// What is no proof.
  enum Stranger: CaseIterable {
    case guest, onlyOne, announcement, empty, page, sameDays

    var before: TestFeed {
      self == .onlyOne ? TestFeed(title: own.title, items: TestFeed.items(3..<4)) : own
    }

    var after: FakeWeb.Page {
      switch self {
      case .guest, .onlyOne:
        TestFeed(title: other.title, items: other.items + TestFeed.items(3..<4)).page
      case .announcement:
        TestFeed(title: "This podcast has moved", items: TestFeed.items(20..<21, "moved")).page
      case .empty: TestFeed(title: "Parked").page
      case .sameDays: TestFeed(title: other.title, items: TestFeed.items(0..<8, "n", host: "n.example")).page
      case .page: FakeWeb.Page("<!DOCTYPE html><html><title>Hosting</title><body>Welcome</body></html>")
      }
    }
  }

  @Test(arguments: Stranger.allCases, [301, 302])
  func whatIsNotThePodcastsIsRefused(stranger: Stranger, status: Int) throws {
    let world = try CatalogWorld()
    let podcast = try followed(stranger.before, in: world)
    world.web.set("/there", stranger.after)
    world.web.set("/feed", redirect(status))
    try expectRefused(podcast, in: world)
  }

  /// Two that are followed stay two, whatever they are called, until their episodes say that they are one.
  @Test func anotherPodcastOfTheSameNameIsNotTaken() throws {
    let world = try CatalogWorld()
    let podcast = try followed(in: world)
    let namesake = TestFeed(title: Self.own.title, items: Self.stories(11..<21))
    world.web.set("/there", namesake.page)
    let there = try world.catalog.subscribe(feedURL: "\(world.web.address)/there", name: "Another").podcast.id
    try world.refresh(there)
    world.web.set("/feed", redirect(301))
    try expectRefused(podcast, in: world)
    #expect(try world.catalog.subscriptions().count == 2)
  }

  /// It is asked for less and less, in the end once a week.
  @Test func anAddressThatLeadsElsewhereIsLeftToRest() throws {
    let world = try CatalogWorld()
    try Directories.createPrivate(world.home.places.state)
    let podcast = try followed(in: world)
    world.web.set("/there", Self.other.page)
    world.web.set("/feed", redirect(301))
    // Up to a tenth is added at random.
    var waits: [Int64] = []
    for _ in 0..<9 {
      _ = try? world.refresh(podcast)
      let next = try #require(try world.catalog.podcast(podcast)?.nextRefresh)
      waits.append((next - wallClockSeconds()) / 3000)
    }
    #expect(waits[0] == 1 && zip(waits, waits.dropFirst()).allSatisfy { $0 * 10 <= ($1 + 1) * 11 })
    #expect(try #require(waits.last) >= 7 * 86_400 / 3000 - 1)
    let log = String(
      decoding: try Directories.read(world.home.places.logFile), as: UTF8.self)
    #expect(log.split(separator: "\n").count { $0.contains("another podcast, “Morning News”") } == 1)
  }

  /// Of which nothing is known but how a list calls it.
  @Test(arguments: [true, false]) func whatHasNotBeenReadDoesNotBecomeAnothersTwin(isSame: Bool) throws {
    let world = try CatalogWorld()
    let podcast = try followed(Self.other, in: world)
    world.web.set("/old", redirect(301, "/feed"))
    let title = isSame ? "Morning News" : "Harbour Lights"
    let old = try world.catalog.subscribe(feedURL: "\(world.web.address)/old", title: title).podcast.id
    if !isSame {
      try expectRefused(old, in: world)
      #expect(try world.catalog.subscriptions().count == 2)
      return
    }
    let error = #expect(throws: CatalogError.self) { try world.refresh(old) }
    #expect(error?.errno == .EEXIST)
    #expect(try world.catalog.subscriptions().map(\.podcast.id) == [podcast])
    #expect(try world.catalog.podcast(old) == nil)
  }

  @Test func anAddressThatLeadsToWhatIsFollowedIsNoSecondSubscription() throws {
    let world = try CatalogWorld()
    let podcast = try followed(in: world)
    world.web.set("/old", redirect(301, "/feed"))
    let answer = try #require(
      Waiting.result(within: patience) {
        world.catalog.subscribe(address: "\(world.web.address)/old", completion: $0)
      })
    #expect(throws: CatalogError.self) { try answer.get() }
    #expect(try world.catalog.subscriptions().map(\.podcast.id) == [podcast])
  }

  @Test func `A podcast that moves takes its new address from one that nobody follows`() throws {
    let world = try CatalogWorld()
    let old = try followed(Self.own, in: world)
    let stems = try world.catalog.episodes(ofPodcast: old).map(\.stem)
    world.web.set("/new", Self.own.page)
    world.web.set("/search", world.web.answer([("Harbour Lights", "/new")]))
    let search = try world.search("lights")
    let found = try #require(try world.catalog.results(ofSearch: search.id).first).podcast.id
    world.web.set("/feed", redirect(301, "/new"))
    for _ in 0..<2 { try world.refresh(old) }
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.podcast(old)?.feedURL == WebAddress("\(world.web.address)/new"))
    #expect(try world.catalog.episodes(ofPodcast: old).map(\.stem) == stems)
    #expect(try world.catalog.podcast(found) == nil)
    #expect(try world.catalog.results(ofSearch: search.id).map(\.podcast.id) == [old])
  }
}
