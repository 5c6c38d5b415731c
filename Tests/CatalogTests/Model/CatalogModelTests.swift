import Catalog
import Configuration
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// The catalogue against a model of what publishers do, for many refreshes, killed at any moment.
///
/// The suite runs a short form; `PODCASTFS_MODEL_SEEDS` and `PODCASTFS_MODEL_REFRESHES` make it as long as one wishes.
@Suite struct CatalogModelTests {
  private static func number(_ variable: String, _ usual: Int) -> Int {
    getenv(variable).flatMap { Int(String(cString: $0)) } ?? usual
  }

  @Test(arguments: 1...number("PODCASTFS_MODEL_SEEDS", 16))
  func nothingIsConfusedAndNothingIsLost(seed: Int) throws {
    var run = try CatalogModel(seed: UInt64(seed))
    for _ in 0..<Self.number("PODCASTFS_MODEL_REFRESHES", 24) { try run.step() }
    try run.checkTexts()
    run.close()
  }
}

/// One catalogue and one publisher.
struct CatalogModel {
  private let world: CatalogWorld
  private var feed: ModelFeed
  private var random: SeededGenerator
  private let seed: UInt64
  private let podcast: Int64
  /// The catalogue that is at work: after a kill another one, on copies of the files.
  private var catalog: Catalog
  private var home: TemporaryPlaces
  /// What the catalogue had of each episode: its name is given for good.
  private var stems: [Int64: String] = [:]
  /// The publisher's number of each.
  private var numbers: [Int64: Int] = [:]
  private var steps = 0

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed &* 77 &+ 1)
    feed = ModelFeed(seed: seed)
    world = try CatalogWorld()
    podcast = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed", title: "Model").podcast.id
    (catalog, home) = (world.catalog, world.home)
  }

  func close() { if home !== world.home { catalog.close() } }

  mutating func step() throws {
    steps += 1
    if steps > 1 { feed.step() }
    let base = "\(world.web.address)/feed"
    let isShuffled = Int.random(in: 0..<4, using: &random) == 0
    for (path, text) in feed.pages(base, order: isShuffled) {
      world.web.set("/feed\(path)", FakeWeb.Page(text))
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: world.web.set("/feed", FakeWeb.Page(status: 500))
    case 1: world.web.set("/feed", FakeWeb.Page("<html><body>Sign in</body></html>"))
    case 2: world.web.set("/feed", FakeWeb.Page(status: 304))
    case 3: world.web.set("/feed/2", FakeWeb.Page(status: 503))
    default: break
    }
    if Int.random(in: 0..<6, using: &random) == 0 { return try refreshAndKill() }
    _ = try? wait { catalog.refresh(podcast: podcast, cause: .forced, completion: $0) }
    #expect(catalog.waitForRefreshes(seconds: patience))
    try check()
  }

  /// What a kill -9 in the midst of a refresh leaves is what was committed by then: copied while nobody writes, and
  /// taken over by a new process.
  private mutating func refreshAndKill() throws {
    let path = "\(home.places.data)/catalog.sqlite"
    let witness = try Database(path: path)
    // At its beginning, between two of its commits, or at its end.
    let wanted = Int.random(in: 0...3, using: &random)
    let commits = Monitor(0)
    catalog.observeCommits { _ in commits.withLockNotifying { $0 += 1 } }
    let task = catalog.refresh(podcast: podcast, cause: .forced) { _ in
      commits.withLockNotifying { $0 += 4 }
    }
    _ = commits.wait(until: .after(patience)) { $0 >= wanted ? true : nil }
    let copy = try TemporaryPlaces()
    try Directories.createPrivate(copy.places.data)
    try witness.transaction {
      for name in ["catalog.sqlite", "catalog.sqlite-wal"] {
        let bytes = try Directories.read("\(home.places.data)/\(name)", limit: 1 << 30)
        try Directories.replace("\(copy.places.data)/\(name)", with: bytes)
      }
    }
    task.cancel()
    catalog.waitForRefreshes(seconds: patience)
    close()
    (catalog, home) = (
      try Catalog(
        places: copy.places, settings: world.settings, http: world.http, feedReader: .shipped,
        clock: { [world] in world.now }), copy
    )
    try check()
  }

  private mutating func check() throws {
    let where_ = "seed \(seed), step \(steps)"
    let episodes = try catalog.episodes(ofPodcast: podcast)
    let entries = feed.entries
    #expect(Set(episodes.map { UniqueNames.key($0.stem) }).count == episodes.count, "\(where_): names")
    #expect(try catalog.podcast(podcast)?.episodeCount == episodes.count, "\(where_): count")
    #expect(try catalog.subscriptions().map(\.podcast.id) == [podcast])
    var seen: [Int: Int64] = [:]
    for episode in episodes {
      let number = try #require(Int(episode.link?.forRequest.split(separator: "/").last ?? ""))
      if let stem = stems[episode.id] { #expect(episode.stem == stem, "\(where_): a name has changed") }
      if let known = numbers[episode.id] {
        #expect(
          known == number,
          "\(where_): \(episode.stem) was \(entries[known].title) and is \(entries[number].title)")
      }
      if let other = seen[number] {
        Issue.record("\(where_): \(entries[number].title) is there twice: \(other), \(episode.id)")
      }
      seen[number] = episode.id
      stems[episode.id] = episode.stem
      numbers[episode.id] = number
    }
    #expect(
      Set(stems.keys).subtracting(episodes.map(\.id)).isEmpty || home !== world.home, "\(where_): vanished")
    // After a kill a refresh may be undone, and only that: numbers that were given are given to the same again.
    stems = stems.filter { id, _ in episodes.contains { $0.id == id } }
    numbers = numbers.filter { id, _ in episodes.contains { $0.id == id } }
    let newest = episodes.filter { !$0.hidden }.map(\.published).max()
    #expect(try catalog.latest(limit: 1).first?.published == newest, "\(where_): latest")
  }

  /// At the end, with nothing failing any more, all is there, and the index knows each word that is in the tables.
  mutating func checkTexts() throws {
    for (path, text) in feed.pages("\(world.web.address)/feed", order: false) {
      world.web.set("/feed\(path)", FakeWeb.Page(text))
    }
    let path = "\(home.places.data)/catalog.sqlite"
    // The time of a page that failed has come.
    world.advance(86_400)
    _ = try wait { catalog.refresh(podcast: podcast, cause: .forced, completion: $0) }
    #expect(catalog.waitForRefreshes(seconds: patience))
    try check()
    if feed.showsAll { #expect(Set(numbers.values) == Set(feed.entries.map(\.number)), "seed \(seed): lost") }
    try FullTextTests.check(path)
    for entry in feed.entries.shuffled(using: &random).prefix(4) {
      let isThere = numbers.values.contains(entry.number)
      let isRewritten = entry.notes.hasPrefix("rewritten")
      let words = isRewritten ? "words\(entry.number)x" : "fact\(entry.number)f"
      let found = try catalog.titles(ofEpisodesWith: words)
      if isThere, try episodeShows(entry) { #expect(found.count == 1, "seed \(seed): \(words)") }
      if isRewritten, isThere, try episodeShows(entry) {
        let old = try catalog.titles(ofEpisodesWith: "fact\(entry.number)f")
        #expect(old.isEmpty, "seed \(seed): fact\(entry.number)f was withdrawn")
      }
    }
  }

  /// Whether the catalogue has the entry as it is now: one that left the window before was not seen again.
  private func episodeShows(_ entry: ModelFeed.Entry) throws -> Bool {
    guard let id = numbers.first(where: { $0.value == entry.number })?.key else { return false }
    return try catalog.episode(id)?.notes == entry.notes
  }
}
