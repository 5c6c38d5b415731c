import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import Testing

/// Feeds that use addresses and guids again: each episode keeps its name, its marks and its own bytes.
@Suite struct ReusedAddressTests {
  @Test func aRollingFeedWhoseAddressesDifferByAParameterKeepsItsEpisodesApart() throws {
    for hasGuids in [true, false] {
      let world = try CatalogWorld()
      let podcast = try world.podcast()
      for first in 0..<6 {
        world.web.set(
          "/feed",
          TestFeed(
            items: (first..<(first + 3)).map { number in
              .init(
                "Story \(number)", guid: hasGuids ? "\(number)" : nil,
                url: "http://m.example/play.mp3?sid=\(number)",
                date: "Wed, \(number + 1) Jan 2020 10:00:00 GMT")
            }
          ).page)
        try world.refresh(podcast)
      }
      let episodes = try world.catalog.episodes(ofPodcast: podcast)
      #expect(episodes.map(\.title) == (0..<8).map { "Story \($0)" })
      #expect(
        episodes.map(\.enclosureURL.forRequest) == (0..<8).map { "http://m.example/play.mp3?sid=\($0)" })
      #expect(Set(episodes.map(\.mediaKey)).count == 8)
    }
  }

  @Test func ofAnAddressThatIsAlwaysTheNewestEachEpisodeHasItsOwnBytes() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    for day in 1...3 {
      world.web.set(
        "/feed",
        TestFeed(items: [
          .init(
            "News", guid: "d\(day)", url: "http://m.example/latest.mp3",
            date: "Wed, 0\(day) Jan 2020 10:00:00 GMT")
        ]).page)
      try world.refresh(podcast)
    }
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(episodes.map(\.stem) == (1...3).map { "2020-01-0\($0) - News" })
    #expect(Set(episodes.map(\.mediaKey)).count == 3)
    #expect(episodes.map(\.isReplaced) == [true, true, false])
    try world.refresh(podcast)
    #expect(try world.catalog.episodes(ofPodcast: podcast) == episodes)
  }

  /// Also where guid and address are the same for ever.
  @Test(arguments: ["xx", nil, "http://m.example/latest.mp3"], ["latest.mp3", "harbour-lights.mp3"])
  func ofAGuidAndAnAddressThatAreAlwaysTheSameEachEpisodeHasItsOwnBytes(guid: String?, file: String) throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    for number in 1...5 {
      var item = TestFeed.Item(
        "Show of \(number)", guid: guid, url: "http://m.example/\(file)",
        date: "Wed, 0\(number) Jan 2020 10:00:00 GMT")
      item.extra = "<itunes:duration>\(1000 + number % 3 * 500)</itunes:duration>"
      world.web.set("/feed", TestFeed(items: [item]).page)
      try world.refresh(podcast)
    }
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(episodes.count == 5)
    #expect(Set(episodes.map(\.mediaKey)).count == 5)
  }

  /// An address that another episode has had, but has no more, is no reason to take that one's audio for the new one's.
  @Test(arguments: [1, 2]) func anAddressThatIsUsedAgainLaterGivesOtherBytes(refreshes: Int) throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    var items: [TestFeed.Item] = [
      .init("One", guid: "1", url: "http://m.example/a.mp3", date: "Wed, 01 Jan 2020 10:00:00 GMT"),
      .init("Trailer", guid: "0", date: "Wed, 01 Jan 2020 09:00:00 GMT"),
    ]
    func refresh() throws {
      world.web.set("/feed", TestFeed(items: items).page)
      try world.refresh(podcast)
    }
    try refresh()
    items[0].url = "http://m.example/moved.mp3"
    for number in 0..<refreshes {
      items[0].title = "One, corrected \(number)"
      try refresh()
    }
    items.append(
      .init("Two", guid: "2", url: "http://m.example/a.mp3", date: "Thu, 02 Jan 2020 10:00:00 GMT"))
    try refresh()
    let episodes = try world.catalog.episodes(ofPodcast: podcast).filter { $0.guid != "0" }
    #expect(episodes.map(\.guid) == ["1", "2"])
    #expect(episodes[0].mediaKey == MediaKey(address: "http://m.example/a.mp3"))
    #expect(episodes[1].mediaKey != episodes[0].mediaKey)
    // Two that have it at the same time are the same audio.
    items.append(
      .init("Two, again", guid: "3", url: "http://m.example/a.mp3#t=9", date: "Fri, 03 Jan 2020 10:00:00 GMT")
    )
    items.append(
      .init("Three", guid: "4", url: "http://m.example/b.mp3", date: "Fri, 03 Jan 2020 10:00:00 GMT"))
    items.append(
      .init("Three, again", guid: "5", url: "http://m.example/b.mp3", date: "Fri, 03 Jan 2020 10:00:00 GMT"))
    try refresh()
    let keys = try world.catalog.episodes(ofPodcast: podcast).filter { $0.guid != "0" }.map(\.mediaKey)
    #expect(keys[3] == keys[4])
    #expect(keys[2] != keys[0])
  }

  /// Guids that name something else: names, bytes and what is played stay with the episode that they are of.
  @Test func whatIsOfAnEpisodeStaysWithItWhateverItsGuid() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    // Places in the list as guids, and each day a new episode at its beginning.
    func item(_ day: Int, guid: String) -> TestFeed.Item {
      .init(
        "Show of the \(["storm", "harvest", "bridge", "winter"][day])", guid: guid,
        url: "http://m.example/\(day).mp3", date: "Wed, 0\(day + 1) Jan 2020 10:00:00 GMT")
    }
    for last in 0..<4 {
      world.web.set(
        "/feed", TestFeed(items: (0...last).reversed().map { item($0, guid: "\(last - $0 + 1)") }).page)
      try world.refresh(podcast)
      if last == 0 {
        let first = try #require(try world.catalog.episodes(ofPodcast: podcast).first)
        try world.catalog.setPlayed(true, episode: first.id)
      }
    }
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
    #expect(
      episodes.map(\.stem) == [
        "2020-01-01 - Show of the storm", "2020-01-02 - Show of the harvest",
        "2020-01-03 - Show of the bridge", "2020-01-04 - Show of the winter",
      ])
    #expect(episodes.map(\.title) == episodes.map { String($0.stem.dropFirst(13)) })
    #expect(episodes.map(\.mediaKey) == (0..<4).map { MediaKey(address: "http://m.example/\($0).mp3") })
    #expect(episodes.map(\.played) == [true, false, false, false])
    #expect(episodes.map(\.guid) == ["4", "3", "2", "1"])
  }

  /// Each feed shows one day. The second comes later, when the first has had that day too, or not.
  @Test(arguments: [true, false])
  func `Feeds that show one address on their days keep its episodes apart`(hasBoth: Bool) throws {
    let world = try CatalogWorld()
    let podcasts = try ["/f", "/g"].map { try world.podcast($0, title: "Podcast \($0)") }
    func refresh(_ podcast: Int, day: Int, title: String) throws {
      let item = TestFeed.Item(
        title, guid: "d\(day)", url: "http://m.example/latest.mp3", date: "Wed, 0\(day) Jan 2020 10:00:00 GMT"
      )
      world.web.set(["/f", "/g"][podcast], TestFeed(title: "Podcast \(podcast)", items: [item]).page)
      try world.refresh(podcasts[podcast])
    }
    func keys(_ podcast: Int) throws -> [MediaKey] {
      try world.catalog.episodes(ofPodcast: podcasts[podcast]).map(\.mediaKey)
    }
    try refresh(0, day: 1, title: "Storm")
    if hasBoth { try refresh(0, day: 2, title: "Harvest") }
    try refresh(1, day: 2, title: "Harvest")
    #expect(try keys(1)[0] != keys(0)[0])
    if hasBoth { #expect(try keys(1)[0] == keys(0)[1]) }
  }

  /// The cache still has what an earlier catalogue knew, under its key.
  @Test(arguments: [true, false])
  func `A catalogue that begins anew finds the same edition and takes no other one for it`(hasGuid: Bool)
    throws
  {
    func keys(_ days: ClosedRange<Int>) throws -> [MediaKey] {
      let world = try CatalogWorld()
      let podcast = try world.podcast()
      for day in days {
        let item = TestFeed.Item(
          "Bulletin", guid: hasGuid ? "g\(day)" : nil, url: "http://m.example/latest.mp3",
          date: "Wed, 0\(day) Jan 2020 10:00:00 GMT")
        world.web.set("/feed", TestFeed(items: [item]).page)
        try world.refresh(podcast)
      }
      return try world.catalog.episodes(ofPodcast: podcast).map(\.mediaKey)
    }
    let lost = try keys(1...3)
    #expect(Set(lost).count == 3)
    for day in 1...3 { #expect(try keys(day...day) == [lost[day - 1]]) }
  }

  /// Nothing in a title makes one file of two.
  @Test(arguments: [("#1 Morning", "#1 Evening"), ("Morning http://m.example/latest.mp3#", "Morning")])
  func `Only items of one date at two addresses are two files`(titles: (String, String)) throws {
    let world = try CatalogWorld()
    var keys: Set<MediaKey> = []
    for (path, title) in [("/latest", titles.0), ("/now", titles.1)] {
      let item = TestFeed.Item(
        title, guid: path, url: "http://m.example\(path).mp3", date: "Wed, 01 Jan 2020 10:00:00 GMT")
      world.web.set(path, TestFeed(title: path, items: [item]).page)
      let podcast = try world.podcast(path)
      try world.refresh(podcast)
      keys.formUnion(try world.catalog.episodes(ofPodcast: podcast).map(\.mediaKey))
    }
    #expect(keys.count == 2)
  }

  /// A show that has just begun, and has got more episodes when the catalogue is lost.
  @Test func `A numbered file is found by its address`() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set(
      "/feed",
      TestFeed(items: [
        .init("One", guid: "1", url: "http://m.example/1.mp3", date: "Wed, 01 Jan 2020 10:00:00 GMT")
      ]).page)
    try world.refresh(podcast)
    let keys = try world.catalog.episodes(ofPodcast: podcast).map(\.mediaKey)
    #expect(keys == [MediaKey(address: "http://m.example/1.mp3")])
  }

  /// The same title or the same day: one podcast's episode in the feed of another.
  @Test(arguments: [
    ("Storm", 5, false), ("Another title", 1, false), ("Storm", 1, true), ("Storm", 1, false),
  ])
  func `An episode of two podcasts is one file`(title: String, day: Int, isOnly: Bool) throws {
    let world = try CatalogWorld()
    var keys: [MediaKey] = []
    for (path, title, day) in [("/f", "Storm", 1), ("/g", title, day)] {
      let item = TestFeed.Item(
        title, guid: path, url: "http://m.example/\(isOnly ? "latest" : "1").mp3",
        date: "Wed, 0\(day) Jan 2020 10:00:00 GMT")
      let other = TestFeed.Item("Own", guid: path + "0")
      world.web.set(path, TestFeed(title: path, items: isOnly ? [item] : [item, other]).page)
      let podcast = try world.podcast(path)
      try world.refresh(podcast)
      keys += try world.catalog.episodes(ofPodcast: podcast).filter { $0.guid == path }.map(\.mediaKey)
    }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }
}
