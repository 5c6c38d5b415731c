import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What publishers change: facts of their channel, dates, addresses.
@Suite struct PublisherTests {
  @Test func `A publisher can take away what the feed said`() throws {
    let world = try CatalogWorld()
    var feed = TestFeed(items: [.init("One", guid: "1")])
    feed.channel = """
      <itunes:author>Ann</itunes:author><description>About ships</description><link>http://a.example/</link>
      <itunes:image href="http://a.example/i.jpg"/><language>en</language>
      """
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(known.author == "Ann" && known.description == "About ships" && known.imageURL != nil)
    feed.channel = ""
    feed.title = ""
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    let now = try #require(try world.catalog.podcast(podcast))
    #expect(now.author == nil && now.description == nil && now.imageURL == nil && now.link == nil)
    #expect(now.title == "Harbour Lights", "a podcast always has one")
    #expect(try wait { world.catalog.find("ships source:local", completion: $0) }.podcasts.isEmpty)
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
  }

  @Test func `What the configuration says of an address applies after the feed has moved away`() throws {
    let web = Monitor("")
    let world = try CatalogWorld()
    web.withLock { $0 = world.web.address }
    let catalog = try world.open { settings in
      var own = FeedSettings()
      own.userAgent = "Special/1"
      try? own.rules.set(.autoDownload, to: "5")
      settings.feeds["\(world.web.address)/feed"] = own
    }
    defer { catalog.close() }
    var feed = TestFeed(items: TestFeed.items(0..<5))
    feed.channel = "<atom:link rel=\"next\" href=\"\(world.web.address)/page\"/>"
    world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "\(world.web.address)/there")]))
    world.web.set("/there", feed.page)
    world.web.set("/page", TestFeed(items: TestFeed.items(5..<9)).page)
    let podcast = try catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    for _ in 0..<3 {
      _ = try wait { catalog.refresh(podcast: podcast, cause: .forced, completion: $0) }
      #expect(catalog.waitForRefreshes(seconds: patience))
    }
    #expect(try catalog.podcast(podcast)?.feedURL == "\(world.web.address)/there")
    for path in ["/there", "/page"] {
      #expect(world.web.requests(path).allSatisfy { $0.header("user-agent") == "Special/1" })
    }
    #expect(world.web.requests("/feed").count == 2)
    #expect(try catalog.effectiveRules(ofPodcast: podcast).text(.autoDownload) == "5")
  }

  @Test func `An archive as a whole is bounded in bytes`() throws {
    let world = try CatalogWorld(archiveBytes: 20_000)
    for number in 1...20 {
      var feed = TestFeed(items: [.init("Episode \(number)", guid: "\(number)")])
      feed.items[0].extra = "<description>\(String(repeating: "x", count: 4000))</description>"
      feed.channel = "<atom:link rel=\"next\" href=\"\(world.web.address)/\(number + 1)\"/>"
      world.web.set("/\(number)", feed.page)
    }
    let podcast = try world.podcast("/1")
    for _ in 0..<3 {
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
    }
    #expect(try world.catalog.episodes(ofPodcast: podcast).count < 8)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == nil)
  }

  @Test func `A feed with nothing to play says so until it has something`() throws {
    let world = try CatalogWorld()
    let items = (0..<3).map { "<item><title>Post \($0)</title><link>http://a.example/\($0)</link></item>" }
    var page = FakeWeb.Page(
      "<rss version=\"2.0\"><channel><title>Blog</title>\(items.joined())</channel></rss>",
      headers: [("ETag", "\"1\"")])
    world.web.set("/feed", page)
    let listed = try wait { world.catalog.subscribe(address: "\(world.web.address)/feed", completion: $0) }
    let said = "the feed has 3 items, and nothing to play"
    #expect(listed.podcast.error == said)
    #expect(try world.catalog.missingPages(ofPodcast: listed.podcast.id) == said)
    for isModified in [true, false] {
      if !isModified { page = FakeWeb.Page(status: 304) }
      world.web.set("/feed", page)
      try world.refreshWhenDue(listed.podcast.id)
      #expect(try world.catalog.subscriptions().first?.podcast.error == said)
    }
    world.web.set("/feed", TestFeed(title: "Blog", items: [.init("One", guid: "1")]).page)
    try world.refresh(listed.podcast.id)
    #expect(try world.catalog.podcast(listed.podcast.id)?.error == nil)
  }
}
