import Catalog
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

  private func install(_ titles: [String], now: Int64) throws {
    let folder = try TemporaryDirectory()
    var dump = try PodcastIndexDump(path: folder.path("dump.db"))
    for (place, title) in titles.enumerated() {
      try dump.add([
        "url": "https://\(title.lowercased()).example/f", "title": title, "category1": "news",
        "popularityScore": 9 - place,
      ])
    }
    try dump.finish()
    _ = try DirectoryImport(
      place: world.catalog.directory.place, program: Products.path("podcastfs"), minimumFree: 0, now: now
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
    try world.catalog.fillCategory(news.id)
    #expect(try titles(news) == ["Harbour", "Lights"])
    #expect(try category("News")?.source == "index" && world.web.requestCount == 0)
    let listed = try world.catalog.subscribe(result: try world.catalog.results(ofSearch: news.id)[1].id)
    #expect(listed.name == "Lights")
  }

  @Test func aCategoryKeepsItsNumberAndFollowsANewDirectory() throws {
    let now = wallClockSeconds()
    try install(["One"], now: now - 100)
    try world.catalog.makeCategories()
    let news = try #require(try category("News"))
    try world.catalog.fillCategory(news.id)
    try install(["Two"], now: now + 100)
    try world.catalog.makeCategories()
    try world.catalog.fillCategory(news.id)
    #expect(try category("News")?.id == news.id)
    #expect(try titles(news) == ["Two"])
  }
}
