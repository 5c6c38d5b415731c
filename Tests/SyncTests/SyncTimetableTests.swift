import PosixKit
import Sync
import Testing

/// When a mount synchronizes by itself, by a clock of the test's own.
@Suite struct SyncTimetableTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
  private func at(_ seconds: Double) -> MonotonicTime { Self.start.adding(seconds) }

  /// One that has synchronized at its start.
  private func begun() -> SyncTimetable {
    var times = SyncTimetable(now: at(-5))
    #expect(times.next == at(0))
    #expect(times.isDue(now: at(0), every: 900, age: nil, isPending: false))
    return times
  }

  @Test func itSynchronizesFiveSecondsAfterTheStartAndThenEveryQuarterOfAnHour() {
    var times = SyncTimetable(now: at(0))
    #expect(!times.isDue(now: at(4.9), every: 900, age: 10, isPending: true) && times.next == at(5))
    // Whatever another process has done.
    #expect(times.isDue(now: at(5), every: 900, age: 10, isPending: false))
    #expect(times.next == at(905))
    #expect(!times.isDue(now: at(904), every: 900, age: 899, isPending: true))
    #expect(times.isDue(now: at(905), every: 900, age: 900, isPending: false) && times.next == at(1805))
  }

  @Test func whereAnotherMountWasFirstItWaitsForTheRest() {
    var times = begun()
    #expect(!times.isDue(now: at(900), every: 900, age: 200, isPending: true))
    #expect(times.next == at(1600))
    // The wall clock was set back.
    #expect(times.isDue(now: at(1600), every: 900, age: -50, isPending: false))
  }

  @Test func aChangeHereIsUploadedTwentySecondsLaterHoweverManyFollow() {
    var times = begun()
    for second in stride(from: 100.0, to: 119, by: 1) { times.changed(now: at(second)) }
    #expect(times.next == at(120))
    #expect(!times.isDue(now: at(119), every: 900, age: 119, isPending: true))
    #expect(times.isDue(now: at(120), every: 900, age: 120, isPending: true) && times.next == at(1020))
    // What changes while it synchronizes is the next change.
    times.changed(now: at(121))
    #expect(times.next == at(141))
  }

  @Test func aChangeThatTheServerNeedNotHearOfIsNone() {
    var times = begun()
    times.changed(now: at(100))
    #expect(!times.isDue(now: at(120), every: 900, age: 120, isPending: false) && times.next == at(900))
    times.changed(now: at(890))
    #expect(times.next == at(900))
  }

  @Test func whenTheNetworkReturnsItSynchronizesFiveSecondsLater() {
    var times = begun()
    times.networkChanged(now: at(300))
    #expect(times.next == at(305))
    #expect(times.isDue(now: at(305), every: 900, age: 305, isPending: false) && times.next == at(1205))
    // Once.
    #expect(!times.isDue(now: at(1205), every: 900, age: 5, isPending: true))
  }
}
