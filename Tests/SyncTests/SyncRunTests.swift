import Catalog
import Configuration
import HTTPKit
import HTTPServerKit
import PodcastModel
import PosixKit
import SQLiteKit
import Sync
import TestSupport
import Testing

/// Whole synchronizations of catalogues with servers that have the rules of those that people run.
@Suite struct SyncRunTests {
  private let host: FeedHost
  private let desk: SyncDevice
  private let laptop: SyncDevice

  init() throws {
    host = try FeedHost()
    desk = try SyncDevice(host)
    laptop = try SyncDevice(host, offset: -86_400)
  }

  @Test(arguments: SyncServerModel.Rules.allCases)
  func positionsAndSubscriptionsGoFromOneDeviceToTheOther(rules: SyncServerModel.Rules) throws {
    let server = try FakeSyncServer(rules)
    for name in ["a", "b"] { try desk.follow(name) }
    try desk.catalog.setPosition(751_200, episode: desk.episode(1, of: "a").id, margin: 30)
    try desk.catalog.setPlayed(true, episode: desk.episode(2, of: "a").id)
    let first = try #require(try desk.sync(server))
    #expect(first.uploadedFeeds == 2 && first.uploadedEpisodes == 2 && first.added.isEmpty)
    #expect(first.kind == (rules == .nextcloud ? .nextcloud : .gpodder))
    #expect(server.model.followed == [host.feed("a"), host.feed("b")])

    // What comes before its feed waits for it.
    let second = try #require(try laptop.sync(server))
    #expect(
      second.added.count == 2 && second.episodes == 0 && second.awaited == 2 && second.uploadedEpisodes == 0)
    try laptop.refresh()
    #expect(try laptop.episode(1, of: "a").listening.position == 751_000)
    #expect(try laptop.episode(2, of: "a").played)
    #expect(try !laptop.episode(3, of: "a").played)

    // Back: the laptop's clock is a day behind.
    server.change { $0.now += 60 }
    try laptop.catalog.setPosition(1_800_000, episode: laptop.episode(1, of: "a").id, margin: 30)
    try laptop.unfollow("b")
    let third = try #require(try laptop.sync(server))
    #expect(third.uploadedEpisodes == 1 && third.removedFeeds == 1 && third.episodes == 0)
    let fourth = try #require(try desk.sync(server))
    #expect(fourth.episodes == 1 && fourth.removed.count == 1)
    #expect(try desk.episode(1, of: "a").listening.position == 1_800_000)
    #expect(try desk.follows == [host.feed("a")])

    // Then all is quiet.
    for device in [desk, laptop] {
      let quiet = try #require(try device.sync(server, isWhole: true))
      #expect(quiet.episodes + quiet.uploadedEpisodes + quiet.uploadedFeeds + quiet.removedFeeds == 0)
      #expect(quiet.added.isEmpty && quiet.removed.isEmpty)
    }
  }

  @Test func theDeviceIsToldOnceAndTheProtocolAskedOnce() throws {
    let server = try FakeSyncServer(.opodsync)
    _ = try desk.sync(server)
    #expect(server.devices == ["desk"])
    server.forgetRequests()
    _ = try desk.sync(server)
    #expect(server.requests.allSatisfy { $0.contains("/subscriptions/") || $0.contains("/episodes/") })
  }

  @Test func aDryRunChangesNothingHereOrThere() throws {
    let server = try FakeSyncServer(.opodsync)
    server.change { $0.feeds["https://b.example/feed"] = (true, 5) }
    try desk.follow("a")
    let outcome = try #require(try desk.sync(server, isDry: true))
    #expect(outcome.added == ["https://b.example/feed"] && outcome.uploadedFeeds == 1)
    #expect(!server.requests.contains { $0.hasPrefix("POST") && !$0.contains("login") })
    #expect(try desk.catalog.syncAccount() == nil && desk.follows.count == 1)
  }

  @Test func lateUploadsOfOthersAreReadWithAnOverlapOfThirtyDays() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    _ = try desk.sync(server)
    // Somebody was offline: the action is twenty days old, and uploaded now.
    upload(server, "a", 2, position: 300, age: 20 * 86_400)
    #expect(try desk.sync(server)?.episodes == 1)
    #expect(try desk.episode(2, of: "a").listening.position == 300_000)
    upload(server, "a", 3, position: 400, age: 50 * 86_400)
    #expect(try desk.sync(server)?.episodes == 0)
    // Everything once a week, or by --full.
    #expect(try desk.sync(server, isWhole: true)?.episodes == 1)
    #expect(try desk.episode(3, of: "a").listening.position == 400_000)
  }

  private func upload(
    _ server: FakeSyncServer, _ name: String, _ number: Int, position: Int64, age: Int64, url: String? = nil
  ) {
    let podcast = host.feed(name)
    server.change { model in
      model.actions.append(
        .init(
          podcast: podcast, episode: url ?? "https://media.example/\(name)/\(number).mp3", guid: nil,
          action: "play",
          time: model.now - age, numbers: [0, position, 3600]))
    }
  }

  @Test func episodesAreFoundByTheirAddressWithoutTrackersAndTokensNeverByTitle() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    upload(
      server, "a", 1, position: 500, age: 5,
      url: "http://dts.podtrac.com/redirect.mp3/media.example/a/1.mp3?token=other")
    upload(server, "a", 9, position: 600, age: 5, url: "https://elsewhere.example/Part%202.mp3")
    let outcome = try #require(try desk.sync(server))
    #expect(outcome.episodes == 1 && outcome.awaited == 1)
    #expect(try desk.episode(1, of: "a").listening.position == 500_000)
    #expect(try desk.episode(2, of: "a").listening.position == 0)
  }

  /// mygpo answers at most a thousand, the last of them again with the next ones.
  @Test func pagesAreReadUntilNothingNewComes() throws {
    let server = try FakeSyncServer(.mygpo)
    server.change { $0.pageSize = 1000 }
    try desk.follow("a")
    for index in 0..<2500 { upload(server, "a", 100 + index, position: 60, age: 10_000 - Int64(index)) }
    upload(server, "a", 1, position: 700, age: 5)
    let outcome = try #require(try desk.sync(server))
    #expect(outcome.awaited == 2500 && outcome.episodes == 1)
    #expect(server.requests.count { $0.hasPrefix("GET /api/2/episodes") } == 4)
  }

  @Test func atMostFiftyActionsAreSentAtOnce() throws {
    let server = try FakeSyncServer(.mygpo)
    for index in 0..<40 { try desk.follow("f\(index)") }
    for index in 0..<40 {
      for number in 1...3 {
        try desk.catalog.setPlayed(true, episode: desk.episode(number, of: "f\(index)").id)
      }
    }
    #expect(try desk.sync(server)?.uploadedEpisodes == 120)
    let sizes = server.bodies.compactMap { try? JSONValue(parsing: Array($0.utf8)) }.filter {
      !$0.elements.isEmpty
    }
    .map(\.elements.count)
    #expect(sizes == [50, 50, 20])
  }

  /// oPodSync follows the podcast of any action.
  @Test func actionsOfPodcastsThatAreNotFollowedStayHere() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    try desk.follow("b")
    try desk.catalog.setPlayed(true, episode: desk.episode(1, of: "b").id)
    try desk.unfollow("b")
    #expect(try desk.sync(server)?.uploadedEpisodes == 0)
    #expect(server.model.followed == [host.feed("a")])
  }

  @Test func addressesWithSecretsAreNotUploaded() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    let secret = host.feed("b").replacing("http://", with: "http://ann:secret@")
    _ = try desk.catalog.subscribe(feedURL: secret)
    _ = try desk.catalog.subscribe(feedURL: host.feed("c") + "?auth=secret")
    try desk.refresh()
    try desk.catalog.setPlayed(true, episode: desk.episode(1, of: "a").id)
    for listed in try desk.catalog.subscriptions() where listed.podcast.feedURL.forRequest.contains("secret")
    {
      for episode in try desk.catalog.episodes(ofPodcast: listed.podcast.id) {
        try desk.catalog.setPlayed(true, episode: episode.id)
      }
    }
    _ = try desk.sync(server)
    let sent = server.bodies.joined()
    #expect(server.model.followed == [host.feed("a")] && server.model.actions.count == 1)
    #expect(!sent.contains("secret") && !sent.contains("t0p"), "\(sent)")
    #expect(try SyncStatus.pending(desk.catalog, uploadsAll: false) == 0)
    _ = try desk.sync(server) { $0.feeds = .all }
    #expect(server.model.followed.count == 3)
  }

  @Test func aRefusedPasswordIsNotTriedAgainUntilTheConfigurationChanges() throws {
    let server = try FakeSyncServer(.opodsync)
    let error = #expect(throws: SyncError.self) { try desk.sync(server) { $0.password = "wrong" } }
    #expect(error?.kind == .refused && error?.description.contains("127.0.0.1") == true)
    #expect(try desk.catalog.syncAccount()?.error?.contains("401") == true)
    server.forgetRequests()
    #expect(try desk.sync(server, .automatic) { $0.password = "wrong" } == nil)
    #expect(throws: SyncError.self) { try desk.sync(server) { $0.password = "wrong" } }
    #expect(server.requests.isEmpty)
    #expect(try desk.sync(server, .automatic) != nil)
    #expect(try desk.catalog.syncAccount()?.error == nil)
  }

  @Test(arguments: [401, 403]) func whatRefusesIsNotAskedAgainByItselfHoweverOften(status: Int) throws {
    let server = try FakeSyncServer(.nextcloud)
    server.fail(status)
    let error = #expect(throws: SyncError.self) { try desk.sync(server, .automatic) }
    #expect(error?.kind == .refused)
    // It would take them now.
    server.fail(nil)
    server.forgetRequests()
    for _ in 0..<3 { #expect(try desk.sync(server, .automatic) == nil) }
    #expect(throws: SyncError.self) { try desk.sync(server) }
    #expect(server.requests.isEmpty)
    #expect(try desk.catalog.syncAccount()?.error?.contains("\(status)") == true)
    // Another key of the section.
    #expect(try desk.sync(server, .automatic) { $0.kind = .nextcloud } != nil)
    #expect(try desk.sync(server, .automatic) != nil)
  }

  @Test(arguments: [429, 503]) func aBusyServerIsLeftAloneForAsLongAsItSays(status: Int) throws {
    let server = try FakeSyncServer(.opodsync)
    server.fail(status, [("Retry-After", "120")])
    let error = #expect(throws: SyncError.self) { try desk.sync(server) }
    #expect(error?.kind == .busy(120))
    server.fail(nil)
    server.forgetRequests()
    #expect(try desk.sync(server, .automatic) == nil)
    #expect(server.requests.isEmpty)
    try desk.catalog.changeSyncAccount("\(server.address) \(FakeSyncServer.user)") { $0.notBefore = 5 }
    #expect(try desk.sync(server, .automatic) != nil)
  }

  @Test func aPersonIsNotHeldBackAndTheMountForAnHourAtMost() throws {
    let server = try FakeSyncServer(.opodsync)
    server.fail(429, [("Retry-After", "99999999")])
    #expect(throws: SyncError.self) { try desk.sync(server) }
    let wait = try #require(try desk.catalog.syncAccount()?.notBefore) - wallClockSeconds()
    #expect(wait <= 3600)
    server.fail(nil)
    #expect(try desk.sync(server, .automatic) == nil)
    #expect(try desk.sync(server) != nil)
  }

  @Test func aServerThatFailsIsTriedAgainAndNothingIsLost() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    try desk.catalog.setPlayed(true, episode: desk.episode(1, of: "a").id)
    server.fail(500)
    #expect(throws: SyncError.self) { try desk.sync(server) }
    #expect(try SyncStatus.pending(desk.catalog, uploadsAll: false) == 2)
    server.fail(nil)
    #expect(try desk.sync(server, .automatic)?.uploadedEpisodes == 1)
    #expect(try SyncStatus(desk.catalog, nil)?.pending == 0)
  }

  @Test func aServerThatLeadsElsewhereGetsNothing() throws {
    let server = try FakeSyncServer(.opodsync)
    server.fail(301, [("Location", "http://127.0.0.1:1/")])
    let error = #expect(throws: SyncError.self) { try desk.sync(server) }
    #expect(error?.description.contains("leads elsewhere") == true)
  }

  /// A year of listening is one row and one action an episode.
  @Test func aYearOfflineIsOneActionAnEpisode() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    let id = try desk.episode(1, of: "a").id
    for second in 1...300 { try desk.catalog.setPosition(Int64(second) * 1000, episode: id, margin: 30) }
    #expect(try desk.sync(server)?.uploadedEpisodes == 1)
    #expect(server.model.actions.map(\.numbers) == [[0, 300, 3600]])
  }

  @Test func addressesThatTheServerWritesOtherwiseAreItsOwnFromThenOn() throws {
    let server = try FakeSyncServer(.mygpo)
    let (a, b) = (host.feed("a"), host.feed("b"))
    server.change { $0.updates = [a: "http://other.example/a", b: ""] }
    for name in ["a", "b"] {
      try desk.follow(name)
      try desk.catalog.setPlayed(true, episode: desk.episode(1, of: name).id)
    }
    _ = try desk.sync(server)
    #expect(server.model.actions.map(\.podcast) == ["http://other.example/a"])
    let again = try #require(try desk.sync(server, isWhole: true))
    #expect(again.added.isEmpty && again.uploadedFeeds == 0 && again.removedFeeds == 0)
  }

  @Test(arguments: SyncServerModel.Rules.allCases)
  func aPlayedEpisodeThatWasBegunAgainIsThatElsewhere(rules: SyncServerModel.Rules) throws {
    let server = try FakeSyncServer(rules)
    for device in [desk, laptop] { try device.follow("a") }
    try desk.catalog.setPlayed(true, episode: desk.episode(1, of: "a").id)
    for device in [desk, laptop] { _ = try device.sync(server) }
    server.change { $0.now += 60 }
    try desk.catalog.setPosition(751_200, episode: desk.episode(1, of: "a").id, margin: 30)
    #expect(try desk.sync(server)?.uploadedEpisodes == 1)
    #expect(server.model.actions.last?.numbers == [3600, 751, 3600])
    #expect(try laptop.sync(server)?.episodes == 1)
    let there = try laptop.episode(1, of: "a").listening
    #expect(there.isPlayed && there.position == 751_000)
    for device in [desk, laptop] {
      let quiet = try #require(try device.sync(server, isWhole: true))
      #expect(quiet.episodes + quiet.uploadedEpisodes == 0)
    }
  }

  @Test func aFeedThatRedirectsIsOneFolderByItsOldAndItsNewAddress() throws {
    let server = try FakeSyncServer(.mygpo)
    try desk.follow("a")
    try laptop.follow("old-b")
    server.change { server in
      for name in ["old-a", "b"] { server.feeds[host.feed(name)] = (true, 5) }
    }
    server.change { server in
      server.actions.append(
        .init(
          podcast: host.feed("old-a"), episode: "https://media.example/a/2.mp3", guid: "a-2", action: "play",
          time: 1_706_781_600, numbers: [0, 61, 3600]))
    }
    for device in [desk, laptop] {
      for _ in 0..<2 {
        _ = try device.sync(server)
        try device.refresh()
      }
      let again = try #require(try device.sync(server, isWhole: true))
      #expect(again.added.isEmpty && again.removed.isEmpty && again.removedFeeds == 0, "\(again)")
    }
    #expect(try desk.follows == [host.feed("a"), host.feed("b")])
    #expect(Set(try laptop.follows) == [host.feed("a"), host.feed("old-b")])
    for device in [desk, laptop] { #expect(try device.episode(2, of: "a").listening.position == 61_000) }
    #expect(server.model.followed.count <= 4)
  }

  @Test(arguments: SyncServerModel.Rules.allCases)
  func aFeedThatTheServerHasTwiceIsUnfollowedForGood(rules: SyncServerModel.Rules) throws {
    let server = try FakeSyncServer(rules)
    let spellings = [host.feed("a"), host.feed("a") + "/", host.feed("b")]
    server.change { server in for url in spellings { server.feeds[url] = (true, server.now) } }
    _ = try desk.sync(server)
    #expect(try desk.follows == [host.feed("a"), host.feed("b")])
    server.change { $0.now += 60 }
    try desk.unfollow("a")
    #expect(try desk.sync(server)?.removedFeeds == 2)
    #expect(server.model.followed == [host.feed("b")])
    for isWhole in [false, true] {
      server.change { $0.now += 60 }
      _ = try desk.sync(server, isWhole: isWhole)
      #expect(try desk.follows == [host.feed("b")])
    }
  }

  @Test func anotherAccountBeginsAnew() throws {
    let (first, second) = (try FakeSyncServer(.opodsync), try FakeSyncServer(.nextcloud))
    try desk.follow("a")
    try desk.catalog.setPlayed(true, episode: desk.episode(1, of: "a").id)
    _ = try desk.sync(first)
    let outcome = try #require(try desk.sync(second))
    #expect(outcome.uploadedFeeds == 1 && outcome.uploadedEpisodes == 1 && outcome.removed.isEmpty)
    #expect(second.model.followed == [host.feed("a")])
  }

  @Test func mountsHearOfIt() throws {
    let server = try FakeSyncServer(.opodsync)
    server.change { $0.feeds["https://b.example/feed"] = (true, 5) }
    let before = try desk.catalog.commits()
    _ = try desk.sync(server)
    let changes = try desk.catalog.commits(after: before).flatMap(\.changes)
    #expect(changes.last == .synchronized(added: 1, removed: 0, episodes: 0), "\(changes)")
  }

  @Test func thePasswordComesFromItsCommand() throws {
    let server = try FakeSyncServer(.opodsync)
    let file = try desk.home.write("secret", FakeSyncServer.password + "\nrest\n")
    let outcome = try desk.sync(server) { ($0.password, $0.passwordCommand) = (nil, "cat '\(file)'") }
    #expect(outcome != nil)
    let error = #expect(throws: SyncError.self) {
      try desk.sync(server) { ($0.password, $0.passwordCommand) = (nil, "exit 3") }
    }
    #expect(error?.description == "password_command gives no password (status 3)")
  }

  @Test func aCommandThatDoesNotEndGivesNoPassword() throws {
    var settings = SyncSettings(url: "https://cloud.example")
    settings.passwordCommand = "sleep 1000 & sleep 1000"
    let error = #expect(throws: SyncError.self) { try settings.secret(within: 1) }
    #expect(error?.description == "password_command does not end within 1 seconds")
  }

  @Test func theTokenOfALoginGoesToNoOtherHostAndNotWithoutEncryption() throws {
    let http = HTTPClient(name: "test-http")
    defer { http.stop() }
    let server = try HTTPServer(longestBody: 1000) { _, writer throws(ResponseWriter.Ended) in
      let poll = #"{"token": "t", "endpoint": "https://other.example/poll"}"#
      try writer.respond(200, [], body: Array(#"{"poll": \#(poll), "login": "https://other.example/"}"#.utf8))
    }
    defer { server.stop() }
    func requests(_ url: String) -> SyncRequests {
      SyncRequests(http: http, settings: Settings(), url: url, user: nil, password: nil, now: { 0 })
    }
    let error = #expect(throws: SyncError.self) { try LoginFlow(requests(server.address)) }
    #expect(
      error?.description.contains("to https://other.example/poll") == true, "\(String(describing: error))")
    let cloud = requests("https://cloud.example/nextcloud")
    #expect(cloud.isAsSafe("https://CLOUD.example/poll") && !cloud.isAsSafe("http://cloud.example/poll"))
    #expect(requests("http://127.0.0.1:81").isAsSafe("http://127.0.0.1:81/poll"))
  }

  @Test func noErrorShowsThePassword() throws {
    let server = try FakeSyncServer(.opodsync)
    server.stop()
    let error = #expect(throws: SyncError.self) { try desk.sync(server) }
    #expect(error?.description.contains("word") == false)
    #expect(try desk.catalog.syncAccount()?.error?.contains("127.0.0.1") == true)
  }
}
