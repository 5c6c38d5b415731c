import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Subscribing by address, lists of subscriptions, refreshes that come on their own.
@Suite struct SubscriptionTests {
  /// Such a name would lead out of its folder, and a listing with it fails as a whole.
  @Test func `The names of a list become names of folders`() throws {
    let world = try CatalogWorld()
    let names = ["../a/b", "..", ".hidden", "a\u{7}b", "Mine: own", "CON"]
    let outlines = names.enumerated().map { number, name in
      "<outline type='rss' text='\(name)' title='T' xmlUrl='https://\(number).example/f'/>"
    }
    _ = try world.catalog.importOPML(Array("<opml><body>\(outlines.joined())</body></opml>".utf8))
    let listed = try world.catalog.subscriptions().map(\.name)
    #expect(listed.count == names.count && listed.allSatisfy { EpisodeName.isDirectoryName($0) }, "\(listed)")
    #expect(listed.contains("Mine - own"))
  }

  /// As on a full disk: who subscribes hears of it, and what has come stays.
  @Test func aFeedThatCouldNotBeKeptWholeIsTold() throws {
    let world = try CatalogWorld()
    world.web.set(
      "/feed", TestFeed(items: (0..<1500).map { .init("Episode \($0)", guid: "\($0)", date: nil) }).page)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run(
      """
      CREATE TRIGGER full BEFORE INSERT ON episode WHEN (SELECT count(*) FROM episode) >= 1200
      BEGIN SELECT RAISE(ABORT, 'full'); END
      """)
    let error = #expect(throws: CatalogError.self) {
      try wait { world.catalog.subscribe(address: "\(world.web.address)/feed", completion: $0) }
    }
    #expect(error?.message.contains("subscribed to Harbour Lights, but not all") == true, "\(error as Any)")
    let listed = try #require(try world.catalog.subscriptions().first)
    #expect(listed.podcast.episodeCount == 1000 && listed.podcast.error?.contains("full") == true)
    try file.run("DROP TRIGGER full")
    try world.refresh(listed.podcast.id)
    let podcast = try world.catalog.podcast(listed.podcast.id)
    #expect(podcast?.episodeCount == 1500 && podcast?.error == nil)
  }

  private func subscribe(_ world: CatalogWorld, _ address: String) throws -> ListedPodcast {
    try wait { world.catalog.subscribe(address: address, completion: $0) }
  }

  @Test(arguments: ["", "feed:", "pcast://", "itpc://"])
  func aFeedIsFetchedOnceAndNamedByItsTitle(scheme: String) throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(title: "Lights: on", items: [.init("One", guid: "1")]).page)
    let host = world.web.address.dropFirst("http://".count)
    let address = scheme.hasSuffix("//") ? "\(scheme)\(host)/feed" : "\(scheme)http://\(host)/feed"
    let listed = try subscribe(world, address)
    #expect(listed.name == EpisodeName.directoryName(title: "Lights: on"))
    #expect(listed.podcast.isFetched)
    #expect(try world.catalog.episodes(ofPodcast: listed.podcast.id).count == 1)
    #expect(world.web.requests("/feed").count == 1)
    let error = #expect(throws: CatalogError.self) { try subscribe(world, address) }
    #expect(error?.errno == .EEXIST && error?.message == "already subscribed to \(listed.name)")
  }

  /// In whatever process they are.
  @Test func `Of five that subscribe to one address at once one asks its host`() throws {
    let world = try CatalogWorld()
    var page = TestFeed(items: [.init("One", guid: "1")]).page
    page.delay = 0.3
    world.web.set("/feed", page)
    let others = try (0..<2).map { _ in try world.open() }
    defer { for other in others { other.close() } }
    let ends = Monitor<[Result<ListedPodcast, CatalogError>]>([])
    for catalog in [world.catalog, world.catalog, world.catalog] + others {
      catalog.subscribe(address: "\(world.web.address)/feed") { end in
        ends.withLockNotifying { $0.append(end) }
      }
    }
    let all = ends.wait(until: .after(patience)) { $0.count == 5 ? $0 : nil }
    #expect(all?.count { (try? $0.get()) != nil } == 1)
    for case .failure(let error) in all ?? [] { #expect(error == .alreadyFollowed("Harbour Lights")) }
    #expect(world.web.requests("/feed").count == 1)
  }

  @Test func `A subscription to where a feed was becomes that of another process to where it is`() throws {
    let world = try CatalogWorld()
    world.web.set("/old", FakeWeb.Page(status: 301, headers: [("Location", "\(world.web.address)/real")]))
    world.web.set("/real", TestFeed(items: [.init("One", guid: "1")]).page)
    let real = try world.podcast("/real")
    // Another process subscribes after this one has looked whether anybody has.
    try world.file().script(
      """
      CREATE TRIGGER meanwhile AFTER INSERT ON subscription WHEN new.podcast_id <> \(real) BEGIN
        INSERT INTO subscription (podcast_id, name, name_key, subscribed) VALUES (\(real), 'Real', 'real', 1);
      END
      """)
    let error = #expect(throws: CatalogError.self) { try subscribe(world, "\(world.web.address)/old") }
    #expect(error == .alreadyFollowed("Real"), "\(String(describing: error))")
    #expect(try world.catalog.subscriptions().map(\.name) == ["Real"])
  }

  @Test func aWebPageLeadsToItsFeed() throws {
    let world = try CatalogWorld()
    world.web.set(
      "/",
      FakeWeb.Page(
        """
        <!DOCTYPE html><html><head><LINK REL=stylesheet href=/x.css><link rel="alternate"
        type="application/rss+xml" title="A > B" href="feed?a=1&amp;b=2"></head><body>Hi
        """))
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let listed = try subscribe(world, "\(world.web.address)/")
    #expect(listed.podcast.feedURL == "\(world.web.address)/feed?a=1&b=2")
    #expect(listed.name == "Harbour Lights")
  }

  @Test func whatIsNoFeedIsNotSubscribedTo() throws {
    let world = try CatalogWorld()
    world.web.set("/page", FakeWeb.Page("<html><body>Nothing here</body></html>"))
    for (address, errno) in [
      ("\(world.web.address)/page", Errno.EPROTO), ("\(world.web.address)/none", .ENOENT),
      ("no address", .EINVAL), ("ftp://a.example/", .EINVAL),
    ] {
      let error = #expect(throws: CatalogError.self) { try subscribe(world, address) }
      #expect(error?.errno == errno)
    }
    #expect(try world.catalog.subscriptions().isEmpty)
  }

  @Test func aListIsImportedAndItsExportGivesTheSame() throws {
    let world = try CatalogWorld()
    let list = """
      <opml version="2.0"><body><outline text="Folder">
      <outline type="rss" text="One" xmlUrl="http://user:word@a.example/feed?token=x"/>
      <outline type="rss" text="one" xmlUrl="feed://b.example/feed"/></outline>
      <outline type="rss" text="Bad" xmlUrl="gopher://c.example/"/>
      <outline type="rss" text="Same" xmlUrl="https://B.example/feed/"/></body></opml>
      """
    let result = try world.catalog.importOPML(Array(list.utf8))
    #expect(result.added == 2)
    #expect(result.known == 1)
    #expect(result.problems.count == 1)
    #expect(try world.catalog.subscriptions().map(\.name) == ["One", "one (2)"])
    let export = try world.catalog.exportOPML()
    #expect(String(decoding: export, as: UTF8.self).contains("http://user:word@a.example/feed?token=x"))
    let again = try world.catalog.importOPML(export)
    #expect(again.added == 0 && again.known == 2 && again.problems.isEmpty)
    let other = try CatalogWorld()
    #expect(try other.catalog.importOPML(export).added == 2)
    let error = #expect(throws: CatalogError.self) { try world.catalog.importOPML(Array("<rss/>".utf8)) }
    #expect(error?.errno == .EINVAL)
    #expect(try world.catalog.subscriptions().count == 2)
  }

  @Test(
    arguments: [
      ("\u{FF}\u{D8}\u{FF}\u{E0}\nhttps://a.example/feed\n".unicodeScalars.map { UInt8($0.value) }, nil),
      (Array("\u{7F}ELF\u{1}\nh.example\n".utf8), nil), (Array("a\0b.example\n".utf8), nil),
      (Array("Dear Ann,\nsee a.example today.\n".utf8), "line 1"),
      (Array("https://a.example/feed\n\n# more\nand words\nand b.example\n".utf8), "line 4"),
      (Array("https://4.\n".utf8), "line 1"), (Array("https://\u{FFFD}.x\n".utf8), "line 1"),
      (Array("4.\n".utf8), "line 1"), (Array("http://a.example is mine\n".utf8), "line 1"),
    ] as [([UInt8], String?)])
  func `A photo and prose are no lists of addresses`(bytes: [UInt8], reason: String?) throws {
    let world = try CatalogWorld()
    let error = #expect(throws: CatalogError.self) { try world.catalog.importOPML(bytes) }
    #expect(
      error?.errno == .EINVAL && error?.message.contains(reason ?? "is neither a list") == true,
      "\(error as Any)")
    #expect(try world.catalog.subscriptions().isEmpty)
  }

  @Test(arguments: [
    "[Desktop Entry]\nType=Link\nName=Lights\nURL[$e]=http://a.example/feed\n",
    "[{000214A0}]\r\nProp3=19,2\r\n[InternetShortcut]\r\nIDList=\r\nURL=http://a.example/feed\r\n",
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict><key>Name</key><string>b</string>
    <key>URL</key><string>http://a.example/feed</string></dict></plist>
    """,
    "bplist00\u{1}\u{2}SURL_\u{10}\u{15}http://a.example/feed\u{8}\u{b}",
  ])
  func `A link file of any desktop names one address`(file: String) throws {
    let world = try CatalogWorld()
    #expect(try world.catalog.importOPML(Array(file.utf8)).link == "http://a.example/feed")
    #expect(try world.catalog.subscriptions().isEmpty)
    for other in [
      "[Desktop Entry]\nType=Application\nExec=x\n", "[InternetShortcut]\nURL=file:///etc/passwd\n",
    ] {
      let error = #expect(throws: CatalogError.self) { try world.catalog.importOPML(Array(other.utf8)) }
      #expect(error?.errno == .EINVAL && error?.message.contains("link") == true, "\(error as Any)")
    }
  }

  @Test func aListOfManyEqualTitlesIsQuick() throws {
    let world = try CatalogWorld()
    let outlines = (0..<3000).map {
      "<outline type=\"rss\" text=\"Same\" xmlUrl=\"http://a.example/\($0)\"/>"
    }
    let list = "<opml version=\"2.0\"><body>\(outlines.joined())</body></opml>"
    #expect(try world.catalog.importOPML(Array(list.utf8)).added == 3000)
    #expect(Set(try world.catalog.subscriptions().map(\.name)).count == 3000)
  }

  @Test func theSchedulerRefreshesWhatIsDueAndOnlyThat() throws {
    let world = try CatalogWorld()
    for number in 0..<5 {
      world.web.set("/\(number)", TestFeed(items: [.init("One", guid: "\(number)")]).page)
    }
    world.catalog.startScheduler()
    var ids: [Int64] = []
    for number in 0..<5 {
      ids.append(try world.catalog.subscribe(feedURL: "\(world.web.address)/\(number)").podcast.id)
    }
    #expect(
      try eventually { try world.catalog.subscriptions().allSatisfy { $0.podcast.isFetched } },
      "what is new is fetched at once")
    let other = try world.open()
    defer { other.close() }
    other.startScheduler()
    _ = try other.subscribe(feedURL: "http://127.0.0.1:1/none")
    #expect(try eventually { try other.subscriptions().contains { $0.podcast.error != nil } })
    for number in 0..<5 { #expect(world.web.requests("/\(number)").count == 1) }
  }

  @Test func ofTwoSchedulersOneRefreshesEach() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    world.catalog.startScheduler()
    other.startScheduler()
    for number in 0..<8 {
      world.web.set("/\(number)") { _ in
        var page = TestFeed(items: [.init("One", guid: "\(number)")]).page
        page.delay = 0.1
        return page
      }
      _ = try world.catalog.subscribe(feedURL: "\(world.web.address)/\(number)")
    }
    #expect(try eventually { try world.catalog.subscriptions().allSatisfy { $0.podcast.isFetched } })
    for number in 0..<8 { #expect(world.web.requests("/\(number)").count == 1) }
  }
}
