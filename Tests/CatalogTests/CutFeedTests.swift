import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Feeds that break off: what came whole is taken, what is missing is not taken for withdrawn, and it is said.
@Suite struct CutFeedTests {
  /// How a feed breaks off: the connection, against the length that was told, or the document.
  enum Cut: CaseIterable { case connection, document }

  private static let ten = TestFeed(items: TestFeed.items(0..<10))

  /// The feed as it comes, up to amid its item of that number or before it.
  private func page(_ feed: TestFeed, _ cut: Cut, before item: Int, amid: Bool = true) throws -> FakeWeb.Page
  {
    var page = feed.page
    page.headers.append(("ETag", "\"whole\""))
    let start = try #require(feed.text.range(of: "<item><title>Episode \(item)<"))
    let mark = amid ? try #require(feed.text.range(of: "audio/mpeg", in: start)) : start
    let length = feed.text.utf8.distance(from: feed.text.startIndex, to: mark)
    if cut == .connection { page.cut = length } else { page.body = Array(page.body[..<length]) }
    return page
  }

  @Test(arguments: Cut.allCases, [true, false]) func whatCameWholeIsTaken(cut: Cut, amid: Bool) throws {
    let world = try CatalogWorld()
    try Directories.createPrivate(world.home.places.state)
    world.web.set("/feed", try page(Self.ten, cut, before: 6, amid: amid))
    let podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    #expect(try world.refresh(podcast).newEpisodes.count == 6)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(known.error?.contains("only some of the feed came") == true)
    #expect(try #require(known.nextRefresh) <= wallClockSeconds() + 900)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == known.error)
    #expect(try world.catalog.episodes(ofPodcast: podcast).map(\.guid) == (0..<6).map { "g\($0)" })
    // The next is asked for whole, and says that all is well.
    world.web.set("/feed", Self.ten.page)
    #expect(try world.refresh(podcast).newEpisodes.count == 4)
    #expect(world.web.requests("/feed").last?.header("if-none-match") == nil)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == nil)
    // What is known stays where less comes than before.
    world.web.set("/feed", try page(Self.ten, cut, before: 2, amid: amid))
    try world.refresh(podcast)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 10)
    #expect(try world.catalog.podcast(podcast)?.title == "Harbour Lights")
    let log = String(decoding: try Directories.read("\(world.home.places.logFile)"), as: UTF8.self)
    #expect(log.split(separator: "\n").count { $0.contains("broke off") } == 2)
  }

  /// Some never close their first elements.
  @Test func aFeedThatIsNeverClosedIsTakenForWholeTheSecondTime() throws {
    let world = try CatalogWorld()
    var page = Self.ten.page
    page.body = Array(Self.ten.text.replacing("</channel></rss>", with: "").utf8)
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.error != nil)
    #expect(try world.refresh(podcast) == .unchanged)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 10)
  }

  @Test func aLengthThatIsTooGreatIsNoLossWhereTheFeedIsWhole() throws {
    let world = try CatalogWorld()
    var page = Self.ten.page
    page.cut = page.body.count
    page.body += Array("      ".utf8)
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    #expect(try world.refresh(podcast).newEpisodes.count == 10)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test(arguments: Cut.allCases) func whereNothingCameWholeTheRefreshFails(cut: Cut) throws {
    let world = try CatalogWorld()
    world.web.set("/feed", try page(Self.ten, cut, before: 0))
    let podcast = try world.podcast()
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == .EIO)
  }

  /// Whose first page broke off, so that the next one was not named, or is on page two.
  @Test(arguments: [1, 2]) func theArchiveOfAFeedThatBrokeOffComesLater(broken: Int) throws {
    let world = try CatalogWorld()
    var pages = [0, 10].map { TestFeed(items: TestFeed.items($0..<($0 + 10))) }
    pages[0].items[9].extra = "</item><atom:link rel=\"next\" href=\"\(world.web.address)/feed/2\"/><item>"
    for (place, path) in ["/feed", "/feed/2"].enumerated() {
      let feed = pages[place]
      world.web.set(
        path, place == broken - 1 ? try page(feed, .connection, before: place * 10 + 5) : feed.page)
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == (broken == 1 ? 5 : 15))
    #expect(try world.catalog.missingPages(ofPodcast: podcast) != nil)
    for (place, path) in ["/feed", "/feed/2"].enumerated() { world.web.set(path, pages[place].page) }
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 20)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == nil)
  }
}

extension String {
  /// Where a text begins.
  fileprivate func range(of text: String, in start: Index? = nil) -> Index? {
    let from = start ?? startIndex
    return self[from...].ranges(of: text).first?.lowerBound
  }
}
