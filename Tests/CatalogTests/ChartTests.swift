import Catalog
import Directory
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Apple's charts in `Discover/Top/`.
@Suite struct ChartTests {
  private let world: CatalogWorld

  init() throws { world = try CatalogWorld() }

  private static func path(_ country: String) -> String {
    "/api/v2/\(country)/podcasts/top/100/podcasts.json"
  }

  private func install() throws {
    let folder = try TemporaryDirectory()
    var dump = try PodcastIndexDump(path: folder.path("dump.db"))
    try dump.add(["url": "https://harbour.example/f", "title": "Harbour", "itunesId": 11])
    try dump.finish()
    _ = try DirectoryImport(
      place: world.catalog.directory.place, program: Products.path("podcastfs"), minimumFree: 0,
      now: wallClockSeconds()
    ).run(try FileDescriptor(opening: folder.path("dump.db"), O_RDONLY), name: "dump.db")
    try world.catalog.makeCategories()
  }

  private func serve(_ country: String) {
    let list = [22, 11, 33].map { "{\"id\": \"\($0)\", \"name\": \"N\"}" }.joined(separator: ",")
    world.web.set(Self.path(country), .init("{\"feed\": {\"results\": [\(list), {\"id\": 7}, 8]}}"))
    world.web.set(
      "/lookup",
      .init(
        """
        {"results": [{"collectionId": 33, "collectionName": "Exclusive"},
          {"collectionId": 22, "collectionName": "Lights", "feedUrl": "https://lights.example/f"}]}
        """))
  }

  private func chart(_ country: String) throws -> Search {
    let all = try #require(try world.catalog.searches().first { $0.category == "Top" && $0.language == nil })
    #expect(try world.catalog.makeLanguage(country, ofCategory: all.id))
    return try #require(try world.catalog.searches().first { $0.category == "Top" && $0.language == country })
  }

  private func read(_ search: Search) throws {
    try wait { world.catalog.readChart(search.id, completion: $0) } as Void
  }

  private func titles(_ search: Search) throws -> [String] {
    try world.catalog.results(ofSearch: search.id).map(\.podcast.title)
  }

  @Test func aChartIsInItsOrderAndWhatTheDirectoryKnowsIsNotAskedFor() throws {
    try install()
    serve("de")
    let search = try chart("de")
    #expect(search.isChart)
    #expect(try world.catalog.isChartDue(search.id))
    try read(search)
    #expect(try titles(search) == ["Lights", "Harbour"])
    #expect(
      world.web.requests("/lookup").map(\.target) == ["/lookup?id=22,33,7&entity=podcast&country=de"])
    #expect(try !world.catalog.isChartDue(search.id))
    #expect(try world.catalog.search(search.id)?.source == "apple")
    // The category's own row is none.
    #expect(try !world.catalog.fillCategory(search.id))
  }

  @Test func itIsDueAgainAfterADay() throws {
    try install()
    serve("fr")
    let search = try chart("fr")
    try read(search)
    world.advance(86_399)
    #expect(try !world.catalog.isChartDue(search.id))
    world.advance(1)
    #expect(try world.catalog.isChartDue(search.id))
    world.web.set(Self.path("fr"), .init("{\"feed\": {\"results\": [{\"id\": \"11\"}]}}"))
    try read(search)
    #expect(try titles(search) == ["Harbour"])
    #expect(world.web.requests("/lookup").count == 1)
  }

  @Test func theUsersCountryIsListedAndOthersAreWhereSomebodyAsks() throws {
    try install()
    let countries = { try world.catalog.searches().filter(\.isChart).compactMap(\.language) }
    #expect(try countries() == ["us"])
    _ = try chart("de")
    #expect(try Set(countries()) == ["us", "de"])
    let all = try #require(try world.catalog.searches().first { $0.category == "Top" && $0.language == nil })
    for name in ["d", "deu", "D1", "../"] {
      #expect(try !world.catalog.makeLanguage(name, ofCategory: all.id))
    }
  }

  @Test(arguments: ["", "[]", "{\"feed\": 7}", "<html></html>"])
  func whatIsNoChartFailsAndTheOldOneStays(body: String) throws {
    try install()
    serve("de")
    let search = try chart("de")
    try read(search)
    world.web.set(Self.path("de"), .init(body))
    #expect(throws: CatalogError.self) { try read(search) }
    #expect(try titles(search) == ["Lights", "Harbour"])
  }
}
