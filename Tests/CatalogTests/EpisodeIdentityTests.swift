import Catalog
import Configuration
import FeedKit
import PodcastModel
import SQLiteKit
import Testing

/// Which item is which episode, from one refresh to the next (Documentation/Catalogue.md).
@Suite struct EpisodeIdentityTests {
  /// The episodes after each of these states of a feed.
  private func states(_ feeds: [[TestFeed.Item]]) throws -> [[Episode]] {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    return try feeds.map { items in
      world.web.set("/feed", TestFeed(items: items).page)
      try world.refresh(podcast)
      return try world.catalog.episodes(ofPodcast: podcast)
    }
  }

  @Test func aCorrectedTitleAndAddressKeepNameAndMediaKey() throws {
    let states = try states([
      [.init("Frist", guid: "1", url: "http://a.example/1.mp3?token=a")],
      [.init("First", guid: "1", url: "http://b.example/new.mp3", date: "Wed, 03 Jan 2024 20:00:00 GMT")],
    ])
    #expect(states[1].count == 1)
    #expect(states[1][0].id == states[0][0].id)
    #expect(states[1][0].fileName == "2024-01-03 - Frist.mp3")
    #expect(states[1][0].title == "First")
    #expect(states[1][0].enclosureURL == "http://b.example/new.mp3")
    #expect(states[1][0].mediaKey == states[0][0].mediaKey)
    #expect(states[1][0].published == states[0][0].published + 36_000)
  }

  @Test func itemsThatVanishStay() throws {
    let states = try states([
      [.init("One", guid: "1"), .init("Two", guid: "2")], [.init("Two", guid: "2")], [],
    ])
    #expect(states[2].map(\.guid) == ["1", "2"])
  }

  @Test func duplicateGuidsAreBothShownAndStayApart() throws {
    let items: [TestFeed.Item] = [
      .init("One", guid: "same", url: "http://a.example/1.mp3"),
      .init("Two", guid: "same", url: "http://a.example/2.mp3"),
    ]
    let states = try states([
      items, items.reversed(), [items[1], .init("Three", guid: "same", url: "http://a.example/3.mp3")],
    ])
    #expect(states[0].map(\.title) == ["One", "Two"])
    #expect(states[1] == states[0])
    #expect(states[2].map(\.title) == ["One", "Two", "Three"])
  }

  @Test func `One item that a document lists several times is one episode`() throws {
    let one = TestFeed.Item("News", guid: "n", url: "http://a.example/n.mp3")
    let early = TestFeed.Item(
      "News", guid: "n", url: "http://a.example/n.mp3", date: "Thu, 04 Jan 2024 10:00:00 GMT")
    let states = try states([[one, one, one, early], [early, one]])
    #expect(states.map { $0.map(\.fileName) } == [["2024-01-03 - News.mp3"], ["2024-01-03 - News.mp3"]])
  }

  @Test func anotherGuidForTheSameAddressIsTheSameEpisode() throws {
    let states = try states([
      [.init("One", guid: "old", url: "http://a.example/1.mp3")],
      [.init("One!", guid: "new", url: "https://a.example/1.mp3?Expires=9", date: nil)],
    ])
    #expect(states[1].map(\.guid) == ["new"])
    #expect(states[1][0].id == states[0][0].id)
  }

  @Test func anotherGuidAndAddressForTheSameTitleAndDayIsTheSameEpisode() throws {
    let other = TestFeed.Item("Other", guid: "2", date: "Fri, 05 Jan 2024 10:00:00 GMT")
    let states = try states([
      [.init("One", guid: "old", url: "http://a.example/1.mp3"), other],
      [
        .init("One", guid: "new", url: "http://b.example/x.mp3", date: "Wed, 03 Jan 2024 23:00:00 GMT"),
        other,
      ],
      [
        .init("One", guid: "next", url: "http://c.example/y.mp3", date: "Thu, 04 Jan 2024 23:00:00 GMT"),
        other,
      ],
    ])
    #expect(states[1].count == 2)
    #expect(states[1][0].id == states[0][0].id)
    #expect(states[2].count == 3)
  }

  @Test func withoutAGuidTheAddressCounts() throws {
    let states = try states([
      [.init("One", guid: nil, url: "http://a.example/1.mp3?token=x&id=1")],
      [
        .init("One, again", guid: nil, url: "http://a.example/1.mp3?token=y&id=1"),
        .init("Two", guid: nil, url: "http://a.example/1.mp3?token=y&id=2"),
      ],
    ])
    #expect(states[1].map(\.title) == ["One, again", "Two"])
    #expect(states[1][0].id == states[0][0].id)
    #expect(states[1][0].guid == nil)
  }

  @Test func equalTitlesOfADayAreToldApartByTheHour() throws {
    let late = TestFeed.Item("News", guid: "late", date: "Wed, 03 Jan 2024 18:00:00 GMT")
    let early = TestFeed.Item("news", guid: "early", date: "Wed, 03 Jan 2024 06:00:00 GMT")
    let states = try states([[late, early], [early, late, .init("NEWS", guid: "third")]])
    #expect(states[0].map(\.stem) == ["2024-01-03 0600 - news", "2024-01-03 1800 - News"])
    #expect(states[1].map(\.stem) == states[0].map(\.stem) + ["2024-01-03 1000 - NEWS"])
  }

  @Test func aMissingOrFutureDateIsTheDayItWasFirstSeen() throws {
    let states = try states([
      [.init("A", guid: "1", date: nil), .init("B", guid: "2", date: "Wed, 03 Jan 2094 18:00:00 GMT")],
      [.init("A", guid: "1"), .init("B", guid: "2", date: nil)],
    ])
    #expect(states[0].map(\.isDated) == [false, false])
    #expect(states[0][0].published == states[0][1].published)
    #expect(states[1].map(\.isDated) == [true, false])
    #expect(states[1][1].published == states[0][1].published)
    #expect(states[1].map(\.stem) == states[0].map(\.stem))
  }

  @Test func twoStatesOfARealFeedKeepTheirEpisodes() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set("/feed", try FakeWeb.Page(corpus: "refresh-a-this-american-life.rss"))
    #expect(try world.refresh(podcast).newEpisodes.count == 18)
    let before = try world.catalog.episodes(ofPodcast: podcast)
    world.web.set("/feed", try FakeWeb.Page(corpus: "refresh-b-this-american-life.rss"))
    let outcome = try world.refresh(podcast)
    let after = try world.catalog.episodes(ofPodcast: podcast)
    #expect(Array(after.prefix(18)).map(\.stem) == before.map(\.stem))
    #expect(after.count == 18 + outcome.newEpisodes.count)
    #expect(try world.refresh(podcast) == .unchanged)
  }

  @Test(arguments: corpusFeeds)
  func aSecondRefreshOfARealFeedChangesNothing(name: String) throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set("/feed", try FakeWeb.Page(corpus: name))
    try world.refresh(podcast)
    let before = try world.catalog.episodes(ofPodcast: podcast)
    #expect(!before.isEmpty)
    #expect(Set(before.map { $0.stem.lowercased() }).count == before.count)
    #expect(try world.refresh(podcast) == .unchanged)
    #expect(try world.catalog.episodes(ofPodcast: podcast) == before)
    // `podcastfs feed` shows the same names.
    let page = try FakeWeb.Page(corpus: name)
    let feed = try FeedParser.parse(bytes: page.body)
    let report = FeedReport(feed: feed, feedURL: nil, now: before.map(\.published).max() ?? 0)
    let undated = before.contains { !$0.isDated }
    if !undated { #expect(Set(report.names) == Set(before.map(\.fileName))) }
  }

  /// Numbers are given once, and there are 1,048,575 for a podcast.
  @Test func whatAPodcastHasNoNumbersForIsLeftOutAndTold() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    func serve(_ numbers: Range<Int>, _ title: String = "Episode") {
      world.web.set(
        "/feed",
        TestFeed(
          items: numbers.map {
            .init(
              "\(title) \($0)", guid: "\($0)",
              date: "Wed, \($0 / 24 % 28 + 1) Jan \(2000 + $0 / 672) \($0 % 24):00:00 GMT")
          }
        ).page)
    }
    serve(0..<10)
    try world.refresh(podcast)
    try file.run("UPDATE podcast SET next_episode = (1 << 20) - 5")
    serve(0..<20)
    #expect(try world.refresh(podcast).newEpisodes.count == 5)
    let last = try #require(try world.catalog.episodes(ofPodcast: podcast).map(\.id).max())
    #expect(last == podcast << 20 | (1 << 20 - 1))
    // What is more than one piece of a merge is left out as a whole too.
    for changed in [false, true, false] {
      serve(0..<1300, changed ? "Changed" : "Episode")
      let outcome = try world.refresh(podcast)
      #expect(outcome.newEpisodes.isEmpty)
      #expect(try world.catalog.episodes(ofPodcast: podcast).count == 15)
    }
  }
}
