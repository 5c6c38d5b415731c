import Catalog
import PodcastModel
import Sync
import Testing

/// Actions as servers and their clients write them.
@Suite struct ServerActionTests {
  private func report(_ json: String) throws -> EpisodeReport? {
    ServerAction(try JSONValue(parsing: Array(json.utf8)))?.report
  }

  private func play(_ members: String) throws -> EpisodeReport? {
    try report(#"{"podcast":"https://a.example/feed","episode":"https://a.example/1.mp3",\#(members)}"#)
  }

  @Test(arguments: [
    "2026-11-25T02:00:00", "2026-11-25T02:00:00Z", "2026-11-25T02:00:00+00:00", "2026-11-25T02:00:00.250",
    "2026-11-25T03:00:00+01:00",
  ])
  func timesComeWithAndWithoutZone(time: String) throws {
    let found = try play(#""action":"PLAY","timestamp":"\#(time)","started":0,"position":60,"total":3600"#)
    #expect(found?.time == 1_795_572_000)
    #expect(found?.state == .position(60_000, of: 3_600_000))
  }

  @Test(arguments: ["play", "PLAY", "Play"])
  func namesOfActionsComeInUpperCaseToo(name: String) throws {
    #expect(try play(#""action":"\#(name)","position":9,"total":20,"started":0"#) != nil)
  }

  @Test(arguments: [
    #""action":"play","started":-1,"position":-1,"total":-1"#, #""action":"play","position":0,"total":100"#,
    #""action":"play""#, #""action":"download""#, #""action":"delete""#, #""action":"flattr""#,
    #""action":"play","position":"x""#, #""position":5"#,
  ])
  func whatSaysNothingOfAPositionIsLeftOut(members: String) throws {
    #expect(try play(members) == nil)
  }

  @Test(arguments: ["-1", "0"]) func whereAServerKeepsOneActionAnEmptyOneIsKnownAsSuch(position: String)
    throws
  {
    let json =
      #"{"podcast":"https://a.example/feed","episode":"https://a.example/1.mp3","action":"PLAY","#
      + #""position":\#(position),"timestamp":"2026-11-25T02:00:00"}"#
    let action = ServerAction(try JSONValue(parsing: Array(json.utf8)), isOnlyOne: true)
    #expect(action?.report.time == ServerAction.noTime)
  }

  @Test func numbersComeAsTextAndWithDecimals() throws {
    #expect(
      try play(#""action":"play","position":"61","total":3600.7,"started":0"#)?.state
        == .position(61_000, of: 3_600_000))
  }

  @Test(arguments: ["null", "", "  ", "NULL"]) func aGuidThatIsNoneIsNone(guid: String) throws {
    #expect(try play(#""action":"new","guid":"\#(guid)""#)?.guid == nil)
    #expect(try play(#""action":"new","guid":"a null""#)?.guid == "a null")
  }

  @Test func whoGoesOnFromTheEndHasBegunAPlayedEpisodeAgain() throws {
    let found = try play(#""action":"play","started":3600,"position":61,"total":3600"#)
    #expect(found?.state == .exactly(position: 61_000, isPlayed: true))
    for started in [0, 61, 3599] {
      let found = try play(#""action":"play","started":\#(started),"position":61,"total":3600"#)
      #expect(found?.state == .position(61_000, of: 3_600_000))
    }
  }

  @Test(arguments: [(3570, true), (3569, false), (3600, true), (4000, true)])
  func playedIsAPositionWithinTheMarginOfTheEnd(position: Int, isPlayed: Bool) throws {
    let found = try play(#""action":"play","started":0,"position":\#(position),"total":3600"#)
    let state = found?.listening(duration: nil, margin: 30, time: 9)
    #expect(state?.isPlayed == isPlayed && state?.lastPlayed == 9)
  }

  private func json(_ state: ExchangedState, duration: Int?, hasNew: Bool = true) -> JSONValue {
    var episode = ListenedEpisode(
      id: 1, podcast: 1, address: "https://a.example/1.mp3?token=x", listening: ListeningState())
    episode.duration = duration
    episode.guid = "g"
    return ServerAction.json(
      of: episode, state, feed: "https://a.example/feed", address: "https://a.example/1.mp3", device: "desk",
      hasNew: hasNew)
  }

  @Test func aPositionIsWrittenInWholeSecondsWithItsTimeInUTC() {
    let text = json(ExchangedState(position: 61_900, isPlayed: false, time: 1_795_572_000), duration: 3600)
      .compactText
    #expect(
      text
        == #"{"podcast":"https://a.example/feed","episode":"https://a.example/1.mp3","guid":"g","device":"desk","#
        + #""action":"play","timestamp":"2026-11-25T02:00:00","started":0,"position":61,"total":3600}"#)
  }

  /// What another device makes of what this one writes.
  @Test(arguments: [3600, nil, 1], [true, false])
  func whatIsWrittenMeansTheSameElsewhere(duration: Int?, hasNew: Bool) throws {
    for state in [
      ExchangedState(position: 0, isPlayed: true, time: 7),
      ExchangedState(position: 400_000, isPlayed: false, time: 7),
      // Played, and begun again.
      ExchangedState(position: 400_000, isPlayed: true, time: 7),
    ] where duration != 1 || state.isPlayed {
      let read = try #require(ServerAction(json(state, duration: duration, hasNew: hasNew))).report
      let there = try #require(read.listening(duration: duration, margin: 30, time: 7))
      #expect(there.isPlayed == state.isPlayed && there.position == state.position && read.time == 7)
    }
    let fresh = ExchangedState(position: 0, isPlayed: false, time: 7)
    let read = try #require(ServerAction(json(fresh, duration: 3600, hasNew: hasNew))).report
    let there = try #require(read.listening(duration: 3600, margin: 30, time: 7))
    // Nextcloud keeps `play` only: the first second stands for the beginning.
    #expect(!there.isPlayed && there.position == 0)
  }
}
