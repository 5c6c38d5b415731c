import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import Testing

/// Search services beside Apple's format, what they share, and the catalogue's own.
@Suite struct ServiceTests {
  private func world() throws -> CatalogWorld {
    try CatalogWorld { settings in
      settings.podcastIndexKey = "KEY"
      settings.podcastIndexSecret = "SECRET"
    }
  }

  /// The key is for the service alone, wherever that leads.
  @Test func aServiceThatLeadsElsewhereGetsNoKeyThere() throws {
    let world = try world()
    let other = try FakeWeb()
    other.set("/stolen", FakeWeb.Page("{\"feeds\":[]}"))
    world.web.set(
      "/podcastindex", FakeWeb.Page(status: 302, headers: [("Location", "\(other.address)/stolen")]))
    #expect(throws: CatalogError.self) { try world.search("x source:podcastindex") }
    #expect(world.web.requests("/podcastindex").first?.header("x-auth-key") == "KEY")
    #expect(other.requests("/stolen").isEmpty)
  }

  @Test func answersOfSeveralServicesAreMergedByFeed() throws {
    let world = try world()
    world.web.set(
      "/search", world.web.answer([("Apple One", "https://a.example/1"), ("Two", "https://a.example/2")]))
    world.web.set(
      "/podcastindex",
      FakeWeb.Page(
        """
        {"status":"true","feeds":[{"id":1,"title":"Index One","url":"http://A.example/1/","author":"X",
        "description":"About","language":"en","categories":{"55":"News"},"explicit":false},
        {"id":2,"title":"Three","url":"https://a.example/3"}]}
        """))
    world.web.set(
      "/fyyd",
      FakeWeb.Page(
        "{\"status\":1,\"data\":[{\"title\":\"Four\",\"xmlURL\":\"https://a.example/4\",\"imgURL\":\"x\"}]}"))
    let search = try world.search("many source:all")
    #expect(search.source == "apple+podcastindex+fyyd+local")
    let results = try world.catalog.results(ofSearch: search.id)
    #expect(results.map(\.podcast.title) == ["Apple One", "Four", "Two", "Three"])
    #expect(results[0].podcast.description == "About")
    #expect(results[0].podcast.language == "en")
    let request = try #require(world.web.requests("/podcastindex").first)
    #expect(request.query("q") == "many")
    #expect(request.header("x-auth-key") == "KEY")
    #expect(request.header("authorization")?.count == 40)
    #expect(!request.target.contains("SECRET"))
  }

  @Test func oneServiceThatFailsLosesNoOther() throws {
    let world = try world()
    world.web.set("/search", FakeWeb.Page(status: 500))
    world.web.set(
      "/podcastindex", FakeWeb.Page("{\"feeds\":[{\"title\":\"One\",\"url\":\"https://a.example/1\"}]}"))
    let search = try world.search("x")
    #expect(search.source == "podcastindex")
    #expect(search.resultCount == 1)
    let error = #expect(throws: CatalogError.self) { try world.search("x source:apple") }
    #expect(error?.errno == .EIO)
  }

  @Test func aServiceThatNeedsAKeySaysSo() throws {
    let world = try CatalogWorld()
    let error = #expect(throws: CatalogError.self) { try world.search("x source:podcastindex") }
    #expect(error?.errno == .EINVAL)
    #expect(error?.message.contains("podcastindex_key") == true)
  }

  @Test func callsAreCountedForAllProcessesTogether() throws {
    let world = try world()
    let other = try world.open()
    defer { other.close() }
    world.web.set("/podcastindex", FakeWeb.Page("{\"feeds\":[]}"))
    for number in 0..<60 {
      let catalog = number % 2 == 0 ? world.catalog : other
      _ = try wait { catalog.search("\(number) source:podcastindex", completion: $0) }
    }
    for catalog in [world.catalog, other] {
      let error = #expect(throws: CatalogError.self) {
        try wait { catalog.search("one more source:podcastindex", completion: $0) }
      }
      #expect(error?.errno == .EAGAIN)
    }
    #expect(world.web.requests("/podcastindex").count == 60)
  }

  @Test func theCatalogueItselfIsSearched() throws {
    let world = try CatalogWorld()
    var feed = TestFeed(title: "Leuchtfeuer über Bord", items: [.init("東京の灯台", guid: "1")])
    feed.items[0].extra =
      "<description>&lt;p class='strong'&gt;All about a &lt;b&gt;foghorn&lt;/b&gt;&lt;/p&gt;</description>"
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    for words in [
      "leuchtfeuer", "UBER bord", "leucht", "foghorn", "東京", "灯台", "fog-horn OR foghorn", "\"bord\"",
    ] {
      let search = try world.search("\(words) source:local")
      #expect(search.source == "local")
      let expected = words.hasPrefix("fog-") ? 0 : 1
      #expect(search.resultCount == expected, "\(words)")
    }
    for words in ["submarine", "strong", "class", "* AND"] {
      #expect(try world.search("\(words) source:local").resultCount == 0, "\(words)")
    }
    feed.title = "Other title"
    feed.items[0].title = "Different"
    feed.items[0].extra = ""
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    for (words, count) in [("leuchtfeuer", 0), ("foghorn", 0), ("東京", 0), ("different", 1), ("other", 1)] {
      #expect(
        try world.search("again \(words)".replacing("again ", with: "") + " source:local limit:9").resultCount
          == count, "\(words)")
    }
  }

  @Test func onlyApplesOwnAddressIsLimited() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([]))
    for number in 0..<25 { _ = try world.search("query \(number)") }
    #expect(world.web.requests("/search").count == 25)
  }
}

@Suite struct FindTests {
  @Test func findingKeepsNoSearch() throws {
    let world = try CatalogWorld()
    world.web.set("/search", world.web.answer([("One", "/1"), ("Two", "/2"), ("One again", "/1/")]))
    let found: MergedAnswer = try wait { completion in
      world.catalog.find("x limit:7", completion: completion)
    }
    #expect(found.source == "apple")
    #expect(found.podcasts.map(\.title) == ["One", "Two"])
    #expect(world.web.requests("/search").first?.query("limit") == "7")
    #expect(try world.catalog.searches().isEmpty)
    let error = #expect(throws: CatalogError.self) {
      try wait { world.catalog.find("limit:7", completion: $0) }
    }
    #expect(error?.errno == .EINVAL)
  }

  @Test func withoutAnyServiceTheErrorCountsUnlessTheCatalogueKnowsSomething() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(title: "Harbour", items: [.init("One", guid: "1")]).page)
    try world.refresh(try world.podcast())
    for path in ["/search", "/fyyd"] { world.web.set(path, FakeWeb.Page(status: 500)) }
    #expect(throws: CatalogError.self) { try world.search("submarine source:all") }
    #expect(try world.search("harbour source:all").source == "local")
    // A service that fails is no network that is away.
    #expect(throws: CatalogError.self) { try world.search("harbour") }
  }

  @Test func withoutANetworkTheCatalogueServesWhatItKnows() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(title: "Harbour", items: [.init("One", guid: "1")]).page)
    try world.refresh(try world.podcast())
    // No TCP connection can go to the broadcast address: the kernel says that the network is unreachable.
    let offline = try world.open { $0.searchURL = "http://255.255.255.255/search" }
    defer { offline.close() }
    let search: Search = try wait { offline.search("harbour", completion: $0) }
    #expect(search.source == "local")
    #expect(search.resultCount == 1)
    let error = #expect(throws: CatalogError.self) {
      try wait { offline.search("submarine", completion: $0) }
    }
    #expect(error?.errno == .ENETUNREACH)
  }
}
