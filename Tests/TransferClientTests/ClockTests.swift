import Configuration
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The wall clock is set: by hand, by NTP after a start with an empty battery, by a journey.
@Suite(.enabled(if: FakeClock.isAvailable, "libfaketime is not installed"))
struct ClockTests {
  let user: TransferFixture
  let clock: FakeClock
  let body = TestBody(seed: 81, size: 400_000)
  private static let year: Int64 = 365 * 86_400

  init() throws {
    user = try TransferFixture()
    clock = try FakeClock()
  }

  @Test func theTenSecondsAfterAFailureAreTenSeconds() throws {
    let client = try user.client(clock: clock)
    let request = user.serve(body, .with { $0.isWebPage = true })
    #expect(client.openFailure(request) != nil)
    user.origin.change("/a.mp3") { $0.behaviour.isWebPage = false }
    try clock.set(ahead: Self.year)
    #expect(client.openFailure(request) != nil)
    // A restart knows only what the wall clock said, which is now to come in a year.
    try clock.set(ahead: -Self.year)
    #expect(user.killDaemon())
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
  }

  @Test(arguments: [-year, year])
  func whatRetryAfterAskedForIsWaitedForAndNoLonger(_ ahead: Int64) throws {
    let client = try user.client(clock: clock)
    let request = user.serve(body) {
      $0.plan = [
        .with {
          $0.status = 503
          $0.retryAfter = "2"
        }
      ]
    }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { client.status(of: request.key)?.error?.contains("503") == true })
    try clock.set(ahead: ahead)
    // A restart knows only what the wall clock said.
    if ahead < 0 { #expect(user.killDaemon()) }
    client.resumeUnfinished()
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 2)
  }

  @Test func aClockThatIsSetForwardMakesNobodyAskBeforeRetryAfter() throws {
    let client = try user.client(clock: clock) { $0.readTimeout = 1 }
    let request = user.serve(
      body,
      .with {
        $0.status = 503
        $0.retryAfter = "600"
      })
    #expect(client.openFailure(request) != nil)
    try clock.set(ahead: Self.year)
    #expect(client.openFailure(request) != nil)
    #expect(user.origin.requests.count == 1)
  }

  @Test func readersAndProgressGoOnWhileTheClockJumps() throws {
    let client = try user.client(clock: clock)
    let large = TestBody(seed: 82, size: 2_000_000)
    let request = user.serve(large, .with { $0.rate = 1_500_000 })
    let episode = try client.opened(request)
    var bytes: [UInt8] = []
    for ahead in [0, Self.year, -Self.year, 3600, -1, 0] {
      try clock.set(ahead: ahead)
      bytes += try episode.read(at: Int64(bytes.count), 350_000)
    }
    bytes += try episode.readAll(from: Int64(bytes.count))
    #expect(large.firstDifference(bytes) == nil)
    #expect(client.reaches(.cached, request))
    #expect(user.origin.requests.count == 1)
  }
}
