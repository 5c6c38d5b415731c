import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import Testing

/// The search service, and the catalogue's own search.
@Suite struct ServiceTests {
  @Test func `Apple's own service is asked twenty times a minute, by all processes together`() throws {
    let world = try CatalogWorld { settings in
      settings.proxy = settings.searchURL.map { String($0.dropLast("/search".count)) }
      settings.searchURL = "http://itunes.apple.com/search"
    }
    let other = try world.open()
    defer { other.close() }
    let path = "http://itunes.apple.com/search"
    world.web.set(path, world.web.answer([]))
    for number in 0..<20 {
      let catalog = number % 2 == 0 ? world.catalog : other
      _ = try wait { catalog.search("\(number)", completion: $0) }
    }
    for catalog in [world.catalog, other] {
      let error = #expect(throws: CatalogError.self) {
        try wait { catalog.search("one more", completion: $0) }
      }
      #expect(error?.errno == .EAGAIN)
    }
    #expect(world.web.requests(path).count == 20)
  }

  @Test func theCatalogueItselfIsSearched() throws {
    let world = try CatalogWorld()
    var feed = TestFeed(title: "Leuchtfeuer über Bord", items: [.init("One", guid: "1")])
    feed.channel =
      "<description>&lt;p class='strong'&gt;All about a &lt;b&gt;foghorn&lt;/b&gt;, 東京&lt;/p&gt;</description>"
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    for words in ["leuchtfeuer", "UBER bord", "leucht", "foghorn", "東京", "\"bord\""] {
      let search = try world.search("\(words) source:local")
      #expect(search.source == "local" && search.resultCount == 1, "\(words)")
    }
    for words in ["submarine", "strong", "class", "* AND", "fog-horn OR foghorn"] {
      #expect(try world.search("\(words) source:local").resultCount == 0, "\(words)")
    }
    feed.title = "Other title"
    feed.channel = ""
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    for (words, count) in [("leuchtfeuer", 0), ("foghorn", 0), ("東京", 0), ("other", 1)] {
      #expect(try world.search("\(words) source:local limit:9").resultCount == count, "\(words)")
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
    world.web.set("/search", FakeWeb.Page(status: 500))
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
