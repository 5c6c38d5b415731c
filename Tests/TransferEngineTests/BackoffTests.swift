import Testing
import TransferEngine

/// When what failed is tried again.
@Suite struct BackoffTests {
  @Test func withoutProgressItIsLaterAndLater() {
    var backoff = Backoff()
    let delays = (0..<12).map { _ in backoff.failed(hasProgress: false, isWaitedFor: false) }
    #expect(delays == [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    #expect(backoff.attempts == 12)
  }

  @Test func whoIsWaitedForIsTriedEveryFiveSeconds() {
    var backoff = Backoff()
    let delays = (0..<6).map { _ in backoff.failed(hasProgress: false, isWaitedFor: true) }
    #expect(delays == [0.5, 1, 2, 4, 5, 5])
  }

  @Test func progressBeginsAnew() {
    var backoff = Backoff(attempts: 9)
    #expect(backoff.failed(hasProgress: true, isWaitedFor: false) == 0.2)
    #expect(backoff.failed(hasProgress: false, isWaitedFor: false) == 1)
  }

  /// As after a year without a network: counts and delays stay within their bounds.
  @Test func itGrowsNotWithoutEnd() {
    var backoff = Backoff(attempts: .max - 1)
    for _ in 0..<100 { #expect(backoff.failed(hasProgress: false, isWaitedFor: false) == 300) }
    #expect(backoff.attempts == 30)
    #expect(Backoff.delay(after: -1) == 0.5)
    #expect(Backoff.delay(after: .max) == 300)
  }
}
