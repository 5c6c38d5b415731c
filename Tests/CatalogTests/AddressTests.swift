import Catalog
import Configuration
import FeedKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Addresses as people paste them, as lists and web pages name them, and as nobody may hear of them.
@Suite struct AddressTests {
  private func subscribe(_ world: CatalogWorld, _ address: String, isTyped: Bool = true) throws
    -> ListedPodcast
  {
    try wait { world.catalog.subscribe(address: address, isTyped: isTyped, completion: $0) }
  }

  @Test(arguments: [
    ("https://a.example/f", ["https://a.example/f"]), (" \"https://a.example/f\" ", ["https://a.example/f"]),
    ("<https://a.example/f>", ["https://a.example/f"]), ("“feed://a.example/f”", ["http://a.example/f"]),
    ("a.example/f", ["https://a.example/f", "http://a.example/f"]),
    ("localhost:8000/f.xml", ["https://localhost:8000/f.xml", "http://localhost:8000/f.xml"]),
    ("127.0.0.1/f", ["https://127.0.0.1/f", "http://127.0.0.1/f"]),
    ("<a.example:8080/f?x=1>", ["https://a.example:8080/f?x=1", "http://a.example:8080/f?x=1"]),
    ("http:a.example/f", ["http://a.example/f"]), ("https:a.example:8000/f", ["https://a.example:8000/f"]),
    ("//a.example/f", ["https://a.example/f", "http://a.example/f"]),
    ("[::1]:8000/f", ["https://[::1]:8000/f", "http://[::1]:8000/f"]),
    ("https://a.example/f https://b.example/f", []),
    ("https：//a.example/f", ["https://a.example/f"]),
    ("a.example／f", ["https://a.example/f", "http://a.example/f"]),
    ("harbour", []), ("harbour lights", []), ("ftp://a.example/", []), ("", []), ("12:30", []),
    ("http://a.example:65536/f", []), ("http://[::1]a/f", []),
    ("http://a.example:/f", ["http://a.example:/f"]),
    ("http://[::1]:65535/f", ["http://[::1]:65535/f"]),
    ("http://me:99999@a.example/f", ["http://me:99999@a.example/f"]),
  ])
  func `A pasted address is read without what stands around it`(text: String, addresses: [String]) {
    #expect(SubscriptionAddress.typed(text).map(\.forRequest) == addresses)
  }

  @Test func `An address without a scheme is tried by https, then by http`() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let listed = try subscribe(world, "<127.0.0.1:\(world.web.port)/feed>")
    #expect(listed.podcast.feedURL == "\(world.web.address)/feed")
    let error = #expect(throws: CatalogError.self) {
      try subscribe(world, "127.0.0.1:\(world.web.port)/feed")
    }
    #expect(error?.errno == .EEXIST)
  }

  @Test(arguments: [
    "http://me:geheim@members.example/private/TOKENabc123XYZ/feed", "feed://members.example/f.xml",
    "members.example/private/TOKEN",
    "feed:members.example",
    "\"https://members.example/x\"", "harbour https://members.example/x", "me:geheim@members.example",
    "localhost:8000/feed country:de", "//members.example/private/TOKEN",
    "https：//members.example/private/TOKEN",
    "members.example／private／TOKEN", "https：／／members.example／TOKEN", "https:members.example/TOKEN",
    "source:local http://members.example/x",
    // Combining marks, a variation selector and a character that joins what follows, beside the delimiters.
    "https:/\u{301}/members.example/private/TOKEN", "members.example/\u{338}private/TOKEN",
    "me:\u{20DD}geheim@\u{301}members.example", "https:\u{FE0F}//members.example/TOKEN",
    "members.example\u{0600}/private/TOKEN", "members.example／\u{301}private/TOKEN",
  ])
  func `No search service gets to see an address`(text: String) throws {
    let world = try CatalogWorld()
    try Directories.createPrivate(world.home.places.state)
    world.web.set("/search", world.web.answer([("A", "/a")]))
    let error = #expect(throws: CatalogError.self) { try world.search(text) }
    #expect(error?.errno == .EINVAL && error?.message.contains("subscribe") == true)
    #expect(world.web.requestCount == 0)
    let log = String(decoding: try Directories.read(world.home.places.logFile), as: UTF8.self)
    #expect(!log.contains("members.example") && !log.contains("8000"))
  }

  @Test(arguments: [
    "relay.fm", "AC/DC", "AC／DC", "なに？", "すごい。本当？", "news: today", "9/11", "me@home.example", "rss", "Who?",
    "24.12.", "feed",
  ])
  func `Words that look a little like an address are searched for`(text: String) throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("A", "/a")]))
    #expect(try world.search(text).resultCount == 1)
  }

  @Test func `A list makes no request into the private network until its address is typed`() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    world.web.set("/public", TestFeed(items: [.init("One", guid: "1")]).page)
    let address = "\(world.web.address)/feed"
    let list =
      "<opml version=\"2.0\"><body><outline text=\"L\" type=\"rss\" xmlUrl=\"\(address)\"/></body></opml>"
    #expect(try world.catalog.importOPML(Array(list.utf8)).added == 1)
    let podcast = try #require(try world.catalog.subscriptions().first).podcast.id
    for cause in [RefreshCause.due, .forced] {
      let error = #expect(throws: CatalogError.self) { try world.refresh(podcast, cause) }
      #expect(error?.errno == .EACCES && error?.message.contains("podcastfs subscribe") == true)
    }
    #expect(world.web.requestCount == 0)
    let error = #expect(throws: CatalogError.self) { try subscribe(world, address) }
    #expect(error?.errno == .EEXIST)
    #expect(try world.refresh(podcast).newEpisodes.count == 1)
  }

  /// Overcast's has episodes; so may a stranger's.
  @Test func `A list with episodes makes no request into the private network`() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let list = """
      <opml version="2.0"><body><outline type="rss" text="L" xmlUrl="\(world.web.address)/feed">
      <outline type="podcast-episode" enclosureUrl="http://h.example/1.mp3" played="1"/></outline></body></opml>
      """
    let outcome = try world.catalog.importOPML(Array(list.utf8))
    #expect(outcome.added == 1 && outcome.awaited == 1)
    let podcast = try #require(try world.catalog.subscriptions().first).podcast.id
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == .EACCES)
    #expect(world.web.requestCount == 0)
  }

  @Test func `A section of the configuration names a feed of the private network`() throws {
    let world = try CatalogWorld()
    let catalog = try world.open { $0.feeds["\(world.web.address)/feed"] = FeedSettings() }
    defer { catalog.close() }
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let list =
      "<opml version=\"2.0\"><body><outline type=\"rss\" xmlUrl=\"\(world.web.address)/feed\"/></body></opml>"
    #expect(try catalog.importOPML(Array(list.utf8)).added == 1)
    let podcast = try #require(try catalog.subscriptions().first).podcast.id
    #expect(
      try wait { catalog.refresh(podcast: podcast, cause: .firstLook, completion: $0) }.newEpisodes.count == 1
    )
  }

  @Test func `The user's own state names feeds of the private network`() throws {
    let old = try CatalogWorld()
    old.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    _ = try old.catalog.subscribe(feedURL: "\(old.web.address)/feed")
    let new = try CatalogWorld()
    #expect(try new.catalog.importOPML(old.catalog.exportState(kept: [])).added == 1)
    let podcast = try #require(try new.catalog.subscriptions().first).podcast.id
    #expect(try new.refresh(podcast).newEpisodes.count == 1)
  }

  @Test func `A state does not make a stranger's feed one of the user's own`() throws {
    let old = try CatalogWorld()
    old.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let list =
      "<opml version=\"2.0\"><body><outline type=\"rss\" xmlUrl=\"\(old.web.address)/feed\"/></body></opml>"
    _ = try old.catalog.importOPML(Array(list.utf8))
    let new = try CatalogWorld()
    #expect(try new.catalog.importOPML(old.catalog.exportState(kept: [])).added == 1)
    let podcast = try #require(try new.catalog.subscriptions().first).podcast.id
    #expect(throws: CatalogError.self) { try new.refresh(podcast) }
    #expect(old.web.requestCount == 0)
  }

  @Test(arguments: ["feed:", "", "pcast:"])
  func `A link of a web page makes no request into the private network`(scheme: String) throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let error = #expect(throws: CatalogError.self) {
      try subscribe(world, "\(scheme)\(world.web.address)/feed", isTyped: false)
    }
    #expect(error?.errno == .EACCES)
    #expect(world.web.requestCount == 0)
    #expect(try world.catalog.subscriptions().isEmpty)
  }

  @Test func `An answer that a proxy has changed is a feed`() throws {
    let world = try CatalogWorld()
    var page = TestFeed(title: "Show", items: [.init("One", guid: "1")]).page
    page.status = 203
    world.web.set("/feed", page)
    let listed = try subscribe(world, "\(world.web.address)/feed")
    #expect(listed.name == "Show")
    #expect(try world.refresh(listed.podcast.id) == .unchanged)
  }

  @Test func `A page may name its feed by a scheme of feeds`() throws {
    let world = try CatalogWorld()
    let feed = "feed:\(world.web.address)/show"
    world.web.set(
      "/link",
      FakeWeb.Page("<html><link rel=\"alternate\" type=\"application/rss+xml\" href=\"\(feed)\"><body>"))
    world.web.set("/show", TestFeed(title: "Show", items: [.init("One", guid: "1")]).page)
    let listed = try subscribe(world, "\(world.web.address)/link")
    #expect(listed.name == "Show")
  }

  @Test func `Of the feeds that a page names the first with something to play is followed`() throws {
    let world = try CatalogWorld()
    let links = ["blog", "comments", "show", "other"].map {
      "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/\($0)\">"
    }
    world.web.set("/", FakeWeb.Page("<html><head>\(links.joined())</head><body>Hi"))
    let blog =
      "<rss version=\"2.0\"><channel><title>Blog</title><item><title>Post</title></item></channel></rss>"
    world.web.set("/blog", FakeWeb.Page(blog))
    world.web.set("/show", TestFeed(title: "Show", items: [.init("One", guid: "1")]).page)
    world.web.set("/other", TestFeed(title: "Other", items: [.init("One", guid: "1")]).page)
    #expect(try subscribe(world, "\(world.web.address)/").name == "Show")
    #expect(world.web.requests("/other").isEmpty)
    // Where none has, the first feed.
    world.web.set("/show", FakeWeb.Page(status: 404))
    world.web.set("/other", FakeWeb.Page(status: 404))
    world.web.set("/again", FakeWeb.Page("<html><head>\(links.joined())</head><body>Hi"))
    #expect(try subscribe(world, "\(world.web.address)/again").name == "Blog")
  }
}
