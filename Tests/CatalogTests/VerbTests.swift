import Catalog
import PodcastModel
import PosixKit
import Testing

/// What users do to searches, subscriptions and episodes (Documentation/Semantics.md, Verbs).
@Suite struct VerbTests {
  /// A world with a fetched podcast of three episodes, found by the search "lights".
  private struct Lights {
    let world: CatalogWorld
    let search: Search
    let result: ListedPodcast
    var catalog: Catalog { world.catalog }
    var podcast: Int64 { result.podcast.id }

    init() throws {
      world = try CatalogWorld()
      world.web.set("/search", world.web.answer([("Harbour Lights", "/feed"), ("Other", "/other")]))
      let items = (1...3).map {
        TestFeed.Item("Episode \($0)", guid: "\($0)", date: "Wed, 0\($0) Jan 2024 10:00:00 GMT")
      }
      world.web.set("/feed", TestFeed(items: items).page)
      search = try world.search("lights")
      result = try #require(try world.catalog.results(ofSearch: search.id).first)
      try world.refresh(result.podcast.id)
    }

    func episodes() throws -> [Episode] { try catalog.episodes(ofPodcast: podcast) }
  }

  @Test func aForgottenSearchIsGoneAndWhatIsKnownStays() throws {
    let lights = try Lights()
    try lights.catalog.forgetSearch(lights.search.id)
    #expect(try lights.catalog.searches().isEmpty)
    #expect(try lights.catalog.results(ofSearch: lights.search.id).isEmpty)
    #expect(try lights.episodes().count == 3)
    let error = #expect(throws: CatalogError.self) { try lights.catalog.forgetSearch(lights.search.id) }
    #expect(error?.errno == .ENOENT)
    #expect(try lights.world.search("lights").id > lights.search.id)
  }

  @Test func aHiddenResultStaysHiddenWhenItsSearchIsMadeAgain() throws {
    let lights = try Lights()
    try lights.catalog.hideResult(lights.result.id)
    #expect(try lights.catalog.results(ofSearch: lights.search.id).map(\.name) == ["Other"])
    #expect(try lights.catalog.searches().first?.resultCount == 1)
    #expect(try lights.catalog.results(showing: [lights.podcast]).isEmpty)
    _ = try lights.world.search("lights", replacing: lights.search.id)
    #expect(try lights.catalog.results(ofSearch: lights.search.id).map(\.name) == ["Other"])
  }

  @Test func anEpisodeHiddenInASearchIsHiddenThereOnly() throws {
    let lights = try Lights()
    let episode = try #require(try lights.episodes().first)
    try lights.catalog.hideInSearch(result: lights.result.id, episode: episode.id)
    let shown = try lights.catalog.results(showing: [lights.podcast])
    #expect(shown == [lights.podcast: [lights.result.id: [episode.id]]])
    #expect(try lights.catalog.episode(episode.id)?.hidden == false)
  }

  @Test func aSubscribedResultLeavesItsSearchUntilThatIsMadeAgain() throws {
    let lights = try Lights()
    let subscription = try lights.catalog.subscribe(result: lights.result.id, name: "My lights")
    #expect(subscription.name == "My lights")
    #expect(subscription.podcast.id == lights.podcast)
    #expect(try lights.catalog.subscriptions() == [subscription])
    #expect(try lights.catalog.results(ofSearch: lights.search.id).map(\.name) == ["Other"])
    _ = try lights.world.search("lights", replacing: lights.search.id)
    let again = try lights.catalog.results(ofSearch: lights.search.id)
    #expect(again.map(\.name) == ["Harbour Lights", "Other"])
    #expect(again.first?.id == lights.result.id)
    let error = #expect(throws: CatalogError.self) { try lights.catalog.subscribe(result: lights.result.id) }
    #expect(error?.errno == .EEXIST)
  }

  @Test(arguments: ["my LIGHTS", "Subscriptions.OPML"])
  func aTakenNameIsRefused(name: String) throws {
    let lights = try Lights()
    _ = try lights.catalog.subscribe(result: lights.result.id, name: "My lights")
    let other = try #require(try lights.catalog.results(ofSearch: lights.search.id).first)
    let error = #expect(throws: CatalogError.self) {
      try lights.catalog.subscribe(result: other.id, name: name)
    }
    #expect(error?.errno == .EEXIST)
    #expect(try lights.catalog.results(ofSearch: lights.search.id).count == 1)
    #expect(try lights.catalog.subscribe(result: other.id).name == "Other")
  }

  @Test func unsubscribingForgetsHiddenMarksAndKeepsTheEpisodes() throws {
    let lights = try Lights()
    let subscription = try lights.catalog.subscribe(result: lights.result.id)
    let episodes = try lights.episodes()
    try lights.catalog.setHidden(true, episode: episodes[2].id)
    try lights.catalog.setPlayed(true, episode: episodes[0].id)
    #expect(try lights.catalog.subscriptions().first?.hiddenCount == 1)
    #expect(try lights.catalog.latest(limit: 10).map(\.title) == ["Episode 2"])
    try lights.catalog.unsubscribe(subscription.id)
    #expect(try lights.catalog.subscriptions().isEmpty)
    #expect(try lights.catalog.latest(limit: 10).isEmpty)
    #expect(try lights.episodes().map(\.hidden) == [false, false, false])
    #expect(try lights.episodes().map(\.played) == [true, false, false])
    let again = try lights.catalog.subscribe(feedURL: "feed:\(lights.world.web.address)/feed/", name: "X")
    #expect(again.podcast.id == lights.podcast)
    #expect(again.id > subscription.id)
  }

  @Test func positionsAndWhatIsUnplayedAreKnown() throws {
    let lights = try Lights()
    let catalog = lights.catalog
    let episodes = try lights.episodes()
    func unplayed() throws -> Int? { try catalog.podcast(lights.podcast)?.unplayedCount }
    #expect(try unplayed() == 3)
    try catalog.setPosition(12_500, episode: episodes[1].id, margin: 30)
    var state = try #require(try catalog.episode(episodes[1].id)).listening
    #expect(state.position == 12_500 && !state.isPlayed && state.lastPlayed != nil && state.changed != nil)
    #expect(try unplayed() == 3)
    try catalog.setPlayed(true, episode: episodes[1].id)
    state = try #require(try catalog.episode(episodes[1].id)).listening
    #expect(state.position == 0 && state.isPlayed)
    #expect(try unplayed() == 2)
    try catalog.setHidden(true, episode: episodes[1].id)
    #expect(try unplayed() == 2)
    try catalog.setHidden(true, episode: episodes[0].id)
    #expect(try unplayed() == 1)
    #expect(throws: CatalogError.self) { try catalog.setPosition(1, episode: 1, margin: 30) }
  }

  @Test func hiddenEpisodesAreRestored() throws {
    let lights = try Lights()
    _ = try lights.catalog.subscribe(result: lights.result.id)
    for episode in try lights.episodes() { try lights.catalog.setHidden(true, episode: episode.id) }
    #expect(try lights.catalog.latest(limit: 10).isEmpty)
    try lights.catalog.restoreHidden(podcast: lights.podcast)
    #expect(try lights.catalog.latest(limit: 2).map(\.title) == ["Episode 3", "Episode 2"])
    #expect(try lights.catalog.subscriptions().first?.hiddenCount == 0)
  }

  @Test func latestMergesAllSubscriptionsByDate() throws {
    let world = try CatalogWorld()
    for number in 0..<5 {
      let items = (0..<10).map { day in
        TestFeed.Item(
          "\(day)", guid: "\(number)-\(day)", date: "Wed, \(day + 10) Jan 2024 \(10 + number):00:00 GMT")
      }
      world.web.set("/\(number)", TestFeed(title: "P\(number)", items: items).page)
      try world.refresh(try world.catalog.subscribe(feedURL: "\(world.web.address)/\(number)").podcast.id)
    }
    let latest = try world.catalog.latest(limit: 12)
    let expected = (0..<12).map { "\(4 - $0 % 5)-\(9 - $0 / 5)" }
    #expect(latest.map(\.guid) == expected)
  }

  @Test func entriesAreFoundByTheirMediaKeysHoweverMany() throws {
    let lights = try Lights()
    let keys = try lights.episodes().map(\.mediaKey)
    let others = (0..<2000).map { MediaKey(address: "http://nowhere.example/\($0)") }
    let entries = try lights.catalog.entries(forKeys: others + keys)
    #expect(Set(entries.keys) == Set(keys))
    #expect(entries[keys[0]]?.podcast.id == lights.podcast)
    #expect(try lights.catalog.entries(forKeys: []).isEmpty)
  }

  @Test func everythingIsThereAfterClosingAndOpening() throws {
    let lights = try Lights()
    _ = try lights.catalog.subscribe(result: lights.result.id)
    let episodes = try lights.episodes()
    try lights.catalog.setHidden(true, episode: episodes[0].id)
    let other = try lights.world.open()
    defer { other.close() }
    #expect(try other.subscriptions() == lights.catalog.subscriptions())
    #expect(try other.searches() == lights.catalog.searches())
    #expect(try other.episodes(ofPodcast: lights.podcast) == lights.episodes())
  }
}
