import Catalog
import Configuration
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing

@Suite struct RefreshTests {
  @Test func aFirstLookFetchesTheFeedAndASecondDoesNot() throws {
    let world = try CatalogWorld()
    var feed = TestFeed()
    feed.items = [
      .init("Second", guid: "2", date: "Thu, 04 Jan 2024 10:00:00 GMT"), .init("First", guid: "1"),
    ]
    feed.items[0].extra = "<description>About &lt;b&gt;ships&lt;/b&gt;</description>"
    world.web.set("/feed", feed.page)
    let podcast = try world.podcast()
    let outcome = try world.refresh(podcast, .firstLook)
    #expect(outcome.newEpisodes.count == 2)
    #expect(try world.refresh(podcast, .firstLook) == .unchanged)
    #expect(world.web.requests("/feed").count == 1)
    #expect(world.web.requests("/feed")[0].header("user-agent") == "podcastfs/\(podcastfsVersion)")

    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(episodes.map(\.fileName) == ["2024-01-03 - First.mp3", "2024-01-04 - Second.mp3"])
    #expect(episodes.map(\.id) == outcome.newEpisodes)
    #expect(episodes[0].guid == "1")
    #expect(episodes[0].feedLength == 1000)
    #expect(episodes[0].mediaKey == MediaKey(address: "http://media.example/1.mp3"))
    #expect(episodes[1].notes == nil)
    #expect(episodes[1].notesLength > 0)
    #expect(try world.catalog.episode(episodes[1].id)?.notes?.contains("ships") == true)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(known.isFetched)
    #expect(known.episodeCount == 2)
    #expect(known.title == "Harbour Lights")
    #expect(known.error == nil)
    #expect(try #require(known.nextRefresh) >= wallClockSeconds() + 3500)
    #expect(try world.catalog.podcast(podcast)?.allowsPrivateHosts == true)
  }

  /// What looks for refreshes that are due finds that another process is at this one, while somebody looks.
  @Test func whoLooksFirstGetsTheFeedThoughAnotherProcessIsAtIt() throws {
    let world = try CatalogWorld()
    let mayAnswer = Monitor(false)
    defer { mayAnswer.withLockNotifying { $0 = true } }
    world.web.set("/feed") { _ in
      if world.web.requests("/feed").count == 1 {
        let _: Bool? = mayAnswer.wait(until: .after(600)) { $0 ? true : nil }
      }
      return TestFeed(items: [.init("One", guid: "1")]).page
    }
    let podcast = try world.podcast()
    let other = try world.open()
    defer { other.close() }
    other.refresh(podcast: podcast, cause: .due)
    #expect(world.web.wait("/feed", count: 1))
    world.catalog.refresh(podcast: podcast, cause: .due)
    let outcome = Monitor<Result<RefreshOutcome, CatalogError>?>(nil)
    world.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
      outcome.withLockNotifying { $0 = result }
    }
    #expect(world.web.wait("/feed", count: 2))
    let result = try #require(outcome.wait(until: .after(patience)) { $0 })
    #expect(try result.get().newEpisodes.count == 1)
    #expect(try world.catalog.podcast(podcast)?.isFetched == true)
  }

  @Test(arguments: [
    (404, Errno.ENOENT), (410, .ENOENT), (401, .EACCES), (403, .EACCES), (429, .EAGAIN), (500, .EIO),
    (204, .EPROTO), (304, .EPROTO),
  ])
  func aFeedThatCannotBeFetchedIsToldAndTriedAgain(status: Int, errno: Errno) throws {
    let world = try CatalogWorld()
    world.web.set("/feed", FakeWeb.Page(status: status))
    let podcast = try world.podcast()
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast, .firstLook) }
    #expect(error?.errno == errno)
    let known = try #require(try world.catalog.podcast(podcast))
    #expect(known.error?.contains("\(status)") == true)
    #expect(known.error?.contains("127.0.0.1") == true)
    #expect(!known.isFetched)
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    try world.refresh(podcast, .firstLook)
    #expect(try world.catalog.podcast(podcast)?.error == nil)
  }

  @Test func whatIsNoFeedIsTold() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", FakeWeb.Page("<!DOCTYPE html><html><body>Sign in</body></html>"))
    let podcast = try world.podcast()
    let error = #expect(throws: CatalogError.self) { try world.refresh(podcast, .firstLook) }
    #expect(error?.errno == .EPROTO)
    #expect(error?.message.contains("127.0.0.1") == true)
  }

  @Test func errorsNeverTakeTheListingAway() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: [.init("One", guid: "1")]).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    world.web.set("/feed", FakeWeb.Page(status: 500))
    #expect(throws: CatalogError.self) { try world.refresh(podcast) }
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 1)
    #expect(try world.catalog.podcast(podcast)?.error != nil)
  }

  @Test func manyWhoWantTheSameShareOneRequest() throws {
    let world = try CatalogWorld()
    world.web.set("/feed") { _ in
      var page = TestFeed(items: [.init("One", guid: "1")]).page
      page.delay = 0.3
      return page
    }
    let podcast = try world.podcast()
    let results = Monitor<[Int]>([])
    for _ in 0..<10 {
      world.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
        results.withLockNotifying { $0.append((try? result.get())?.newEpisodes.count ?? -1) }
      }
    }
    let counts: [Int]? = results.wait(until: .after(patience)) { $0.count == 10 ? $0 : nil }
    #expect(counts == Array(repeating: 1, count: 10))
    #expect(world.web.requests("/feed").count == 1)
  }

  /// Whoever reads them: the list, the mount, a search, events.
  @Test func titlesAreThoseThatWereMeant() throws {
    let world = try CatalogWorld()
    let item = TestFeed.Item("Döner &amp;amp; Bier &amp;lt;b 1", guid: "1")
    world.web.set("/feed", TestFeed(title: "Kölner &amp;amp; Bonner", items: [item]).page)
    let listed = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
    try world.refresh(listed.podcast.id)
    let subscription = try #require(try world.catalog.subscriptions().first)
    #expect(subscription.podcast.title == "Kölner & Bonner" && subscription.name == "Kölner & Bonner")
    #expect(try world.catalog.podcast(listed.podcast.id)?.title == "Kölner & Bonner")
    #expect(try world.catalog.episodes(ofPodcast: listed.podcast.id).map(\.title) == ["Döner & Bier <b 1"])
    let found = try wait { world.catalog.find("kolner source:local", completion: $0) }.podcasts
    #expect(found.map(\.title) == ["Kölner & Bonner"])
    #expect(try world.refresh(listed.podcast.id) == .unchanged)
  }
}
