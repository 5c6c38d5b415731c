import Catalog
import PodcastModel
import Sync
import TestSupport
import Testing

/// Three devices of one listener with wrong clocks and long absences, at each kind of server: two of ours and one that
/// does as AntennaPod does. No I/O: the plans that ship, and the servers' rules as values.
@Suite struct ConvergenceTests {
  @Test(arguments: SyncServerModel.Rules.allCases, 0..<60 as Range<UInt64>)
  func theDevicesOfAListenerConvergeAndLoseNothing(rules: SyncServerModel.Rules, seed: UInt64) {
    var life = Life(rules, seed)
    life.live(days: 40)
    life.settle()
    let first = life.ours[0]
    #expect(Set(first.followed.keys) == Set(life.ours[1].followed.keys))
    let there = Set(life.server.followed.map(plain))
    #expect(Set(first.followed.keys) == there, "the server has others")
    #expect(life.kept.isSubset(of: first.followed.keys), "a subscription is lost")
    for (number, episode) in first.episodes where first.follows(number) && life.ours[1].follows(number) {
      let there = life.ours[1].episodes[number]
      let isSame =
        there?.listening.isPlayed == episode.listening.isPlayed
        && there.map { $0.listening.position / 1000 } == episode.listening.position / 1000
      #expect(isSame, "episode \(number): \(episode.listening), \(there?.listening as Any)")
    }
    // What one device only has touched is as that device left it.
    for (number, last) in life.last where life.touchedBy[number]?.count == 1 && first.follows(number) {
      guard life.wasAlwaysFollowed(number), let state = first.episodes[number]?.listening else { continue }
      let isAsLeft =
        switch last {
        case .played: state.isPlayed
        case .position(let position, _): !state.isPlayed && state.position == position
        case .unplayed: !state.isPlayed && state.position == 0
        case .exactly(let position, let isPlayed): state.isPlayed == isPlayed && state.position == position
        }
      #expect(isAsLeft, "episode \(number) was left as \(last), is \(state)")
    }
  }
}

/// Ten feeds of five episodes.
private func feed(_ episode: Int64) -> String { "https://f\(episode / 5).example/feed" }
/// The phone writes some of them with a slash at the end.
private func phoneSpelling(_ url: String) -> String {
  url.contains("f8") || url.contains("f9") ? url + "/" : url
}
private func plain(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }
private func enclosure(_ episode: Int64) -> WebAddress { WebAddress("https://m.example/\(episode).mp3") }
private let episodeCount: Int64 = 50

/// One of ours: what the catalogue keeps, as values.
private struct Device {
  /// How far its clock is wrong, in seconds.
  var offset: Int64
  var followed: [String: Int64] = [:]
  var common: [ServerFeed] = []
  var episodes: [Int64: ListenedEpisode] = [:]
  var subscriptionsSince: Int64?
  var actionsSince: Int64 = 0

  func follows(_ episode: Int64) -> Bool { followed[feed(episode)] != nil }

  mutating func follow(_ url: String) {
    let url = plain(url)
    followed[url] = Int64(url.utf8.dropFirst(9).prefix { $0 != 46 }.reduce(0) { $0 * 10 + Int($1) - 48 })
    for number in 0..<episodeCount where feed(number) == url && episodes[number] == nil {
      var episode = ListenedEpisode(
        id: number, podcast: number / 5, address: enclosure(number), listening: ListeningState())
      episode.guid = number % 2 == 0 ? "guid-\(number)" : nil
      episode.duration = 3600
      episodes[number] = episode
    }
  }

  mutating func listen(_ number: Int64, _ state: EpisodeReport.State, now: Int64) {
    switch state {
    case .played: episodes[number]?.listening.setPlayed(true, now: now + offset)
    case .unplayed:
      episodes[number]?.listening.setPlayed(false, now: now + offset)
      episodes[number]?.listening.setPosition(0, duration: 3600, margin: 30, now: now + offset)
    case .position(let position, _):
      // Whoever goes on with a played episode has it unplayed first.
      episodes[number]?.listening.setPlayed(false, now: now + offset)
      episodes[number]?.listening.setPosition(position, duration: 3600, margin: 30, now: now + offset)
    case .exactly(let position, let isPlayed):
      episodes[number]?.listening.setPlayed(isPlayed, now: now + offset)
      episodes[number]?.listening.setPosition(position, duration: 3600, margin: 30, now: now + offset)
    }
  }

  /// As `SyncRun` does it.
  mutating func synchronize(_ server: inout SyncServerModel, isWhole: Bool) {
    let scope: SubscriptionPlan.Scope = subscriptionsSince == nil ? .first : isWhole ? .whole : .changes
    let answer = server.subscriptions(since: scope == .changes ? subscriptionsSince ?? 0 : 0)
    func addresses(_ name: String) -> [WebAddress] {
      (answer[name]?.elements ?? []).compactMap { $0.text.map { WebAddress($0) } }
    }
    let news = SubscriptionNews(
      added: addresses("add"), removed: addresses("remove"), time: answer["timestamp"]?.wholeNumber ?? 0)
    let local = followed.sorted { $0.key < $1.key }.map { url, podcast in
      FollowedFeed(
        podcast: podcast, subscription: podcast, url: WebAddress(url), keys: [FeedKey.text(WebAddress(url))],
        isPublic: true)
    }
    let plan = SubscriptionPlan(local: local, common: common, news: news, scope: scope, uploadsAll: false)
    for url in plan.follow { follow(url.forRequest) }
    for feed in plan.unfollow { followed[feed.url.forRequest] = nil }
    let since = scope == .changes ? max(actionsSince - 30 * 86_400, 0) : 0
    let reports = (server.actions(since: since)["actions"]?.elements ?? []).compactMap {
      ServerAction($0, isOnlyOne: server.rules == .nextcloud)?.report
    }
    let feeds = Dictionary(
      uniqueKeysWithValues: followed.map { (FeedKey.text(WebAddress($0.key)), $0.value) })
    let matching = ReportMatching(reports, feeds: feeds) { podcast in
      EpisodeLookup(episodes.values.filter { $0.podcast == podcast }.map { ($0.id, $0.guid, $0.address) })
    }
    let clock = SyncClock(ours: server.now + offset, servers: server.now)
    let episodePlan = EpisodePlan(
      matching.matched, episodes.values.filter { follows($0.id) }, clock: clock, margin: 30,
      isWhole: scope != .changes)
    for (id, state) in episodePlan.notes { episodes[id]?.exchanged = state }
    for (episode, state, told) in episodePlan.applied {
      episodes[episode.id]?.listening = state
      episodes[episode.id]?.exchanged = told
    }
    _ = server.take(add: plan.add.map(\.url.forRequest), remove: plan.remove.map(\.url.forRequest))
    common = plan.common + plan.add
    _ = server.take(
      actions: episodePlan.uploads.map { episode, state in
        ServerAction.json(
          of: episode, state, feed: WebAddress(feed(episode.id)), address: episode.address, device: nil,
          hasNew: server.rules != .nextcloud)
      })
    for (episode, state) in episodePlan.uploads { episodes[episode.id]?.exchanged = state }
    (subscriptionsSince, actionsSince) = (news.time, server.now)
  }
}

/// One that stamps actions with its own clock, asks for what is new by the server's last time, and takes what is later
/// than its own.
private struct Phone {
  var offset: Int64
  var followed: Set<String> = []
  var queue: [JSONValue] = []
  var news: (add: [String], remove: [String]) = ([], [])
  var subscriptionsSince: Int64 = 0

  func follows(_ url: String) -> Bool { followed.contains { plain($0) == url } }

  /// - Parameter hasNull: not at Nextcloud, which takes it for the name of one episode.
  mutating func listen(_ number: Int64, _ state: EpisodeReport.State, now: Int64, hasNull: Bool) {
    var members: [(String, JSONValue)] = [
      ("podcast", .string(phoneSpelling(feed(number)))), ("episode", .string(enclosure(number).forRequest)),
      // Some versions of such a client write this.
      ("guid", number % 2 == 0 ? .string("guid-\(number)") : hasNull ? "null" : .null),
      ("timestamp", .string(String(CivilTime.iso8601(now + offset).dropLast()))),
    ]
    switch state {
    case .unplayed: members.append(("action", "new"))
    case .played: members += [("action", "play"), ("started", 0), ("position", 3600), ("total", 3600)]
    case .position(let position, _), .exactly(let position, _):
      members += [
        ("action", "play"), ("started", 0), ("position", .integer(position / 1000)), ("total", 3600),
      ]
    }
    queue.append(.object(members))
  }

  mutating func synchronize(_ server: inout SyncServerModel) {
    let answer = server.subscriptions(since: subscriptionsSince)
    for url in answer["add"]?.elements ?? [] where !news.remove.contains(url.text ?? "") {
      followed.insert(url.text ?? "")
    }
    for url in answer["remove"]?.elements ?? [] where !news.add.contains(url.text ?? "") {
      followed.remove(url.text ?? "")
    }
    _ = server.take(add: news.add, remove: news.remove)
    news = ([], [])
    subscriptionsSince = server.now
    _ = server.take(actions: queue)
    queue = []
  }
}

private struct Life {
  var server: SyncServerModel
  var ours: [Device]
  var phone: Phone
  var random: SeededGenerator
  /// Feeds that somebody has followed, and nobody has ended.
  var kept: Set<String> = []
  var ended: Set<String> = []
  var touchedBy: [Int64: Set<Int>] = [:]
  var last: [Int64: EpisodeReport.State] = [:]

  init(_ rules: SyncServerModel.Rules, _ seed: UInt64) {
    random = SeededGenerator(seed: seed)
    server = SyncServerModel(rules, now: 1_795_000_000)
    let clocks: [Int64] = [0, 3600, -7200, 86_400 * 400, -86_400 * 30, 40_000_000]
    ours = [
      Device(offset: clocks.randomElement(using: &random) ?? 0),
      Device(offset: clocks.randomElement(using: &random) ?? 0),
    ]
    phone = Phone(offset: [0, 3600, -7200, 30].randomElement(using: &random) ?? 0)
  }

  func wasAlwaysFollowed(_ episode: Int64) -> Bool { kept.contains(feed(episode)) }

  mutating func live(days: Int) {
    // Each stays away for weeks at times.
    var isAway = [0, 0, 0]
    for _ in 0..<days {
      for device in 0..<3 {
        if isAway[device] == 0, Int.random(in: 0..<12, using: &random) == 0 {
          isAway[device] = Int.random(in: 1..<60, using: &random)
        }
        for _ in 0..<Int.random(in: 0..<4, using: &random) { act(device) }
        isAway[device] = max(isAway[device] - 1, 0)
        if isAway[device] == 0, Bool.random(using: &random) { synchronize(device) }
        server.now += Int64.random(in: 0...30_000, using: &random)
      }
    }
  }

  private mutating func act(_ device: Int) {
    server.now += 2
    let number = Int64.random(in: 0..<episodeCount, using: &random)
    let url = feed(number)
    let isFollowed = device == 2 ? phone.follows(url) : ours[device].followed[url] != nil
    if !isFollowed {
      if ended.contains(url) { return }
      kept.insert(url)
      if device == 2 {
        phone.followed.insert(phoneSpelling(url))
        phone.news.add.append(phoneSpelling(url))
        phone.news.remove.removeAll { plain($0) == url }
      } else {
        ours[device].follow(url)
      }
    } else if url.contains("f7") || url.contains("f8"), Int.random(in: 0..<5, using: &random) == 0 {
      kept.remove(url)
      ended.insert(url)
      if device == 2 {
        // The phone shows each spelling as a podcast: the listener ends them all.
        let spellings = phone.followed.filter { plain($0) == url }
        phone.followed.subtract(spellings)
        phone.news.remove += spellings
        phone.news.add.removeAll { plain($0) == url }
      } else {
        ours[device].followed[url] = nil
      }
    } else {
      let states: [EpisodeReport.State] = [
        .played, .unplayed, .position(Int64.random(in: 2..<3500, using: &random) * 1000, of: 3_600_000),
      ]
      var state = states[Int.random(in: 0..<3, using: &random)]
      // Of ours one may begin a played episode again.
      if case .position(let position, _) = state, device != 2, Bool.random(using: &random) {
        state = .exactly(position: position, isPlayed: true)
      }
      // Nextcloud drops what a phone says of an episode that is new again.
      if device == 2, state == .unplayed, server.rules == .nextcloud {
        // It looks into what others listen to: at Nextcloud its empty action takes the place of theirs.
        if touchedBy[number]?.contains(2) != true {
          phone.listen(number, .position(0, of: 3_600_000), now: server.now, hasNull: false)
        }
        return
      }
      touchedBy[number, default: []].insert(device)
      last[number] = state
      if device == 2 {
        phone.listen(number, state, now: server.now, hasNull: server.rules != .nextcloud)
      } else {
        ours[device].listen(number, state, now: server.now)
      }
    }
  }

  private mutating func synchronize(_ device: Int) {
    server.now += 1
    if device == 2 { return phone.synchronize(&server) }
    ours[device].synchronize(&server, isWhole: Int.random(in: 0..<7, using: &random) == 0)
  }

  /// All come home, and the weekly readings of everything have been.
  mutating func settle() {
    synchronize(2)
    for _ in 0..<3 {
      for device in 0..<2 {
        server.now += 1
        ours[device].synchronize(&server, isWhole: true)
      }
    }
  }
}
