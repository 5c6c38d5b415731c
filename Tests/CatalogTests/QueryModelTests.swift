import Catalog
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Random queries of a catalogue with random marks: each selects what a scan of all episodes gives.
@Suite struct QueryModelTests {
  private static let words = ["fog", "foghorn", "harbour", "light", "keeper", "Zürich", "storm"]

  private static let people = ["Ann Lee", "Lee Ann", "Zoë Quay"]

  private static func items(_ podcast: Int, _ random: inout SeededGenerator) -> [TestFeed.Item] {
    (0..<25).map { number in
      let title = (0..<2).map { _ in words.randomElement(using: &random) ?? "" }.joined(separator: " ")
      let day = Int.random(in: 1...28, using: &random)
      var item = TestFeed.Item(
        title, guid: "\(podcast)-\(number)",
        date: "\(day < 10 ? "0" : "")\(day) Jan 2024 \(10 + number % 3):00:00 GMT")
      if Bool.random(using: &random) {
        item.extra += "<itunes:duration>\(Int.random(in: 1...90, using: &random) * 60)</itunes:duration>"
      }
      if Bool.random(using: &random) {
        item.extra += "<itunes:season>\(Int.random(in: 1...2, using: &random))</itunes:season>"
      }
      if number % 3 == 0 {
        item.extra += "<podcast:person>\(people.randomElement(using: &random) ?? "")</podcast:person>"
      }
      item.extra += "<description>\(words.randomElement(using: &random) ?? "")</description>"
      return item
    }
  }

  private static func terms(_ random: inout SeededGenerator) -> String {
    let all = [
      "is:unplayed", "is:played", "is:started", "-is:started", "is:followed", "-is:followed", "is:queued",
      "-is:queued",
      "is:cached", "-is:cached", "is:kept", "newer:2024-01-10", "older:2024-01-20", "shorter:30m",
      "longer:30m",
      "season:2",
      "show:show", "show:mine", "show:\"other show\"", "show:\"show 1\"", "show:2", "episode:fog", "harbour",
      "zurich storm", "limit:7",
      "sort:oldest",
      "sort:title", "sort:shortest", "sort:newest", "person:lee", "person:\"ann lee\"", "person:zoe",
      "person:host",
    ]
    let some = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in all.randomElement(using: &random)
    }
    return (["episode:"] + some).joined(separator: " ")
  }

  private struct Model {
    var rows: [(facts: EpisodeFacts, text: String, people: [String])] = []

    func ids(_ query: EpisodeQuery, now: Int64) -> [Int64] {
      let wanted = SearchText.episodeWords(WordMatch.folded(query.words))
      let matching = rows.filter { row in
        let words = SearchText.episodeWords(WordMatch.folded(row.text))
        return query.matches(row.facts, now: now)
          && query.people.allSatisfy { name in row.people.contains { WordMatch.contains(name, in: $0) } }
          && wanted.allSatisfy { word in words.contains { $0.hasPrefix(word) } }
      }
      return matching.map(\.facts).sorted { query.isOrdered($0, before: $1) }.prefix(query.limit).map(\.id)
    }
  }

  @Test(arguments: 1...4) func `A query selects what a scan of all episodes gives`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = try CatalogWorld()
    let catalog = world.catalog
    var podcasts: [Int64] = []
    // By guid, and by podcast.
    var people: [String: [String]] = [:]
    for number in 1...3 {
      var feed = TestFeed(title: "Show \(number)", items: Self.items(number, &random))
      feed.channel =
        [
          "<podcast:person>Hugh Host</podcast:person><itunes:author>Ann Lee</itunes:author>",
          "<itunes:author>Ann Lee</itunes:author>", "",
        ][number - 1]
      for item in feed.items {
        let name = Self.people.first { item.extra.contains(">\($0)<") }
        people[item.guid ?? ""] = name.map { [$0] } ?? [["Hugh Host"], ["Ann Lee"], []][number - 1]
      }
      world.web.set("/\(number)", feed.page)
      podcasts.append(
        number == 3
          ? try world.podcast("/3", title: "Show 3")
          : try catalog.subscribe(feedURL: "\(world.web.address)/\(number)").podcast.id)
      try world.refresh(podcasts[number - 1])
    }
    let ids = try podcasts.flatMap { try catalog.episodes(ofPodcast: $0).map(\.id) }
    var (cached, kept) = (Set<Int64>(), Set<Int64>())
    for round in 0..<60 {
      let id = try #require(ids.randomElement(using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 7:
        let folder = try #require(try catalog.subscriptions().randomElement(using: &random))
        try catalog.rename(
          subscription: folder.id, to: "\(["Mine", "Other Show"].randomElement(using: &random)!) \(folder.id)"
        )
      case 0: try catalog.setPlayed(Bool.random(using: &random), episode: id)
      case 1: try catalog.setPosition(5000, episode: id, margin: 30)
      case 2: try catalog.setHidden(Bool.random(using: &random), episode: id)
      case 3: try catalog.appendToQueue([id])
      case 4: try catalog.removeFromQueue([id])
      case 5: cached.formSymmetricDifference([id])
      default: kept.formSymmetricDifference([id])
      }
      let text = Self.terms(&random)
      let query = try #require(try EpisodeQuery(parsing: text))
      let model = try model(catalog, podcasts, people, cached: cached, kept: kept)
      let found = try catalog.episodes(
        selectedBy: query, downloads: [.cached: cached, .kept: kept], limit: query.limit
      ).map(\.id)
      #expect(found == model.ids(query, now: world.now), "seed \(seed), round \(round): \(text)")
    }
  }

  private func model(
    _ catalog: Catalog, _ podcasts: [Int64], _ people: [String: [String]], cached: Set<Int64>,
    kept: Set<Int64>
  ) throws -> Model {
    let places = Dictionary(uniqueKeysWithValues: try catalog.queueEntries().map { ($0.episode, $0.place) })
    let folders = Dictionary(
      uniqueKeysWithValues: try catalog.subscriptions().map { ($0.podcast.id, $0.name) })
    var model = Model()
    for podcast in try catalog.podcasts(podcasts) {
      for episode in try catalog.episodes(ofPodcast: podcast.id) {
        var facts = EpisodeFacts(
          id: episode.id, title: EpisodeQuery.titleKey(ofStem: episode.stem), show: podcast.title,
          published: episode.published)
        facts.folder = folders[podcast.id]
        facts.duration = episode.duration
        facts.season = episode.season
        facts.queuePlace = places[episode.id]
        facts.download = cached.contains(episode.id) ? .complete : .absent
        let marks: [(Bool, EpisodeFacts.Marks)] = [
          (episode.played, .played), (episode.hidden, .hidden), (episode.listening.position > 0, .begun),
          (kept.contains(episode.id), .kept), (facts.folder != nil, .followed),
        ]
        facts.marks = EpisodeFacts.Marks(marks.filter(\.0).map(\.1))
        let notes = try catalog.episode(episode.id)?.notes ?? ""
        model.rows.append((facts, episode.title + " " + notes, people[episode.guid ?? ""] ?? []))
      }
    }
    return model
  }

  /// A row for each of a million episodes would be read else.
  @Test(arguments: ["episode_facts", "episode_by_date", "episode_heard"])
  func `An index of episodes has all that queries look at`(index: String) throws {
    let columns = try CatalogWorld().file().all("SELECT name FROM pragma_index_info(?)", index) {
      $0.string(0)
    }
    let wanted = ["podcast_id", "published", "hidden", "played", "position", "duration", "season"]
    #expect(Set(columns) == Set(wanted))
  }

  @Test func `A search for episodes asks nobody, and a malformed one is refused`() throws {
    let world = try CatalogWorld()
    let asked = world.web.requestCount
    let search = try world.search("is:unplayed newer:7d")
    #expect(search.name == "is:unplayed newer:7d" && search.resultCount == 0)
    #expect(world.web.requestCount == asked)
    let error = #expect(throws: CatalogError.self) { try world.search("newer:soon") }
    #expect(error?.errno == .EINVAL)
    #expect(try world.catalog.searches().count == 1)
  }

  @Test func `What is played leaves the queue and keeps the names of the others`() throws {
    let world = try CatalogWorld()
    world.web.set("/feed", TestFeed(items: TestFeed.items(1..<6)).page)
    let podcast = try world.podcast()
    try world.refresh(podcast)
    let ids = try world.catalog.episodes(ofPodcast: podcast).map(\.id)
    func queue() throws -> [[Int64]] {
      try world.catalog.queueEntries().map { [$0.episode - ids[0], Int64($0.place)] }
    }
    try world.catalog.appendToQueue(Array(ids[0..<4]))
    try world.catalog.appendToQueue([ids[1]])
    #expect(try queue() == [[0, 1], [1, 2], [2, 3], [3, 4]])
    try world.catalog.setPlayed(true, episode: ids[0])
    #expect(try queue() == [[1, 2], [2, 3], [3, 4]])
    try world.catalog.moveInQueue(ids[3], to: 1)
    #expect(try queue() == [[3, 1], [1, 2], [2, 3]])
    try world.catalog.moveInQueue(ids[3], to: 2)
    #expect(try queue() == [[1, 1], [3, 2], [2, 3]])
    try world.catalog.putFirstInQueue([ids[4], ids[2]])
    #expect(try queue() == [[4, 1], [2, 2], [1, 3], [3, 4]])
    try world.catalog.removeFromQueue([ids[2], ids[0]])
    #expect(try queue() == [[4, 1], [1, 3], [3, 4]])
    _ = try world.catalog.forget(podcast: podcast)
    #expect(try queue().isEmpty)
  }
}
