import Testing

@testable import TransferEngine

@Suite struct RetryTests {
  @Test func withoutProgressItIsLaterAndLater() {
    var retry = Retry()
    let delays = (0..<12).map { _ in retry.failed(received: 0, of: 1) }
    #expect(delays.prefix(4) == [0.5, 1, 2, 4])
    #expect(delays.last == Retry.longest)
  }

  @Test func whatSomebodyWaitsForIsTriedEveryFiveSeconds() {
    var retry = Retry()
    retry.attempts = 9
    let delay = retry.failed(received: 0, of: 1, isWaitedFor: true)
    #expect(delay == 5)
  }

  @Test func progressBeginsAnew() {
    var retry = Retry()
    _ = retry.failed(received: 0, of: 1)
    retry.attempts = 9
    let delay = retry.failed(received: 65_536, of: 1)
    #expect(delay == 0.2 && retry.attempts == 1)
    // Another file each time is no progress.
    let next = retry.failed(received: 900_000, of: 2)
    #expect(next == 1)
  }

  @Test func itGrowsNotWithoutEnd() {
    #expect(Retry.delay(after: -1) == 0.5)
    #expect(Retry.delay(after: .max) == Retry.longest)
  }

  @Test func requestsThatBringNothingAreBounded() {
    var retry = Retry()
    func ask(_ received: Int64 = 0) -> Bool { retry.mayAskAtOnce(received: received, of: 1, size: 1 << 20) }
    let asked = (0..<6).map { _ in ask() }
    #expect(asked == [true, true, true, true, true, false])
    retry.leaveOneTry()
    let later = [ask(), ask(65_536)]
    #expect(later == [true, true])
  }
}
