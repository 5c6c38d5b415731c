import Catalog
import Configuration
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Paged feeds (RFC 5005): what is behind the first page comes in the end, whatever fails.
@Suite struct ArchiveTests {
  /// Where an old item stands on page 1 always.
  private enum Pin { case first, last }

  /// A feed of `count` pages of three episodes, the newest first.
  /// - Parameters:
  ///   - failing: pages that answer with `failure`.
  ///   - prefix: of guids and of the enclosures' host.
  ///   - query: of the enclosures' addresses.
  ///   - channel: further elements of page 1.
  private func serve(
    _ world: CatalogWorld, pages count: Int, newest: Int, pinned: Pin? = nil, failing: Set<Int> = [],
    failure: FakeWeb.Page = FakeWeb.Page(status: 503), guids: String = "", host: String = "media",
    query: String = "", channel: String = ""
  ) {
    for page in 1...count {
      var items = (0..<3).map { place in
        let number = newest - (page - 1) * 3 - place
        return TestFeed.Item(
          "Episode \(number)", guid: "\(guids)\(number)",
          url: "http://\(host).example/\(number).mp3\(query)",
          date: "Wed, \(number % 27 + 1) Jan \(2000 + number / 27) 10:00:00 GMT")
      }
      if let pinned, page == 1 {
        items.insert(
          .init("Start here", guid: "pinned", date: "Wed, 03 Jan 1990 10:00:00 GMT"),
          at: pinned == .first ? 0 : items.count)
      }
      var feed = TestFeed(items: items)
      if page == 1 { feed.channel = channel }
      if page < count {
        feed.channel += "<atom:link rel=\"next\" href=\"\(world.web.address)/feed/\(page + 1)\"/>"
      }
      let path = page == 1 ? "/feed" : "/feed/\(page)"
      world.web.set(path, failing.contains(page) ? failure : feed.page)
    }
  }

  @Test func aPageThatFailsIsToldAndComesLater() throws {
    let world = try CatalogWorld()
    serve(world, pages: 5, newest: 99, failing: [3])
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 6)
    let told = try world.catalog.podcast(podcast)?.error
    #expect(told?.contains("older episodes") == true && told?.contains("503") == true)
    // An ordinary refresh that brings nothing new goes on.
    serve(world, pages: 5, newest: 99)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 15)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
    let requests = world.web.requests("/feed/5").count
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/feed/5").count == requests, "once it is whole it is not read again")
  }

  /// What a refresh in its own time sees, whether the feed's first page has changed or not.
  @Test(arguments: [false, true]) func aPageThatFailedIsNotForgottenByTheNextRefresh(isChanged: Bool) throws {
    let world = try CatalogWorld()
    serve(world, pages: 5, newest: 99, failing: [3])
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    if isChanged {
      serve(world, pages: 5, newest: 99, failing: [3], channel: "<description>x</description>")
    }
    try world.refreshWhenDue(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/feed").count == 2 && world.web.requests("/feed/3").count == 2)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(known.error?.contains("older episodes") == true && known.error?.contains("503") == true)
    // A failure of the feed itself is told meanwhile; what is missing still is, afterwards.
    let feed = world.web.requests("/feed").count
    world.web.set("/feed", FakeWeb.Page(status: 500))
    #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(try world.catalog.podcast(podcast)?.error?.contains("500") == true)
    serve(world, pages: 5, newest: 99, failing: [3])
    try world.refreshWhenDue(podcast)
    #expect(world.web.requests("/feed").count == feed + 2)
    #expect(try world.catalog.podcast(podcast)?.error?.contains("older episodes") == true)
    #expect(try world.catalog.missingPages(ofPodcast: podcast)?.contains("503") == true)
  }

  @Test func aPageWhoseServerWishesToWaitIsLeftAloneByEverybody() throws {
    let world = try CatalogWorld()
    serve(
      world, pages: 5, newest: 99, failing: [3],
      failure: FakeWeb.Page(status: 429, headers: [("Retry-After", "5000")]))
    let podcast = try world.podcast()
    for cause in [RefreshCause.firstLook, .forced] {
      try world.refresh(podcast, cause)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
    }
    #expect(world.web.requests("/feed").count == 2 && world.web.requests("/feed/3").count == 1)
    #expect(try world.catalog.podcast(podcast)?.error?.contains("429") == true)
  }

  @Test(arguments: [404, 503], [true, false])
  func `A page that fails for days ends the archive`(status: Int, comesBack: Bool) throws {
    let world = try CatalogWorld()
    serve(world, pages: 4, newest: 99, failing: [3], failure: FakeWeb.Page(status: status))
    let podcast = try world.podcast()
    for count in 1...30 {
      if count == 30, comesBack { serve(world, pages: 4, newest: 99) }
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: patience))
      #expect(world.web.requests("/feed/3").count == count)
      if count < 30 { #expect(try world.catalog.podcast(podcast)?.error?.contains("\(status)") == true) }
      world.advance(86_401)
    }
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == (comesBack ? 12 : 6))
    #expect(try world.catalog.podcast(podcast)?.error == nil)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/feed/3").count == 30)
  }

  @Test func anArchiveOfVeryManyPagesIsReadAtOnce() throws {
    let world = try CatalogWorld()
    serve(world, pages: 204, newest: 999)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.waitForWalk())
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 612)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == nil)
  }

  @Test func pagesThatOnlyRepeatThemselvesEnd() throws {
    let world = try CatalogWorld()
    for page in 1...30 {
      var feed = TestFeed(items: [
        .init("Same", guid: "same"), .init("Other \(min(page, 2))", guid: "\(min(page, 2))"),
      ])
      feed.channel = "<atom:link rel=\"next\" href=\"\(world.web.address)/feed/\(page + 1)\"/>"
      world.web.set(page == 1 ? "/feed" : "/feed/\(page)", feed.page)
    }
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/feed/5").count == 1 && world.web.requests("/feed/10").isEmpty)
    #expect(try world.catalog.missingPages(ofPodcast: podcast) == nil)
  }

  @Test(arguments: [true, false]) func anItemThatIsPinnedHidesNothingAfterALongAbsence(isFirst: Bool) throws {
    let pin = isFirst ? Pin.first : .last
    let world = try CatalogWorld()
    serve(world, pages: 2, newest: 20, pinned: pin)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 7)
    serve(world, pages: 6, newest: 32, pinned: pin)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 19)
    // Where two that are known are there, which may be pinned too, the second page tells, and no third is asked for.
    let requests = world.web.requests("/feed/2").count
    let further = world.web.requests("/feed/3").count
    serve(world, pages: 6, newest: 33, pinned: pin)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(world.web.requests("/feed/2").count == requests + 1)
    #expect(world.web.requests("/feed/3").count == further)
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 20)
  }

  /// Numbers of episodes that are pinned to page 1, of 70 of which the first ten were known, the tenth being the newest.
  @Test(arguments: [[10], [10, 9], [10, 1], [9, 8], [2, 1]], [true, false])
  func whateverIsPinnedHidesNothingAfterALongAbsence(pinned: [Int], isFirst: Bool) throws {
    let world = try CatalogWorld()
    func publish(newest: Int) {
      let all = (1...newest).reversed().map { number in
        TestFeed.Item(
          "Episode \(number)", guid: "\(number)",
          date: "Wed, \(number % 27 + 1) Jan \(2000 + number / 27) 10:00:00 GMT")
      }
      let pins = all.filter { pinned.map(String.init).contains($0.guid ?? "") }
      for page in 0..<((newest + 9) / 10) {
        var items = Array(all.dropFirst(page * 10).prefix(10))
        if page == 0 {
          items.removeAll { item in pins.contains { $0.guid == item.guid } }
          items = isFirst ? pins + items : items + pins
        }
        var feed = TestFeed(items: items)
        if (page + 1) * 10 < newest {
          feed.channel = "<atom:link rel=\"next\" href=\"\(world.web.address)/feed/\(page + 2)\"/>"
        }
        world.web.set(page == 0 ? "/feed" : "/feed/\(page + 1)", feed.page)
      }
    }
    publish(newest: 10)
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    publish(newest: 70)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 70)
    // For one more the second page tells that there are no others.
    let requests = world.web.requests("/feed/2").count
    publish(newest: 71)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 71)
    #expect(world.web.requests("/feed/2").count == requests + 1)
  }

  /// An archive that is half read when news come is read to its end all the same.
  @Test func newsDoNotEndAnArchiveThatIsStillBeingRead() throws {
    let world = try CatalogWorld()
    serve(world, pages: 6, newest: 99, failing: [4])
    let podcast = try world.podcast()
    try world.refresh(podcast, .firstLook)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 9)
    serve(world, pages: 7, newest: 102)
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: patience))
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 21)
  }
}
