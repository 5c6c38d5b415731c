import Catalog
import Configuration
import HTTPServerKit
import PodcastModel
import PosixKit
import Sync
import TestSupport
import Testing

/// Servers and devices that say what cannot be, and servers that lose what they were told.
@Suite struct SyncFaultTests {
  private let host: FeedHost
  private let desk: SyncDevice
  private let laptop: SyncDevice

  init() throws {
    host = try FeedHost()
    desk = try SyncDevice(host)
    laptop = try SyncDevice(host)
  }

  /// A server that answers this whenever it is asked for actions.
  private func withServer(actions answer: String, _ body: (String, Monitor<Int>) throws -> Void) throws {
    let asked = Monitor(0)
    let server = try HTTPServer(longestBody: 1 << 20) { request, writer throws(ResponseWriter.Ended) in
      let isActions = request.method == "GET" && request.path.contains("/episodes/")
      if isActions { asked.withLock { $0 += 1 } }
      let text = isActions ? answer : #"{"add":[],"remove":[],"timestamp":9223372036854775807}"#
      try writer.respond(200, [("Content-Type", "application/json")], body: Array(text.utf8))
    }
    defer { server.stop() }
    try body(server.address, asked)
  }

  private func action(_ episode: String, time: String) -> String {
    #"{"podcast":"\#(host.feed("a"))","episode":"\#(episode)","action":"play","started":0,"position":100,"#
      + #""total":600,"timestamp":\#(time)}"#
  }

  @Test(arguments: [
    "9223372036854775807", #""9223372036854775807""#, "-9223372036854775808", #""9999-12-31T23:59:59""#,
  ])
  func aTimeBeyondAllReasonCountsAsNow(time: String) throws {
    try desk.follow("a")
    let played = action("https://media.example/a/1.mp3", time: time)
    let answer = #"{"actions":[\#(played)],"timestamp":9223372036854775807}"#
    let fake = try FakeSyncServer(.opodsync)
    try withServer(actions: answer) { address, _ in
      #expect(try desk.sync(fake) { $0.url = address }?.episodes == 1)
      let listening = try desk.episode(1, of: "a").listening
      #expect(listening.position == 100_000)
      let lastPlayed = try #require(listening.lastPlayed)
      #expect(abs(lastPlayed - wallClockSeconds()) < 3600)
      let again = try desk.sync(fake, isWhole: true) { $0.url = address }
      #expect(again?.episodes == 0 && again?.uploadedEpisodes == 0)
      try desk.catalog.setPosition(200_000, episode: desk.episode(1, of: "a").id, margin: 30)
      #expect(try desk.sync(fake) { $0.url = address }?.uploadedEpisodes == 1)
    }
  }

  @Test func pagesOfSuchTimesEnd() throws {
    try desk.follow("a")
    let actions = (0..<1000).map { action("https://media.example/a/\($0).mp3", time: "9223372036854775807") }
    let answer = #"{"actions":[\#(actions.joined(separator: ","))],"timestamp":9223372036854775807}"#
    let fake = try FakeSyncServer(.opodsync)
    try withServer(actions: answer) { address, asked in
      let outcome = try desk.sync(fake) { $0.url = address }
      #expect(outcome?.episodes == 3)
      #expect(asked.withLock { $0 } == 3)
    }
  }

  @Test func anAnswerOfMillionsOfValuesIsRefused() throws {
    let answer = #"{"actions":["# + String(repeating: "1,", count: 3_200_001) + "1]}"
    let fake = try FakeSyncServer(.opodsync)
    try withServer(actions: answer) { address, _ in
      let error = #expect(throws: SyncError.self) { try desk.sync(fake) { $0.url = address } }
      #expect(error?.description == "the answer of 127.0.0.1 is too long")
    }
  }

  @Test func aLaterStateTakesThePlaceOfOneFromTheYear9999() throws {
    let server = try FakeSyncServer(.opodsync)
    try desk.follow("a")
    let podcast = host.feed("a")
    server.change { model in
      model.actions.append(
        .init(
          podcast: podcast, episode: "https://media.example/a/1.mp3", action: "play", time: 253_402_300_799,
          numbers: [0, 100, 3600]))
    }
    #expect(try desk.sync(server)?.episodes == 1)
    try desk.catalog.setPosition(200_000, episode: desk.episode(1, of: "a").id, margin: 30)
    #expect(try desk.sync(server)?.uploadedEpisodes == 1)
    for isWhole in [false, true] {
      let quiet = try #require(try desk.sync(server, isWhole: isWhole))
      #expect(quiet.uploadedEpisodes == 0 && quiet.episodes == 0)
    }
    #expect(try desk.episode(1, of: "a").listening.position == 200_000)
  }

  @Test(arguments: [0, -1] as [Int64]) func anEmptyActionAtNextcloudLosesNothing(position: Int64) throws {
    let server = try FakeSyncServer(.nextcloud)
    try desk.follow("a")
    _ = try laptop.sync(server)
    server.change { $0.now += 60 }
    try desk.catalog.setPosition(378_000, episode: desk.episode(2, of: "a").id, margin: 30)
    _ = try desk.sync(server)
    let podcast = host.feed("a")
    server.change { model in
      model.actions = [
        .init(
          podcast: podcast, episode: "https://media.example/a/2.mp3", guid: "a-2", action: "play",
          time: model.now - 7200, numbers: [position, position, position])
      ]
    }
    #expect(try desk.sync(server)?.uploadedEpisodes == 1)
    _ = try laptop.sync(server)
    try laptop.refresh()
    #expect(try laptop.episode(2, of: "a").listening.position == 378_000)
    #expect(try desk.sync(server)?.uploadedEpisodes == 0)
  }

  @Test(arguments: SyncServerModel.Rules.allCases)
  func aServerThatHasLostEverythingGetsItAgain(rules: SyncServerModel.Rules) throws {
    let server = try FakeSyncServer(rules)
    try desk.follow("a")
    try desk.catalog.setPosition(123_000, episode: desk.episode(1, of: "a").id, margin: 30)
    try desk.catalog.setPlayed(true, episode: desk.episode(2, of: "a").id)
    _ = try desk.sync(server)
    server.change { ($0.actions, $0.feeds) = ([], [:]) }
    let outcome = try #require(try desk.sync(server, isWhole: true))
    #expect(outcome.uploadedEpisodes == 2 && outcome.uploadedFeeds == 1)
    #expect(server.model.actions.count == 2)
    #expect(try desk.sync(server, isWhole: true)?.uploadedEpisodes == 0)
  }
}
