import Catalog
import PodcastModel
import Sync
import Testing

/// What is done about one episode.
@Suite struct EpisodeDecisionTests {
  /// Our clock is an hour ahead of the server's.
  private let clock = SyncClock(ours: 103_600, servers: 100_000)

  private func episode(
    _ position: Int64, at changed: Int64?, exchanged: ExchangedState? = nil, isPlayed: Bool = false
  ) -> ListenedEpisode {
    var episode = ListenedEpisode(
      id: 1, podcast: 1, address: "https://a.example/1.mp3",
      listening: ListeningState(position: position, isPlayed: isPlayed, lastPlayed: nil, changed: changed))
    episode.duration = 3600
    episode.exchanged = exchanged
    return episode
  }

  private func report(_ position: Int64, at time: Int64) -> EpisodeReport {
    var report = EpisodeReport(podcast: "https://a.example/feed", address: "https://a.example/1.mp3")
    (report.state, report.time) = (.position(position, of: 3_600_000), time)
    return report
  }

  private func decide(_ episode: ListenedEpisode, _ report: EpisodeReport?) -> EpisodeDecision {
    EpisodeDecision(episode, report, clock: clock, margin: 30)
  }

  @Test func whatNobodyHasTouchedIsLeftAlone() {
    #expect(decide(episode(0, at: nil), nil) == .nothing)
    #expect(decide(episode(0, at: 103_000), nil) == .nothing)
  }

  @Test func theFirstSynchronizationUploadsWhatIsPlayed() {
    #expect(
      decide(episode(0, at: 50, isPlayed: true), nil)
        == .upload(ExchangedState(position: 0, isPlayed: true, time: 100_000)))
  }

  @Test func aStateFromElsewhereIsTakenWithItsTimeByOurClock() throws {
    guard case .apply(let state, let told) = decide(episode(0, at: nil), report(60_000, at: 99_000)) else {
      Issue.record("not applied")
      return
    }
    #expect(state.position == 60_000 && state.changed == 102_600 && state.lastPlayed == 102_600)
    #expect(told == ExchangedState(position: 60_000, isPlayed: false, time: 99_000))
  }

  @Test func whatBothHaveIsNoted() {
    #expect(
      decide(episode(60_400, at: 5), report(60_000, at: 99_000))
        == .note(ExchangedState(position: 60_400, isPlayed: false, time: 99_000)))
  }

  /// By the server's clock ours was made at 99,400 and at 98,400.
  @Test func ofTwoChangesTheLaterOneByTheServersClockWins() {
    let upload = EpisodeDecision.upload(ExchangedState(position: 70_000, isPlayed: false, time: 100_000))
    #expect(decide(episode(70_000, at: 103_000), report(60_000, at: 99_000)) == upload)
    guard case .apply = decide(episode(70_000, at: 102_000), report(60_000, at: 99_000)) else {
      Issue.record("not applied")
      return
    }
  }

  /// The clock was set right meanwhile.
  @Test func aChangeInTheFutureCountsAsOfNow() {
    guard case .apply = decide(episode(70_000, at: 900_000), report(60_000, at: 100_001)) else {
      Issue.record("not applied")
      return
    }
  }

  @Test func whatWasSeenBeforeDoesNotTakeALaterChangeBack() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 99_000)
    // Also where our clock is so slow that the change seems older.
    #expect(
      decide(episode(70_000, at: 10, exchanged: exchanged), report(60_000, at: 99_000))
        == .upload(ExchangedState(position: 70_000, isPlayed: false, time: 100_000)))
    #expect(decide(episode(60_000, at: 10, exchanged: exchanged), report(60_000, at: 99_000)) == .nothing)
  }

  /// Nextcloud: somebody has uploaded an old state over it.
  @Test func whatTheServerHasLostIsUploadedAgain() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 99_000)
    #expect(
      decide(episode(60_000, at: 10, exchanged: exchanged), report(20_000, at: 98_000))
        == .upload(ExchangedState(position: 60_000, isPlayed: false, time: 100_000)))
    #expect(decide(episode(60_000, at: 10, exchanged: exchanged), report(60_000, at: 98_000)) == .nothing)
  }

  @Test func anUploadIsStampedLaterThanWhatItTakesThePlaceOf() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 200_000)
    #expect(
      decide(episode(70_000, at: 103_000, exchanged: exchanged), report(60_000, at: 200_000))
        == .upload(ExchangedState(position: 70_000, isPlayed: false, time: 200_001)))
  }

  @Test func anotherStateOfTheSameSecondIsTaken() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 99_000)
    guard
      case .apply(let state, _) = decide(
        episode(60_000, at: 10, exchanged: exchanged), report(80_000, at: 99_000))
    else {
      Issue.record("not applied")
      return
    }
    #expect(state.position == 80_000)
  }

  @Test func anEpisodeMadeUnplayedIsUploadedWhereItWasPlayed() {
    let exchanged = ExchangedState(position: 0, isPlayed: true, time: 99_000)
    #expect(
      decide(episode(0, at: 103_000, exchanged: exchanged), nil)
        == .upload(ExchangedState(position: 0, isPlayed: false, time: 100_000)))
  }

  /// Nextcloud keeps the empty one in place of ours. With its own time: another device may know a later state.
  @Test func whatAnEmptyActionHasTakenThePlaceOfIsUploadedAgain() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 99_000)
    var empty = report(0, at: ServerAction.noTime)
    empty.state = .unplayed
    #expect(decide(episode(60_000, at: 10, exchanged: exchanged), empty) == .upload(exchanged))
    #expect(decide(episode(0, at: nil), empty) == .nothing)
  }

  @Test func whatAServerHasLostIsUploadedAgainWhenEverythingIsRead() {
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: 99_000)
    let lost = EpisodeDecision(
      episode(60_000, at: 10, exchanged: exchanged), nil, clock: clock, margin: 30, isWhole: true)
    #expect(lost == .upload(exchanged))
    let fresh = ExchangedState(position: 0, isPlayed: false, time: 99_000)
    let nothing = EpisodeDecision(
      episode(0, at: 10, exchanged: fresh), nil, clock: clock, margin: 30, isWhole: true)
    #expect(nothing == .nothing)
  }

  @Test(arguments: [Int64.max, .min, 253_402_300_799]) func timesThatCannotBeTrueAreOlderThanAll(time: Int64)
  {
    #expect(clock.credible(time) == 0 && clock.credible(99_000) == 99_000)
    #expect(clock.byUs(time) == 103_600 && clock.byServer(Int64.max) == 100_000)
    let exchanged = ExchangedState(position: 60_000, isPlayed: false, time: time)
    #expect(
      decide(episode(70_000, at: 103_000, exchanged: exchanged), nil)
        == .upload(ExchangedState(position: 70_000, isPlayed: false, time: 100_000)))
  }
}
