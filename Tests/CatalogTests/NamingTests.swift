import Catalog
import FeedKit
import PodcastModel
import TestSupport
import Testing

/// Names of podcasts and episodes as the catalogue gives them.
@Suite struct NamingTests {
  private static func items() -> [TestFeed.Item] {
    let chapters = (1...12).map { (number: Int) in
      var item = TestFeed.Item(
        "Chapter \(number)", guid: "c\(number)", date: "Sat, 15 Sep 2012 16:14:51 -0600")
      item.extra = "<itunes:episode>\(number)</itunes:episode>"
      return item
    }
    let hours = [("Morning", "06"), ("Noon", "12"), ("Evening", "18")]
    let news = hours.map { (name: String, hour: String) in
      TestFeed.Item("\(name) news", guid: name, date: "Sun, 16 Sep 2012 \(hour):00:00 GMT")
    }
    let undated = (1...11).map { (number: Int) in
      TestFeed.Item("Undated part \(number)", guid: "u\(number)", date: nil)
    }
    return chapters + news + undated
  }

  @Test func `Names and times of modification sort as episodes of one day were published`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let feed = TestFeed(items: Self.items())
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    let titles = feed.items.map(\.title)
    #expect(episodes.sorted { $0.stem.utf8.lexicographicallyPrecedes($1.stem.utf8) }.map(\.title) == titles)
    #expect(episodes.sorted { $0.modified < $1.modified }.map(\.title) == titles)
    #expect(Set(episodes.map(\.modified)).count == titles.count)
    #expect(episodes[0].stem == "2012-09-15 001 - Chapter 1")
    #expect(episodes[12].stem == "2012-09-16 0600 - Morning news")
    #expect(episodes[25].stem.hasSuffix(" 011 - Undated part 11"))
    let summaries = try world.catalog.listedEpisodes(ofPodcast: podcast) { $0 }
    #expect(summaries.map(\.modified) == episodes.map(\.modified))
    // What `podcastfs feed` says of it.
    let parsed = try FeedParser.parse(bytes: Array(feed.text.utf8), baseURL: nil)
    let names = parsed.fileNames(now: try #require(episodes.last).published)
    #expect(names == episodes.map(\.fileName))
  }

  @Test func `A later refresh names an episode of a day that has names already`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    var items = [TestFeed.Item("A", guid: "a", date: "Sun, 16 Sep 2012 06:00:00 GMT")]
    for item in [
      TestFeed.Item("B", guid: "b", date: "Sun, 16 Sep 2012 12:00:00 GMT"),
      TestFeed.Item("C", guid: "c", date: "Sun, 16 Sep 2012 18:00:00 GMT"),
    ] {
      world.web.set("/feed", TestFeed(items: items).page)
      try world.refresh(podcast)
      items.insert(item, at: 0)
    }
    world.web.set("/feed", TestFeed(items: items).page)
    try world.refresh(podcast)
    #expect(
      try world.catalog.episodes(ofPodcast: podcast).map(\.stem)
        == ["2012-09-16 - A", "2012-09-16 1200 - B", "2012-09-16 1800 - C"])
  }

  @Test func `New items of one date sort by the side on which the feed lists what is known`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let all = ["Zeta (first)", "Alpha (second)", "Beta (third)", "Delta (fourth)", "Gamma (fifth)"].map {
      TestFeed.Item($0, guid: $0, date: "Tue, 04 Nov 2025 00:00:00 GMT")
    }
    for count in [1, 3, 5] {
      world.web.set("/feed", TestFeed(items: all.prefix(count).reversed()).page)
      try world.refresh(podcast)
    }
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(episodes.sorted { $0.modified < $1.modified }.map(\.title) == all.map(\.title))
    #expect(
      episodes.map(\.stem) == [
        "2025-11-04 - Zeta (first)", "2025-11-04 002 - Alpha (second)", "2025-11-04 003 - Beta (third)",
        "2025-11-04 004 - Delta (fourth)", "2025-11-04 005 - Gamma (fifth)",
      ])
  }

  @Test func `A feed's report shows an item that is listed twice once, as a mount does`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let late = "Tue, 04 Nov 2025 10:25:41 GMT"
    var items = Array(repeating: TestFeed.Item("Evening news", guid: "n1", date: late), count: 6)
    // Signed anew each time.
    for index in items.indices { items[index].url = "http://m.example/s.mp3?Expires=\(index)" }
    items += ["Mon, 03", "Tue, 04"].map {
      TestFeed.Item("Early", guid: "m1", date: "\($0) Nov 2025 10:00:00 GMT")
    }
    let feed = TestFeed(items: items)
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    let names = try world.catalog.episodes(ofPodcast: podcast).map(\.fileName)
    #expect(names == ["2025-11-03 - Early.mp3", "2025-11-04 - Evening news.mp3"])
    let parsed = try FeedParser.parse(bytes: Array(feed.text.utf8), baseURL: nil)
    let report = FeedReport(feed: parsed, feedURL: nil, now: 1_800_000_000)
    #expect(report.names == names.reversed())
    #expect(report.text.contains("\n2 episodes\n"))
    #expect(report.text.hasSuffix("warning: 6 items repeat earlier ones: they are left out"))
  }

  @Test func `A serial's episodes have season and number in their names`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    var item = TestFeed.Item("The start", guid: "1")
    item.extra = "<itunes:season>2</itunes:season><itunes:episode>1</itunes:episode>"
    var feed = TestFeed(items: [item])
    feed.channel = "<itunes:type>Serial</itunes:type>"
    world.web.set("/feed", feed.page)
    try world.refresh(podcast)
    #expect(
      try world.catalog.episodes(ofPodcast: podcast).map(\.stem) == ["2024-01-03 - S02E01 - The start"])
  }

  @Test func `A corrected date moves the time of modification, not the name`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    let other = TestFeed.Item("Two", guid: "2", date: "Thu, 04 Jan 2024 10:00:00 GMT")
    for date in ["Wed, 03 Jan 2024 10:00:00 GMT", "Thu, 04 Jan 2024 10:00:00 GMT"] {
      world.web.set("/feed", TestFeed(items: [.init("One", guid: "1", date: date), other]).page)
      try world.refresh(podcast)
    }
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(episodes.map(\.stem) == ["2024-01-03 - One", "2024-01-04 - Two"])
    #expect(episodes[0].published == episodes[1].published)
    #expect(episodes[0].modified == episodes[1].modified + 1)
  }

  @Test func `A feed that is titled like its host keeps the name without a number`() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/feed", TestFeed(title: "127.0.0.1", items: [.init("One", guid: "1")]).page)
    let listed = try catalog.subscribe(feedURL: "\(world.web.address)/feed")
    try world.refresh(listed.podcast.id)
    #expect(try catalog.subscriptions().map(\.name) == ["127.0.0.1"])
    #expect(try catalog.subscriptions().map(\.podcast.name) == ["127.0.0.1"])
  }

  @Test func `Subscribing says the name that the directory has`() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    for title in ["127.0.0.1", "Lights"] {
      world.web.set("/\(title)", TestFeed(title: title, items: [.init("One", guid: title)]).page)
      let listed = try wait { catalog.subscribe(address: "\(world.web.address)/\(title)", completion: $0) }
      #expect(listed.name == title)
      #expect(try catalog.subscriptions().last?.name == title)
    }
  }
}
