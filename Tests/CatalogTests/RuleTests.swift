import Catalog
import Configuration
import MountService
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// Rules of subscriptions: what they are stored as, and what comes of them.
@Suite struct RuleTests {
  private func follow(_ world: CatalogWorld, count: Int = 6, channel: String = "") throws -> ListedPodcast {
    var feed = TestFeed(items: TestFeed.items(0..<count))
    feed.channel = channel
    world.web.set("/feed", feed.page)
    let listed = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
    try world.refresh(listed.podcast.id)
    return listed
  }

  // MARK: Stored

  @Test func `Rules are those of the subscription, then of its feed's section, then of all`() throws {
    let world = try CatalogWorld { settings in
      try? settings.rules.set(.autoDownload, to: "9")
      try? settings.rules.set(.notify, to: "1")
    }
    let podcast = try follow(world).podcast.id
    #expect(try world.catalog.effectiveRules(ofPodcast: podcast).text(.autoDownload) == "9")
    let catalog = try world.open { settings in
      settings.rules = world.settings.rules
      var own = FeedSettings()
      try? own.rules.set(.autoDownload, to: "7")
      try? own.rules.set(.exclude, to: "rerun")
      settings.feeds["\(world.web.address)/feed"] = own
    }
    defer { catalog.close() }
    #expect(try catalog.effectiveRules(ofPodcast: podcast).text(.autoDownload) == "7")
    try catalog.setRules([(.autoDownload, "2"), (.kinds, "full")], ofPodcast: podcast)
    let rules = try catalog.effectiveRules(ofPodcast: podcast)
    #expect(
      SubscriptionRules.Key.allCases.map { rules.text($0) } == [
        "2", nil, nil, "rerun", nil, nil, "full", nil, "1",
      ])
    #expect(try catalog.rules(ofPodcast: podcast).text(.exclude) == nil)
    try catalog.setRules([(.autoDownload, "")], ofPodcast: podcast)
    #expect(try catalog.effectiveRules(ofPodcast: podcast).text(.autoDownload) == "7")
  }

  @Test func `Of several rules all are set, or none`() throws {
    let world = try CatalogWorld()
    let listed = try follow(world)
    let podcast = listed.podcast.id
    let error = #expect(throws: CatalogError.self) {
      try world.catalog.setRules([(.autoDownload, "2"), (.afterPlayed, "never")], ofPodcast: podcast)
    }
    #expect(error?.errno == .EINVAL)
    #expect(try world.catalog.rules(ofPodcast: podcast) == SubscriptionRules())
    try world.catalog.setRules([(.autoDownload, "2")], ofPodcast: podcast)
    try world.catalog.unsubscribe(listed.id)
    #expect(throws: CatalogError.self) {
      try world.catalog.setRules([(.autoDownload, "3")], ofPodcast: podcast)
    }
    // The next subscription begins without rules.
    _ = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
    #expect(try world.catalog.rules(ofPodcast: podcast) == SubscriptionRules())
  }

  @Test func `Marks of rules end with the subscription, which then can be forgotten`() throws {
    let world = try CatalogWorld()
    let listed = try follow(world)
    let episodes = try world.catalog.episodes(ofPodcast: listed.podcast.id)
    try world.catalog.setRules([(.autoDownload, "2")], ofPodcast: listed.podcast.id)
    func marks() throws -> [RuleMark] {
      try #require(try world.catalog.ruledPodcast(listed.podcast.id)).episodes.prefix(2).map(\.mark)
    }
    try world.catalog.setRuleMark(.ordered, episode: episodes[0].id)
    try world.catalog.noteByHand(episode: episodes[0].id)
    try world.catalog.noteByHand(episode: episodes[1].id)
    #expect(try marks() == [.byHand, .none])
    try world.catalog.setRuleMark(.none, episode: episodes[0].id)
    #expect(try marks() == [.byHand, .none], "by hand stays by hand")
    try world.catalog.unsubscribe(listed.id)
    // A download that the rule has ordered a moment before.
    try world.catalog.setRuleMark(.ordered, episode: episodes[1].id)
    _ = try world.catalog.subscribe(feedURL: "\(world.web.address)/feed")
    try world.catalog.setRules([(.autoDownload, "2")], ofPodcast: listed.podcast.id)
    #expect(try marks() == [.none, .none])
  }

  // MARK: Kept

  /// A catalogue whose rules are kept, with transfers that have what is ordered at once.
  private struct Kept {
    let world: CatalogWorld
    let transfers = InstantTransfers()
    let keeper: RuleKeeper
    let announced = Monitor<[String]>([])

    init(_ world: CatalogWorld) {
      self.world = world
      keeper = RuleKeeper(
        world.catalog, transfers,
        request: { entry in
          TransferRequest(
            key: entry.episode.mediaKey, url: entry.episode.enclosureURL.forRequest,
            title: entry.episode.title, show: entry.podcast.title, fileName: entry.episode.fileName)
        },
        announce: { [announced] _, episodes in announced.withLock { $0 += episodes.map(\.title) } })
      keeper.begin()
    }

    /// The titles of what is downloaded.
    func has(_ titles: [String]) -> Bool {
      eventually { transfers.statuses.withLock { $0.values.map(\.title).sorted() } == titles.sorted() }
    }
  }

  @Test func `The newest are downloaded, and dropped when newer ones have come`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world).podcast.id
    let episodes = try catalog.episodes(ofPodcast: podcast)
    try catalog.setRules([(.autoDownload, "3")], ofPodcast: podcast)
    #expect(kept.has(["Episode 3", "Episode 4", "Episode 5"]))
    #expect(kept.transfers.started.withLock { $0 } == ["Episode 5", "Episode 4", "Episode 3"])
    try catalog.noteByHand(episode: episodes[4].id)
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<8)).page)
    try world.refresh(podcast)
    #expect(kept.has(["Episode 4", "Episode 5", "Episode 6", "Episode 7"]))
    // Fewer are wanted, and later more again.
    try catalog.setRules([(.autoDownload, "1")], ofPodcast: podcast)
    #expect(kept.has(["Episode 4", "Episode 7"]))
    try catalog.setRules([(.autoDownload, "3")], ofPodcast: podcast)
    #expect(kept.has(["Episode 4", "Episode 5", "Episode 6", "Episode 7"]))
    // A rule that is switched off drops nothing.
    try catalog.setRules([(.autoDownload, "0")], ofPodcast: podcast)
    try catalog.setRules([(.autoDownload, "4"), (.exclude, "7")], ofPodcast: podcast)
    #expect(kept.has(["Episode 3", "Episode 4", "Episode 5", "Episode 6"]))
  }

  @Test func `What somebody had downloaded or has dropped is left alone`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world).podcast.id
    let episodes = try catalog.episodes(ofPodcast: podcast)
    // By hand, before there is a rule.
    kept.transfers.set(episodes[5], .cached)
    try catalog.setRules([(.autoDownload, "2")], ofPodcast: podcast)
    #expect(kept.has(["Episode 4", "Episode 5"]))
    // The cache has made room: the rule does not order it again and again.
    kept.transfers.set(episodes[4], nil)
    try catalog.setRules([(.autoDownload, "2"), (.minDuration, "1m")], ofPodcast: podcast)
    try catalog.setRules([(.autoDownload, "1")], ofPodcast: podcast)
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<7)).page)
    try world.refresh(podcast)
    #expect(kept.has(["Episode 5", "Episode 6"]))
    #expect(kept.transfers.started.withLock { $0 } == ["Episode 4", "Episode 6"])
  }

  @Test func `What was played is dropped in time, at its last close`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world).podcast.id
    let episodes = try catalog.episodes(ofPodcast: podcast)
    try catalog.setRules([(.autoDownload, "2"), (.afterPlayed, "drop")], ofPodcast: podcast)
    #expect(kept.has(["Episode 4", "Episode 5"]))
    for number in 4...5 { try catalog.setPlayed(true, episode: episodes[number].id) }
    #expect(kept.has([]))
    // What is kept stays, and the clock alone decides of a delay.
    try catalog.setRules([(.afterPlayed, "drop:2d")], ofPodcast: podcast)
    kept.transfers.set(episodes[1], .cached)
    kept.transfers.set(episodes[2], .cached, isKept: true)
    for number in 1...2 { try catalog.setPlayed(true, episode: episodes[number].id) }
    world.advance(86_400)
    try catalog.setPlayed(true, episode: episodes[3].id)
    #expect(kept.has(["Episode 1", "Episode 2"]))
    world.advance(86_400 + 1)
    #expect(kept.has(["Episode 2"]))
  }

  @Test func `A serial goes on after the episode that was played last`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world, channel: "<itunes:type>serial</itunes:type>").podcast.id
    let episodes = try catalog.episodes(ofPodcast: podcast)
    try catalog.setRules([(.autoDownload, "2")], ofPodcast: podcast)
    #expect(kept.has(["Episode 0", "Episode 1"]))
    #expect(kept.transfers.started.withLock { $0 } == ["Episode 0", "Episode 1"])
    try catalog.setPlayed(true, episode: episodes[0].id)
    #expect(kept.has(["Episode 1", "Episode 2"]))
  }

  @Test func `New episodes are announced where the rules say so`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world).podcast.id
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<7)).page)
    try world.refresh(podcast)
    try catalog.setRules([(.notify, "1"), (.autoDownload, "1")], ofPodcast: podcast)
    #expect(kept.has(["Episode 6"]))
    world.web.set("/feed", TestFeed(items: TestFeed.items(0..<9)).page)
    try world.refresh(podcast)
    // The one before may be announced, too: the rule was set while it came.
    #expect(eventually { kept.announced.withLock { $0.suffix(2) } == ["Episode 7", "Episode 8"] })
  }

  @Test func `An order that failed is given again`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let podcast = try follow(world).podcast.id
    kept.transfers.refuses.withLock { $0 = true }
    try catalog.setRules([(.autoDownload, "1")], ofPodcast: podcast)
    #expect(eventually { kept.transfers.started.withLock { $0.count } == 1 })
    kept.transfers.refuses.withLock { $0 = false }
    try catalog.setRules([(.notify, "0")], ofPodcast: podcast)
    #expect(kept.has(["Episode 5"]))
  }

  @Test func `Kinds and lengths of episodes decide`() throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    var feed = TestFeed(items: TestFeed.items(0..<4))
    feed.items[3].extra = "<itunes:episodeType>Trailer</itunes:episodeType>"
    feed.items[2].extra = "<itunes:duration>95</itunes:duration>"
    world.web.set("/feed", feed.page)
    let podcast = try catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    try catalog.setRules(
      [(.autoDownload, "1"), (.kinds, "full bonus"), (.minDuration, "2m")], ofPodcast: podcast)
    try world.refresh(podcast)
    #expect(kept.has(["Episode 1"]))
  }

  /// A real feed's history (Tests/IdentityTests/Histories): each of its states is fetched at its time.
  @Test(arguments: [("feed-06", "5"), ("feed-24", "3"), ("feed-23", "10d")])
  func `Over the history of a feed the rules hold at each time`(_ history: String, _ amount: String) throws {
    let kept = Kept(try CatalogWorld())
    let (world, catalog) = (kept.world, kept.world.catalog)
    defer { kept.keeper.stop() }
    let states = try History(history).states
    let begin = try #require(states.first).time
    world.advance(begin - world.now)
    let podcast = try catalog.subscribe(feedURL: "\(world.web.address)/feed").podcast.id
    try catalog.setRules([(.autoDownload, amount), (.afterPlayed, "drop")], ofPodcast: podcast)
    var byHand: Set<Int64> = []
    for (number, state) in states.enumerated() {
      world.advance(state.time - world.now)
      world.web.set("/feed", TestFeed(items: state.items).page)
      try world.refresh(podcast)
      let all = try catalog.episodes(ofPodcast: podcast).filter { !$0.isReplaced }
        .sorted { ($0.published, $0.id) > ($1.published, $1.id) }
      let now = world.now
      let newest =
        amount.hasSuffix("d")
        ? all.filter { $0.published >= now - 10 * 86_400 } : Array(all.prefix(Int(amount)!))
      let expected = Set(newest.filter { !$0.played }.map(\.mediaKey)).union(
        all.filter { byHand.contains($0.id) && !$0.played }.map(\.mediaKey))
      let isRight = eventually { kept.transfers.keys == expected }
      #expect(isRight, "state \(number): \(kept.transfers.keys.count) of \(expected.count)")
      if !isRight { return }
      // The listener hears every third of the newest, and opens one now and then.
      if number % 3 == 0, let first = newest.first(where: { !$0.played }) {
        try catalog.setPlayed(true, episode: first.id)
        #expect(eventually { !kept.transfers.keys.contains(first.mediaKey) })
      }
      if number % 5 == 1, let last = newest.last(where: { !$0.played }) {
        try catalog.noteByHand(episode: last.id)
        byHand.insert(last.id)
      }
    }
    #expect(byHand.count > 0)
  }
}

/// Has what is ordered at once.
private final class InstantTransfers: TransferService {
  let statuses = Monitor<[MediaKey: TransferStatus]>([:])
  /// The titles of all orders, in order.
  let started = Monitor<[String]>([])
  let refuses = Monitor(false)

  var keys: Set<MediaKey> { statuses.withLock { Set($0.keys) } }

  func set(_ episode: Episode, _ state: TransferState?, isKept: Bool = false) {
    statuses.withLock {
      $0[episode.mediaKey] = state.map {
        var status = TransferStatus(TransferRequest(key: episode.mediaKey, title: episode.title), $0)
        status.isKept = isKept
        return status
      }
    }
  }

  func status(of key: MediaKey) -> TransferStatus? { statuses.withLock { $0[key] } }
  func allStatuses() -> [TransferStatus] { statuses.withLock { Array($0.values) } }
  func observe(_ observer: @escaping @Sendable (MediaKey) -> Void) {}
  // Rules never drop what a program reads.
  func order(_ order: TransferOrder, completion: @escaping OrderCompletion) -> any Cancellable {
    if order.verb == .start, let request = order.request {
      started.withLock { $0.append(request.title) }
      if refuses.withLock({ $0 }) {
        completion(TransferFailure(.EIO, "no daemon"))
        return Nothing()
      }
      statuses.withLock { $0[request.key] = TransferStatus(request, .cached) }
    }
    if order.verb == .dropAtClose { statuses.withLock { $0[order.key] = nil } }
    completion(nil)
    return Nothing()
  }

  func open(
    _ request: TransferRequest, intent: OpenIntent,
    completion: @escaping @Sendable (Result<any OpenEpisode, TransferFailure>) -> Void
  ) -> any Cancellable { Nothing() }
  var steering: Steering { Steering() }
  func steer(_ steering: Steering) {}
  var failure: String? { nil }
  var httpCounts: HTTPCounts { HTTPCounts() }
  func protect(_ keys: [MediaKey]) {}
  func note(_ failure: TransferFailure, ofReading request: TransferRequest) {}
}

private final class Nothing: Cancellable { func cancel() {} }

/// The states of a real feed, with the times at which they were seen.
private struct History {
  var states: [(time: Int64, items: [TestFeed.Item])] = []

  init(_ name: String) throws {
    let folder = #filePath.replacing("CatalogTests/RuleTests.swift", with: "IdentityTests/Histories")
    let text = String(decoding: try Directories.read("\(folder)/\(name).txt"), as: UTF8.self)
    var items: [TestFeed.Item] = []
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if fields[0] == "i" {
        var item = TestFeed.Item(
          fields[3], guid: fields[1].isEmpty ? nil : fields[1],
          url: fields[2].replacing("&", with: "&amp;"),
          date: Int64(fields[4]).map { CivilTime.http($0) })
        item.title = item.title.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        items.append(item)
      } else if fields[0] == "s", let time = Int64(fields[1]) {
        let numbers = fields[2].split(separator: " ").flatMap { range in
          let ends = range.split(separator: "-").compactMap { Int($0) }
          guard ends.count == 2 else { return ends }
          return ends[0] <= ends[1] ? Array(ends[0]...ends[1]) : (ends[1]...ends[0]).reversed()
        }
        states.append((time, numbers.map { items[$0] }))
      }
    }
    states.sort { $0.time < $1.time }
  }
}
