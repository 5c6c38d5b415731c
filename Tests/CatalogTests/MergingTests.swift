import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Podcasts that turn out to be one with another, in pieces, whoever is killed or forgotten meanwhile.
@Suite struct MergingTests {
  /// Two subscriptions whose feeds turn out to be one.
  @Test(arguments: [true, false])
  func aFeedThatMovesToAnAddressThatIsKnownBecomesOneWithIt(isSame: Bool) throws {
    let world = try CatalogWorld()
    let catalog = world.catalog
    world.web.set("/old", TestFeed(title: "Lights", items: TestFeed.items(0..<8)).page)
    world.web.set(
      "/new",
      TestFeed(title: "Lights", items: isSame ? TestFeed.items(4..<12) : TestFeed.items(40..<48, "x")).page)
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
    for _ in 0..<2 {
      if isSame { try world.refresh(old.podcast.id) } else { _ = try? world.refresh(old.podcast.id) }
      try nextSecond()
    }
    #expect(catalog.waitForRefreshes(seconds: patience))
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
    } else {
      #expect(try catalog.subscriptions().map(\.name) == ["Lights", "Lights, again"])
      #expect(try catalog.episodes(ofPodcast: old.podcast.id).map(\.stem) == stems)
      #expect(try catalog.episodes(ofPodcast: other.podcast.id).count == ofOther.count)
    }
  }

  /// Two shows that say the same of themselves, and have less than half of their episodes in common: title and guid are
  /// copied easily, an episode must be the same besides.
  enum Guids { case same, others, ofATemplate }

  @Test(
    arguments: [
      (Guids.same, "Lights", 0, false), (.same, "Lights, anew", 0, false), (.same, "Lights, anew", 1, true),
      (.same, "Lights", 1, true), (.others, "Lights", 1, false), (.ofATemplate, "Lights", 0, false),
      (.ofATemplate, "Lights", 1, false),
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
    publish("/old", "Lights", TestFeed.items(0..<8), "guid", moved: true)
    publish(
      "/new", title, TestFeed.items(0..<common) + TestFeed.items(40..<48, "x"),
      guids == .others ? "another" : "guid")
    publish("/third", "Winds", TestFeed.items(60..<64, "y"), "guid")
    let paths = guids == .ofATemplate ? ["/third", "/new", "/old"] : ["/new", "/old"]
    let podcasts = try paths.map { try catalog.subscribe(feedURL: "\(world.web.address)\($0)").podcast.id }
    for podcast in podcasts { try world.refresh(podcast) }
    try nextSecond()
    let before = world.web.requests("/new").count
    if let old = podcasts.last { try world.refresh(old) }
    #expect(world.web.wait("/new", count: before + 1))
    #expect(catalog.waitForRefreshes(seconds: patience))
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
    world.web.set("/old", TestFeed(title: "Lights", items: TestFeed.items(0..<8)).page)
    world.web.set(
      "/new", TestFeed(title: "Lights", items: TestFeed.items(0..<8, "n", host: "n.example")).page)
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
    #expect(catalog.waitForRefreshes(seconds: patience))
    if !isMounted { catalog.startScheduler { held } }
    let expected = [others[0].mediaKey, others[1].mediaKey] + own[2...]
    #expect(
      try eventually { try catalog.episodes(ofPodcast: old.podcast.id).map(\.mediaKey) == expected })
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
    #expect(catalog.waitForRefreshes(seconds: patience))
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
    #expect(try eventually { try next.podcast(other.podcast.id) == nil })
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
    #expect(try eventually { try world.catalog.podcast(other.podcast.id) == nil })
    #expect(try world.catalog.subscriptions().isEmpty)
  }
}
