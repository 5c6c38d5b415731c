import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// Feeds that break off: the connection, against the length that was told, or the document.
@Suite struct CutFeedTests {
  private static let ten = TestFeed(items: TestFeed.items(0..<10))

  /// Bytes of the feed up to amid its item of that number.
  private func length(before item: Int) throws -> Int {
    let text = Self.ten.text
    let start = try #require(text.ranges(of: "<item><title>Episode \(item)<").first).lowerBound
    let mark = try #require(text[start...].ranges(of: "audio/mpeg").first).lowerBound
    return text.utf8.distance(from: text.startIndex, to: mark)
  }

  @Test func `A connection that breaks off is a failure, and nothing is taken`() throws {
    let world = try CatalogWorld()
    var page = Self.ten.page
    page.cut = try length(before: 6)
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == .EIO)
    #expect(try world.catalog.episodes(ofPodcast: podcast).isEmpty)
    world.web.set("/feed", Self.ten.page)
    #expect(try world.refresh(podcast).newEpisodes.count == 10)
  }

  @Test func `Of a document that breaks off the complete items are taken`() throws {
    let world = try CatalogWorld()
    var page = Self.ten.page
    page.headers.append(("ETag", "\"whole\""))
    page.body = Array(page.body[..<(try length(before: 6))])
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    #expect(try world.refresh(podcast).newEpisodes.count == 6)
    #expect(try world.catalog.episodes(ofPodcast: podcast).map(\.guid) == (0..<6).map { "g\($0)" })
    #expect(try world.catalog.podcast(podcast)?.error?.contains("breaks off") == true)
    // Also where it comes twice alike, its validators are not believed.
    #expect(try world.refreshWhenDue(podcast).newEpisodes.isEmpty)
    #expect(try world.catalog.podcast(podcast)?.error?.contains("breaks off") == true)
    world.web.set("/feed", Self.ten.page)
    #expect(try world.refreshWhenDue(podcast).newEpisodes.count == 4)
    #expect(world.web.requests("/feed").last?.header("if-none-match") == nil)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test func `Of compressed bytes that break off the reason is told`() throws {
    let world = try CatalogWorld()
    var page = Self.ten.page
    let podcast = try world.podcast()
    page.body = Array(Gzip.stored(page.body).dropLast(400))
    world.web.set("/feed", page)
    #expect(try (1...9).contains(world.refresh(podcast).newEpisodes.count))
    #expect(try world.catalog.podcast(podcast)?.error?.contains("breaks off") == true)
    try world.refresh(podcast)
    #expect(try world.catalog.podcast(podcast)?.error?.contains("breaks off") == true)
  }

  @Test func `A page of failure that breaks off is that failure`() throws {
    let world = try CatalogWorld()
    var page = FakeWeb.Page(status: 404)
    page.body = Array("not here".utf8)
    page.cut = 4
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(error?.errno == .ENOENT)
  }
}
