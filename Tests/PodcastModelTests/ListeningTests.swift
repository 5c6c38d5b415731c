import PodcastModel
import Testing

struct ListeningTests {
  @Test(arguments: [
    ("751.2", 751_200), ("751", 751_000), ("12:31", 751_000), ("1:02:03", 3_723_000),
    ("1:02:03.25", 3_723_250),
    ("0", 0), ("90:00", 5_400_000), ("0.0019", 1), ("100:00:00", 360_000_000),
  ])
  func aPositionIsRead(text: String, milliseconds: Int64) {
    #expect(PositionText.milliseconds(text) == milliseconds)
  }

  @Test(arguments: [
    "", "-1", "x", "1:60", "1:60:00", "1:2:3:4", "1.", ".5", "1,5", ":", "1e3", "9999999999", " 1", "nan",
  ])
  func anythingElseIsRefused(text: String) {
    #expect(PositionText.milliseconds(text) == nil)
  }

  @Test(arguments: [(751_200, "751.2", "12:31"), (3_723_000, "3723", "1:02:03"), (1, "0.001", "0:00")])
  func aPositionIsWritten(milliseconds: Int64, seconds: String, clock: String) {
    #expect(PositionText.seconds(milliseconds) == seconds)
    #expect(PositionText.milliseconds(seconds) == milliseconds)
    #expect(PositionText.clock(milliseconds) == clock)
  }

  @Test(arguments: [
    (1_769_999, 1800, false), (1_770_000, 1800, true), (9_000_000, 1800, true), (1, 20, true),
  ])
  func thePositionNearTheEndMarksThePlayed(milliseconds: Int64, duration: Int, isPlayed: Bool) {
    var state = ListeningState()
    state.setPosition(milliseconds, duration: duration, margin: 30, now: 5)
    #expect(state.isPlayed == isPlayed)
    #expect(state.position == (isPlayed ? 0 : milliseconds))
    #expect(state.lastPlayed == 5)
  }

  @Test func withoutALengthThePositionIsKept() {
    var state = ListeningState()
    state.setPosition(9_000_000, duration: nil, margin: 30, now: 5)
    #expect(state.position == 9_000_000 && !state.isPlayed)
  }

  @Test func whoHearsAPlayedEpisodeAgainHasAPosition() {
    var state = ListeningState()
    state.setPlayed(true, now: 5)
    state.setPosition(60_000, duration: 1800, margin: 30, now: 6)
    #expect(state.isPlayed && state.position == 60_000 && state.lastPlayed == 6)
    state.setPlayed(false, now: 7)
    #expect(!state.isPlayed && state.position == 60_000 && state.lastPlayed == 6 && state.changed == 7)
    state.setPosition(0, duration: 1800, margin: 30, now: 8)
    #expect(state.position == 0 && state.lastPlayed == 6)
  }
}
