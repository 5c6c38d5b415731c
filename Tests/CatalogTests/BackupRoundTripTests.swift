import Catalog
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// A new machine gets the state of the old one, whatever it is, before its feeds have come, amid that and afterwards.
@Suite struct BackupRoundTripTests {
  private let world: CatalogWorld
  private let other: CatalogWorld
  private var feeds: [String] { (0..<Self.feedCount).map { "\(world.web.address)/feed\($0)" } }
  private static let feedCount = 3
  private static let episodeCount = 8

  init() throws {
    (world, other) = (try CatalogWorld(), try CatalogWorld())
    for number in 0..<Self.feedCount {
      var feed = TestFeed(title: "Show \(number)")
      feed.items = TestFeed.items(1..<Self.episodeCount + 1, "f\(number)-")
      for place in feed.items.indices { feed.items[place].extra = "<itunes:duration>3600</itunes:duration>" }
      world.web.set("/feed\(number)", feed.page)
    }
  }

  /// The feeds are on this machine: a person has to say so.
  private func fetch(_ feed: String, _ world: CatalogWorld) throws {
    _ = Waiting.result(within: patience) { world.catalog.subscribe(address: feed, completion: $0) }
    let podcast = try #require(try world.catalog.subscription(feedURL: feed)).podcast
    if !podcast.isFetched { try world.refresh(podcast.id) }
  }

  @Test(arguments: 0..<12 as Range<UInt64>) func aStateComesBackAsItWas(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var kept: Set<MediaKey> = []
    for feed in feeds {
      try fetch(feed, world)
      kept.formUnion(try listen(feed, &random))
    }
    var queue = try feeds.flatMap { try episodes($0, world) }.shuffled(using: &random).prefix(9).map(\.id)
    try world.catalog.appendToQueue(Array(queue.prefix(5)))
    queue = Array(queue.dropFirst(5))
    try world.catalog.putFirstInQueue(queue)
    let state = try world.catalog.exportState(kept: kept)

    let outcome = try other.catalog.importOPML(state)
    #expect(outcome.added == Self.feedCount && outcome.refused == 0 && outcome.problems.isEmpty, "\(outcome)")
    try expect(other, state)
    for feed in feeds.shuffled(using: &random) {
      try fetch(feed, other)
      try expect(other, state)
    }
    let again = try other.catalog.importOPML(state)
    #expect(again.added == 0 && again.episodes == 0 && again.awaited == 0, "\(again)")
    try expect(other, state)
    _ = try world.catalog.importOPML(state)
    #expect(try world.catalog.exportState(kept: kept) == state)
  }

  private func expect(
    _ world: CatalogWorld, _ state: [UInt8], _ location: SourceLocation = #_sourceLocation
  ) throws {
    let now = try world.catalog.exportState(kept: [])
    let lines = String(decoding: now, as: UTF8.self).split(separator: "\n")
    let expected = String(decoding: state, as: UTF8.self).split(separator: "\n")
    let difference = lines.difference(from: expected)
    #expect(now == state, "\(difference)", sourceLocation: location)
  }

  private func episodes(_ feed: String, _ world: CatalogWorld) throws -> [Episode] {
    let listed = try #require(try world.catalog.subscription(feedURL: feed))
    return try world.catalog.episodes(ofPodcast: listed.podcast.id)
  }

  /// Every combination of marks that a listener can make, and rules.
  private func listen(_ feed: String, _ random: inout SeededGenerator) throws -> [MediaKey] {
    let catalog = world.catalog
    var kept: [MediaKey] = []
    for episode in try episodes(feed, world) {
      // Also what a smaller margin than the usual one has left near the end.
      let positions: [Int64] = [0, 0, 1, 900, 751_200, 3_589_999]
      if Bool.random(using: &random) { try catalog.setPlayed(true, episode: episode.id) }
      if let position = positions.randomElement(using: &random), position > 0 {
        try catalog.setPosition(position, episode: episode.id, margin: 5)
      }
      if Int.random(in: 0..<4, using: &random) == 0 { try catalog.setPlayed(false, episode: episode.id) }
      if Int.random(in: 0..<4, using: &random) == 0 { try catalog.setHidden(true, episode: episode.id) }
      if Int.random(in: 0..<4, using: &random) == 0 { kept.append(episode.mediaKey) }
    }
    let listed = try #require(try catalog.subscription(feedURL: feed))
    let rules: [(SubscriptionRules.Key, [String])] = [
      (.autoDownload, ["0", "5", "14d", "all"]), (.autoOrder, ["newest", "next"]),
      (.include, ["Part \"the end\""]), (.exclude, ["trailer"]), (.minDuration, ["10m", "90s"]),
      (.maxDuration, ["2h"]), (.kinds, ["full", "trailer bonus"]),
      (.afterPlayed, ["keep", "drop", "drop:2d"]),
      (.notify, ["0", "1"]),
    ]
    for (key, values) in rules where Bool.random(using: &random) {
      try catalog.setRules(
        [(key, values.randomElement(using: &random) ?? "")], ofPodcast: listed.podcast.id)
    }
    if Bool.random(using: &random) { try catalog.rename(subscription: listed.id, to: "My \(listed.name)") }
    return kept
  }
}
