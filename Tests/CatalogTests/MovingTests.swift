import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import Testing

/// Feeds that move, merge, and get their names late.
@Suite struct MovingTests {
  private func items(_ numbers: Range<Int>, _ prefix: String = "g", host: String = "m.example") -> [TestFeed
    .Item]
  {
    numbers.map {
      TestFeed.Item(
        "Episode \($0)", guid: "\(prefix)\($0)", url: "http://\(host)/\(prefix)\($0)00.mp3",
        date: "Wed, \($0 + 1) Jan 2020 10:00:00 GMT")
    }
  }

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
  @Test(arguments: ["xx", "http://m.example/latest.mp3"])
  func ofAGuidAndAnAddressThatAreAlwaysTheSameEachEpisodeHasItsOwnBytes(guid: String) throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    for number in 1...5 {
      var item = TestFeed.Item(
        "Show of \(number)", guid: guid, url: "http://m.example/latest.mp3",
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
      .init("One", guid: "1", url: "http://m.example/a.mp3", date: "Wed, 01 Jan 2020 10:00:00 GMT")
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
    let episodes = try world.catalog.episodes(ofPodcast: podcast)
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
    let keys = try world.catalog.episodes(ofPodcast: podcast).map(\.mediaKey)
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

  @Test func aShowThatMovesToAnotherHostIsNotDoubled() throws {
    let world = try CatalogWorld()
    let podcast = try world.podcast()
    world.web.set("/feed", TestFeed(items: items(0..<20)).page)
    try world.refresh(podcast)
    let before = try world.catalog.episodes(ofPodcast: podcast)
    world.web.set("/feed", TestFeed(items: items(0..<21, "new", host: "other.example")).page)
    #expect(try world.refresh(podcast).newEpisodes.count == 1)
    let after = try world.catalog.episodes(ofPodcast: podcast)
    #expect(after.prefix(20).map(\.stem) == before.map(\.stem))
    #expect(after.prefix(20).map(\.mediaKey) == before.map(\.mediaKey))
    #expect(after.map(\.guid) == (0..<21).map { "new\($0)" })
  }

  /// Two subscriptions whose feeds turn out to be one.
  @Test(arguments: [true, false])
  func aFeedThatMovesToAnAddressThatIsKnownBecomesOneWithIt(isSame: Bool) throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/old", TestFeed(title: "Lights", items: items(0..<8)).page)
    world.web.set("/new", TestFeed(title: "Lights", items: isSame ? items(4..<12) : items(40..<48, "x")).page)
    world.web.set("/search", world.web.answer([("Lights", "/old"), ("Lights", "/new")]))
    let search = try world.search("lights")
    let old = try catalog.subscribe(feedURL: "\(world.web.address)/old")
    let other = try catalog.subscribe(feedURL: "\(world.web.address)/new", name: "Lights, again")
    try world.refresh(old.podcast.id)
    try world.refresh(other.podcast.id)
    let ofOther = try catalog.episodes(ofPodcast: other.podcast.id)
    let stems = try catalog.episodes(ofPodcast: old.podcast.id).map(\.stem)
    try catalog.setPlayed(true, episode: ofOther[0].id)
    world.web.set("/old", FakeWeb.Page(status: 301, headers: [("Location", "/new")]))
    // Its own items are what redirects bring: the episodes of /new come into the one that moves, too.
    for _ in 0..<2 {
      if isSame { try world.refresh(old.podcast.id) } else { _ = try? world.refresh(old.podcast.id) }
      try nextSecond()
    }
    #expect(catalog.waitForRefreshes(seconds: 20))
    if isSame {
      #expect(try catalog.subscriptions().map(\.name) == ["Lights"])
      let merged = try #require(try catalog.subscriptions().first).podcast
      #expect(merged.id == old.podcast.id)
      #expect(merged.feedURL.forRequest == "\(world.web.address)/new")
      let episodes = try catalog.episodes(ofPodcast: merged.id)
      #expect(episodes.map(\.guid) == (0..<12).map { "g\($0)" })
      #expect(episodes.prefix(8).map(\.stem) == stems)
      #expect(episodes[4].played)
      #expect(merged.episodeCount == 12)
      #expect(try catalog.podcast(other.podcast.id) == nil)
      #expect(try catalog.results(ofSearch: search.id).map(\.podcast.id) == [merged.id])
      #expect(try wait { catalog.find("episode source:local", completion: $0) }.podcasts.count == 1)
    }
  }

  /// Two shows that say the same of themselves, and have less than half of their episodes in common.
  enum Guids { case same, others, ofATemplate }

  @Test(
    arguments: [
      (Guids.same, "Lights", 0, true), (.same, "Lights, anew", 0, false), (.same, "Lights, anew", 1, true),
      (.others, "Lights", 1, false), (.ofATemplate, "Lights", 0, false), (.ofATemplate, "Lights", 1, false),
    ])
  func theGuidOfAPodcastTellsThatTwoAreOne(guids: Guids, title: String, common: Int, isSame: Bool) throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    func publish(
      _ path: String, _ title: String, _ items: [TestFeed.Item], _ guid: String, moved: Bool = false
    ) {
      var feed = TestFeed(title: title, items: items)
      feed.channel =
        "<podcast:guid xmlns:podcast=\"https://podcastindex.org/namespace/1.0\">\(guid)</podcast:guid>"
        + (moved ? "<itunes:new-feed-url>\(world.web.address)/new</itunes:new-feed-url>" : "")
      world.web.set(path, feed.page)
    }
    publish("/old", "Lights", items(0..<8), "guid", moved: true)
    publish("/new", title, items(0..<common) + items(40..<48, "x"), guids == .others ? "another" : "guid")
    publish("/third", "Winds", items(60..<64, "y"), "guid")
    let paths = guids == .ofATemplate ? ["/third", "/new", "/old"] : ["/new", "/old"]
    let podcasts = try paths.map { try catalog.subscribe(feedURL: "\(world.web.address)\($0)").podcast.id }
    for podcast in podcasts { try world.refresh(podcast) }
    try nextSecond()
    let before = world.web.requests("/new").count
    if let old = podcasts.last { try world.refresh(old) }
    #expect(world.web.wait("/new", count: before + 1))
    #expect(catalog.waitForRefreshes(seconds: 20))
    #expect(try catalog.subscriptions().count == podcasts.count - (isSame ? 1 : 0))
    if isSame {
      #expect(try catalog.podcast(feedURL: "\(world.web.address)/new")?.episodeCount == 16)
    }
  }

  /// What a user has done with the one that goes, and what is here of it, is not lost: whether a mount sees the two
  /// become one, or is begun afterwards.
  @Test(arguments: [true, false]) func whatWasDoneWithTheOneThatGoesStays(isMounted: Bool) throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/old", TestFeed(title: "Lights", items: items(0..<8)).page)
    world.web.set("/new", TestFeed(title: "Lights", items: items(0..<8, "n", host: "n.example")).page)
    let old = try catalog.subscribe(feedURL: "\(world.web.address)/old")
    let other = try catalog.subscribe(feedURL: "\(world.web.address)/new", name: "Again")
    for podcast in [old.podcast.id, other.podcast.id] { try world.refresh(podcast) }
    let own = try catalog.episodes(ofPodcast: old.podcast.id).map(\.mediaKey)
    let stems = try catalog.episodes(ofPodcast: old.podcast.id).map(\.stem)
    let others = try catalog.episodes(ofPodcast: other.podcast.id)
    #expect(Set(own).isDisjoint(with: others.map(\.mediaKey)))
    try catalog.hide(episode: others[5].id)
    // One is here of the other only, one is kept of the other, one is kept of both, one is here of its own only.
    let held = [
      others[0].mediaKey: 1, own[1]: 1, others[1].mediaKey: 5, own[2]: 5, others[2].mediaKey: 5, own[3]: 1,
    ]
    if isMounted { catalog.startScheduler { held } }
    world.web.set("/old", FakeWeb.Page(status: 301, headers: [("Location", "/new")]))
    for _ in 0..<2 {
      try world.refresh(old.podcast.id)
      try nextSecond()
    }
    #expect(catalog.waitForRefreshes(seconds: 20))
    if !isMounted { catalog.startScheduler { held } }
    let expected = [others[0].mediaKey, others[1].mediaKey] + own[2...]
    #expect(
      try eventually(60) { try catalog.episodes(ofPodcast: old.podcast.id).map(\.mediaKey) == expected })
    let episodes = try catalog.episodes(ofPodcast: old.podcast.id)
    #expect(episodes.map(\.stem) == stems)
    #expect(episodes.map(\.hidden) == (0..<8).map { $0 == 5 })
    #expect(try catalog.subscriptions().map(\.hiddenCount) == [1])
    #expect(try catalog.podcast(other.podcast.id) == nil)
  }

  /// Two podcasts of some length that turn out to be one: the second has the first one's episodes and more.
  private func twins(_ world: CatalogWorld, count: Int) throws -> (old: ListedPodcast, other: ListedPodcast) {
    let all = (0..<(count + 10)).map { number in
      var item = TestFeed.Item(
        "Episode \(number)", guid: "g\(number)", url: "http://m.example/\(number).mp3",
        date: "Wed, 01 Jan 2020 \(10 + number / 3600):\(10 + number / 60 % 50):\(10 + number % 50) GMT")
      item.extra = "<description>foghorn \(number)</description>"
      return item
    }
    world.web.set("/old", TestFeed(title: "Lights", items: Array(all[..<count])).page)
    world.web.set("/new", TestFeed(title: "Lights", items: Array(all[10...])).page)
    let old = try world.catalog.subscribe(feedURL: "\(world.web.address)/old")
    let other = try world.catalog.subscribe(feedURL: "\(world.web.address)/new", name: "Again")
    for podcast in [old.podcast.id, other.podcast.id] { try world.refresh(podcast) }
    return (old, other)
  }

  /// A verb waits for a piece at the most.
  @Test func aLongMergeIsWrittenInPieces() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    let (old, other) = try twins(world, count: 1700)
    for episode in try catalog.episodes(ofPodcast: other.podcast.id)
    where ["g10", "g1709"].contains(episode.guid) { try catalog.setPlayed(true, episode: episode.id) }
    world.web.set("/old", FakeWeb.Page(status: 301, headers: [("Location", "/new")]))
    try world.refresh(old.podcast.id)
    try nextSecond()
    let before = try catalog.commits()
    try world.refresh(old.podcast.id)
    #expect(catalog.waitForRefreshes(seconds: 60))
    // The refresh itself, the note, four pieces of at most 500, the end.
    #expect(try catalog.commits() - before >= 7)
    #expect(try catalog.subscriptions().map(\.name) == ["Lights"])
    let episodes = try catalog.episodes(ofPodcast: old.podcast.id)
    #expect(Set(episodes.map(\.guid)) == Set((0..<1710).map { "g\($0)" }))
    #expect(episodes.count == 1710)
    #expect(try catalog.podcast(old.podcast.id)?.episodeCount == 1710)
    #expect(Set(episodes.filter(\.played).map(\.guid)) == ["g10", "g1709"])
    #expect(try catalog.podcast(other.podcast.id) == nil)
    #expect(try wait { catalog.find("foghorn source:local", completion: $0) }.podcasts.count == 1)
    try FullTextTests.check("\(world.home.places.data)/catalog.sqlite")
  }

  /// What a process leaves that died after it had noted that two podcasts become one, or amid its pieces.
  @Test(arguments: [0, 1, 2]) func aMergeThatWasInterruptedGoesOn(how: Int) throws {
    let world = try CatalogWorld()
    let (old, other) = try twins(world, count: 30)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run(
      "UPDATE podcast SET merges_into = ?, feed_key = 'merging' WHERE id = ?", old.podcast.id,
      other.podcast.id)
    try file.run(
      "UPDATE podcast SET feed_url = ? WHERE id = ?", "\(world.web.address)/new", old.podcast.id)
    if how == 1 {
      // Some have gone over already.
      try file.run("DELETE FROM episode WHERE podcast_id = ? AND id % 2 = 0", other.podcast.id)
      try file.run(
        "UPDATE podcast SET episode_count = 15, revision = revision + 1 WHERE id = ?", other.podcast.id)
    }
    let next = try world.open()
    defer { next.close() }
    if how == 2 {
      // Who looks into the one that goes does not fetch it any more.
      let asked = world.web.requests("/new").count
      let outcome = try wait { next.refresh(podcast: other.podcast.id, cause: .forced, completion: $0) }
      #expect(outcome == .unchanged)
      #expect(world.web.requests("/new").count == asked)
    } else {
      next.startScheduler()
    }
    #expect(try eventually(60) { try next.podcast(other.podcast.id) == nil })
    #expect(try next.subscriptions().map(\.name) == ["Lights"])
    let episodes = try next.episodes(ofPodcast: old.podcast.id)
    #expect(episodes.prefix(30).map(\.guid) == (0..<30).map { "g\($0)" })
    #expect(Set(episodes.map(\.guid)).isSubset(of: Set((0..<40).map { "g\($0)" })))
    #expect(Set(episodes.map(\.stem)).count == episodes.count)
    #expect(try next.podcast(old.podcast.id)?.episodeCount == episodes.count)
  }

  @Test func whoForgetsTheOneThatStaysForgetsBoth() throws {
    let world = try CatalogWorld()
    let (old, other) = try twins(world, count: 20)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run(
      "UPDATE podcast SET merges_into = ?, feed_key = 'merging' WHERE id = ?", old.podcast.id,
      other.podcast.id)
    _ = try world.catalog.forget(podcast: old.podcast.id)
    world.catalog.startScheduler()
    #expect(try eventually(60) { try world.catalog.podcast(other.podcast.id) == nil })
    #expect(try world.catalog.subscriptions().isEmpty)
  }

  @Test func aNameTakenFromAHostLastsUntilTheFeedTellsItsTitle() throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/search", world.web.answer([("127.0.0.1", "/b")]))
    for path in ["/a", "/b"] {
      world.web.set(path, TestFeed(title: "Real title", items: [.init("One", guid: path)]).page)
    }
    let search = try world.search("x")
    let listed = try catalog.subscribe(feedURL: "\(world.web.address)/a")
    #expect(listed.name == "127.0.0.1")
    try catalog.rename(subscription: listed.id, to: "Mine")
    let other = try catalog.subscribe(feedURL: "\(world.web.address)/b")
    #expect(other.name == "127.0.0.1")
    let heard = Monitor<[CatalogChange]>([])
    catalog.observe { change in heard.withLockNotifying { $0.append(change) } }
    try world.refresh(listed.podcast.id)
    try world.refresh(other.podcast.id)
    #expect(try catalog.subscriptions().map(\.name) == ["Mine", "Real title"])
    #expect(try catalog.results(ofSearch: search.id).map(\.name) == ["Real title"])
    #expect(Set(try catalog.subscriptions().map(\.podcast.name)) == ["Real title", "Real title (2)"])
    let isTold: Bool? = heard.wait(until: .after(20)) {
      $0.contains(.subscription(other.id, podcast: other.podcast.id)) ? true : nil
    }
    #expect(isTold == true)
    // From then on it stays.
    world.web.set("/b", TestFeed(title: "Another title", items: [.init("One", guid: "/b")]).page)
    try world.refresh(other.podcast.id)
    #expect(try catalog.subscriptions().map(\.name) == ["Mine", "Real title"])
  }

  @Test func aPermanentRedirectCountsAlsoWhereTheTargetHasNothingNew() throws {
    let world = try CatalogWorld()
    let page = TestFeed(items: items(0..<2)).page
    world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "/moved")]))
    world.web.set("/moved") { request in
      if request.header("if-none-match") == "\"1\"" { return FakeWeb.Page(status: 304) }
      var page = page
      page.headers.append(("ETag", "\"1\""))
      return page
    }
    let podcast = try world.podcast()
    try world.refresh(podcast)
    try nextSecond()
    #expect(try world.refresh(podcast) == .unchanged)
    #expect(world.web.requests("/moved").last?.header("if-none-match") == "\"1\"")
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/moved")
  }

  /// Also where the two refreshes are within one second.
  @Test func twoRefreshesInARowCountAPermanentRedirectTwice() throws {
    for _ in 0..<3 {
      let world = try CatalogWorld()
      world.web.set("/feed", FakeWeb.Page(status: 301, headers: [("Location", "/moved")]))
      world.web.set("/moved", TestFeed(items: items(0..<2)).page)
      let podcast = try world.podcast()
      try world.refresh(podcast)
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/feed")
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: 20))
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/moved")
    }
  }

  /// Feeds that announce each other are where they are; what announces a way with an end is there.
  @Test(arguments: [2, 3]) func feedsThatAnnounceEachOtherStay(count: Int) throws {
    let world = try CatalogWorld()
    func publish(_ place: Int, next: String?) {
      var feed = TestFeed(items: items(0..<4))
      feed.channel = next.map { "<itunes:new-feed-url>\(world.web.address)\($0)</itunes:new-feed-url>" } ?? ""
      world.web.set(place == 0 ? "/feed" : "/\(place)", feed.page)
    }
    for place in 0..<count { publish(place, next: place + 1 == count ? "/feed" : "/\(place + 1)") }
    let podcast = try world.podcast()
    for _ in 0..<6 {
      try world.refresh(podcast)
      #expect(world.catalog.waitForRefreshes(seconds: 20))
      #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/feed")
    }
    #expect(world.web.requests("/1").count == 1, "it is not tried each time")
    // The last is the end of the way, as soon as it is looked at again.
    publish(count - 1, next: nil)
    let file = try Database(path: "\(world.home.places.data)/catalog.sqlite")
    try file.run("UPDATE podcast SET moved_since = moved_since - 700000")
    try world.refresh(podcast)
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/\(count - 1)")
    #expect(try world.catalog.episodes(ofPodcast: podcast).count == 4)
  }

  /// Where the way ends at nothing, what was before it is taken.
  @Test func aFeedWhoseNewPlaceAnnouncesNothingThatIsThereGoesThere() throws {
    let world = try CatalogWorld()
    for (path, next) in [("/feed", "/new"), ("/new", "/nowhere")] {
      var feed = TestFeed(items: items(0..<4))
      feed.channel = "<itunes:new-feed-url>\(world.web.address)\(next)</itunes:new-feed-url>"
      world.web.set(path, feed.page)
    }
    let podcast = try world.podcast()
    for _ in 0..<2 { try world.refresh(podcast) }
    #expect(world.catalog.waitForRefreshes(seconds: 20))
    #expect(try world.catalog.podcast(podcast)?.feedURL.forRequest == "\(world.web.address)/new")
  }

  /// What is much is written in pieces, and a verb of another process comes between them.
  @Test func aLargeFeedComesWholeThoughAnotherProcessChangesIt() throws {
    let world = try CatalogWorld()
    let other = try world.open()
    defer { other.close() }
    let page = TestFeed(
      items: (0..<5000).map {
        .init(
          "Episode \($0)", guid: "\($0)",
          date: "Wed, 03 Jan 2020 \(10 + $0 / 600):\(10 + $0 / 60 % 50):\(10 + $0 % 50) GMT")
      }
    ).page
    world.web.set("/feed", page)
    let podcast = try world.podcast()
    let done = Monitor(0)
    for catalog in [world.catalog, other] {
      catalog.refresh(podcast: podcast, cause: .forced) { _ in done.withLockNotifying { $0 += 1 } }
    }
    let both: Bool? = done.wait(until: .after(60)) { $0 == 2 ? true : nil }
    #expect(both == true)
    let episodes = try other.episodes(ofPodcast: podcast)
    #expect(episodes.count == 5000)
    #expect(Set(episodes.map(\.guid)).count == 5000)
    #expect(Set(episodes.map(\.stem)).count == 5000)
    #expect(try other.podcast(podcast)?.episodeCount == 5000)
  }
}
