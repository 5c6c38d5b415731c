import Catalog
import Configuration
import Directory
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// The categories of the offline directory.
@Suite struct DiscoverTests {
  private let world: CatalogWorld

  init() throws { world = try CatalogWorld() }

  private func install(
    _ titles: [String], at address: String? = nil, now: Int64, in other: CatalogWorld? = nil
  ) throws {
    let folder = try TemporaryDirectory()
    var dump = try PodcastIndexDump(path: folder.path("dump.db"))
    for (place, title) in titles.enumerated() {
      try dump.add([
        "url": address ?? "https://\(title.lowercased()).example/f", "title": title, "category1": "news",
        "popularityScore": 9 - place, "language": title.hasPrefix("L") ? "de-AT" : "en",
      ])
    }
    try dump.finish()
    _ = try DirectoryImport(
      place: (other ?? world).catalog.directory.place, program: Products.path("podcastfs"), minimumFree: 0,
      now: now
    ).run(try FileDescriptor(opening: folder.path("dump.db"), O_RDONLY), name: "dump.db")
  }

  private func category(_ name: String) throws -> Search? {
    try world.catalog.searches().first { $0.category == name }
  }

  private func titles(_ search: Search) throws -> [String] {
    try world.catalog.results(ofSearch: search.id).map(\.podcast.title)
  }

  @Test func aCategoryListsTheBestOfTheDirectoryWithoutTheNetwork() throws {
    #expect(!world.catalog.hasDirectory)
    try install(["Harbour", "Lights"], now: wallClockSeconds())
    #expect(world.catalog.hasDirectory)
    try world.catalog.makeCategories()
    let news = try #require(try category("News"))
    #expect(try titles(news).isEmpty)
    #expect(try world.catalog.fillCategory(news.id))
    #expect(try !world.catalog.fillCategory(news.id))
    #expect(try titles(news) == ["Harbour", "Lights"])
    #expect(try category("News")?.source == "index" && world.web.requestCount == 0)
    let listed = try world.catalog.subscribe(result: try world.catalog.results(ofSearch: news.id)[1].id)
    #expect(listed.name == "Lights")
  }

  @Test func aFeedOfTheDirectoryIsPrivateOnlyWhereTheSearchServiceIs() throws {
    for (service, isFetched) in [("\(world.web.address)/search", true), ("http://search.example/", false)] {
      let world = try CatalogWorld { $0.searchURL = service }
      world.web.set("/f", TestFeed(items: [.init("One", guid: "1")]).page)
      try install(["Harbour"], at: "\(world.web.address)/f", now: wallClockSeconds(), in: world)
      try world.catalog.makeCategories()
      let news = try #require(try world.catalog.searches().first { $0.category == "News" })
      #expect(try world.catalog.fillCategory(news.id))
      let podcast = try #require(try world.catalog.results(ofSearch: news.id).first).podcast.id
      #expect((try? world.refresh(podcast).newEpisodes.count) == (isFetched ? 1 : nil))
      #expect(world.web.requestCount == (isFetched ? 1 : 0))
    }
  }

  @Test func aCategoryKeepsItsNumberAndFollowsANewDirectory() throws {
    let now = wallClockSeconds()
    try install(["One"], now: now - 100)
    try world.catalog.makeCategories()
    let news = try #require(try category("News"))
    #expect(try world.catalog.fillCategory(news.id))
    try install(["Two"], now: now + 100)
    try world.catalog.makeCategories()
    #expect(try world.catalog.fillCategory(news.id))
    #expect(try category("News")?.id == news.id)
    #expect(try titles(news) == ["Two"])
  }

  @Test func aCategoryHasTheLanguagesOfItsPodcasts() throws {
    try install(["Harbour", "Lights", "Lanterns"], now: wallClockSeconds())
    try world.catalog.makeCategories()
    let news = try #require(try category("News"))
    #expect(news.language == nil)
    for name in ["fr", "d", "/", "DE"] { #expect(try !world.catalog.makeLanguage(name, ofCategory: news.id)) }
    let commits = try world.catalog.commits()
    for _ in 1...2 { #expect(try world.catalog.makeLanguage("de", ofCategory: news.id)) }
    let german = try #require(try world.catalog.searches().first { $0.language == "de" })
    #expect(german.category == "News")
    #expect(
      try world.catalog.commits(after: commits).map(\.changes).filter { !$0.isEmpty } == [
        [.search(german.id)]
      ])
    #expect(try world.catalog.fillCategory(german.id))
    #expect(try titles(german) == ["Lights", "Lanterns"])
    #expect(try !world.catalog.makeLanguage("de", ofCategory: german.id))
    try world.catalog.makeCategories()
    #expect(try world.catalog.searches().count == Categories.names.count + 3)
  }
}
