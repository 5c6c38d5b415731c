import Catalog
import Configuration
import PodcastModel
import PosixKit
import SQLiteKit
import Testing

/// Paged feeds (RFC 5005): what is behind the first page comes in the end, whatever fails.
@Suite struct ArchiveTests {
  /// A feed of `count` pages of three episodes, the newest first; `pinned` is on page 1 always.
  private func serve(
    _ world: CatalogWorld, pages count: Int, newest: Int, pinned: Bool = false, failing: Set<Int> = []
  ) {
    for page in 1...count {
      var items = (0..<3).map { place in
        let number = newest - (page - 1) * 3 - place
        return TestFeed.Item(
          "Episode \(number)", guid: "\(number)",
          date: "Wed, \(number % 27 + 1) Jan \(2000 + number / 27) 10:00:00 GMT")
      }
      if pinned, page == 1 {
        items.insert(.init("Start here", guid: "pinned", date: "Wed, 03 Jan 1990 10:00:00 GMT"), at: 0)
      }
      var feed = TestFeed(items: items)
      if page < count {
        feed.channel = "<atom:link rel=\"next\" href=\"\(world.web.address)/feed/\(page + 1)\"/>"
      }
      let path = page == 1 ? "/feed" : "/feed/\(page)"
      world.web.set(path, failing.contains(page) ? FakeWeb.Page(status: 503) : feed.page)
    }
  }

  @Test func aPageThatFailsIsToldAndComesLater() throws {
    let world = try CatalogWorld()
    serve(world, pages: 5, newest: 99, failing: [3])
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 6)
    let told = try world.catalog.podcast(podcast)?.error
    #expect(told?.contains("older episodes") == true && told?.contains("503") == true)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(try #require(known.nextRefresh) <= wallClockSeconds() + 1000, "it is tried again soon")
    // The page's time has come; an ordinary refresh that brings nothing new goes on.
    serve(world, pages: 5, newest: 99)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("UPDATE podcast SET page_not_before = 0")
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 15)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
    let requests = world.web.requests("/feed/5").count
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(world.web.requests("/feed/5").count == requests, "once it is whole it is not read again")
  }

  @Test func aPageThatIsGoneEndsTheArchive() throws {
    let world = try CatalogWorld()
    serve(world, pages: 3, newest: 99)
    world.web.set("/feed/3", FakeWeb.Page(status: 404))
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 6)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test func anItemThatIsPinnedHidesNothingAfterALongAbsence() throws {
    let world = try CatalogWorld()
    serve(world, pages: 2, newest: 20, pinned: true)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 7)
    serve(world, pages: 6, newest: 32, pinned: true)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 19)
    // One new episode needs no second page.
    let requests = world.web.requests("/feed/2").count
    serve(world, pages: 6, newest: 33, pinned: true)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(world.web.requests("/feed/2").count == requests)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 20)
  }

  /// An archive that is half read when news come is read to its end all the same.
  @Test func newsDoNotEndAnArchiveThatIsStillBeingRead() throws {
    let world = try CatalogWorld()
    serve(world, pages: 6, newest: 99, failing: [4])
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 9)
    serve(world, pages: 7, newest: 102)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 21)
  }
}
