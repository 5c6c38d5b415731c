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
    expect(&times, at: 0, isDue: true, next: 900)
    return times
  }

  private func expect(
    _ times: inout SyncTimetable, at second: Double, age: Int64? = nil, isPending: Bool = false, isDue: Bool,
    next: Double, _ location: SourceLocation = #_sourceLocation
  ) {
    let decided = times.isDue(now: at(second), every: 900, age: age, isPending: isPending)
    #expect(decided == isDue && times.next == at(next), sourceLocation: location)
  }

  @Test func itSynchronizesFiveSecondsAfterTheStartAndThenEveryQuarterOfAnHour() {
    var times = SyncTimetable(now: at(0))
    expect(&times, at: 4.9, age: 10, isPending: true, isDue: false, next: 5)
    // Whatever another process has done.
    expect(&times, at: 5, age: 10, isDue: true, next: 905)
    expect(&times, at: 904, age: 899, isPending: true, isDue: false, next: 905)
    expect(&times, at: 905, age: 900, isDue: true, next: 1805)
  }

  @Test func whereAnotherMountWasFirstItWaitsForTheRest() {
    var times = begun()
    expect(&times, at: 900, age: 200, isPending: true, isDue: false, next: 1600)
    // The wall clock was set back.
    expect(&times, at: 1600, age: -50, isDue: true, next: 2500)
  }

  @Test func aChangeHereIsUploadedTwentySecondsLaterHoweverManyFollow() {
    var times = begun()
    for second in stride(from: 100.0, to: 119, by: 1) { times.changed(now: at(second)) }
    #expect(times.next == at(120))
    expect(&times, at: 119, age: 119, isPending: true, isDue: false, next: 120)
    expect(&times, at: 120, age: 120, isPending: true, isDue: true, next: 1020)
    // What changes while it synchronizes is the next change.
    times.changed(now: at(121))
    #expect(times.next == at(141))
  }

  @Test func aChangeThatTheServerNeedNotHearOfIsNone() {
    var times = begun()
    times.changed(now: at(100))
    expect(&times, at: 120, age: 120, isDue: false, next: 900)
    times.changed(now: at(890))
    #expect(times.next == at(900))
  }

  @Test func whereTheServerAsksToWaitItIsAskedWhenThatEnds() {
    var times = begun()
    times.ended(now: at(1), wait: 30)
    #expect(times.next == at(31))
    times.changed(now: at(5))
    #expect(times.next == at(25))
    let isDue = times.isDue(now: at(25), every: 900, age: nil, isPending: true, wait: 6)
    #expect(!isDue && times.next == at(31))
    expect(&times, at: 31, age: 31, isPending: true, isDue: true, next: 931)
    // Again and again: less and less often.
    times.ended(now: at(31), wait: 30)
    #expect(times.next == at(91))
    expect(&times, at: 91, age: 91, isDue: true, next: 991)
    times.ended(now: at(91), wait: 0)
    #expect(times.next == at(991))
  }

  @Test func whenTheNetworkReturnsItSynchronizesFiveSecondsLater() {
    var times = begun()
    times.networkChanged(now: at(300))
    #expect(times.next == at(305))
    expect(&times, at: 305, age: 305, isDue: true, next: 1205)
    // Once.
    expect(&times, at: 1205, age: 5, isPending: true, isDue: false, next: 2100)
  }
}
