import Configuration
import EpisodeCache
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

@Suite struct QueueTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// Episodes of 400,000 bytes.
  private func episodes(_ count: Int, rate: Int64? = nil) -> [(request: TransferRequest, body: TestBody)] {
    (0..<count).map { number in
      let body = TestBody(seed: UInt64(100 + number), size: 400_000)
      return (user.serve(body, at: "/\(number).mp3", .with { $0.rate = rate }), body)
    }
  }

  @Test func atMostAsManyAsWantedRunAtOnceAndInOrder() throws {
    let all = episodes(6, rate: 1_000_000)
    let client = try user.client { settings in
      settings.downloads = 2
      settings.perHost = 8
    }
    for (request, _) in all { #expect(client.confirmed { $0.order(.start(request), completion: $1) }) }
    for (request, _) in all { #expect(client.reaches(.cached, request)) }
    #expect(user.origin.peak == 2)
    // Two that begin together may arrive in any order.
    let paths = user.origin.requests.map(\.path)
    #expect(paths.count == 6)
    for number in 0..<6 {
      let place = try #require(paths.firstIndex(of: "/\(number).mp3"))
      #expect(abs(place - number) <= 1)
    }
  }

  @Test func oneHostGetsNoMoreThanItsShare() throws {
    let all = episodes(4, rate: 1_000_000)
    let client = try user.client { $0.perHost = 1 }
    for (request, _) in all { #expect(client.confirmed { $0.order(.start(request), completion: $1) }) }
    for (request, _) in all { #expect(client.reaches(.cached, request)) }
    #expect(user.origin.peak == 1)
  }

  @Test func anOpenReaderIsServedBesideTheQueue() throws {
    let all = episodes(3, rate: 5000)
    let client = try user.client { $0.downloads = 1 }
    #expect(client.confirmed { $0.order(.start(all[0].request), completion: $1) })
    #expect(client.confirmed { $0.order(.start(all[1].request), completion: $1) })
    #expect(client.reaches(.downloading, all[0].request))
    user.origin.change("/2.mp3") { $0.behaviour.rate = nil }
    #expect(all[2].body.firstDifference(try client.opened(all[2].request).readAll()) == nil)
    #expect(client.status(of: all[1].request.key)?.state == .queued)
    #expect(client.status(of: all[0].request.key)?.state == .downloading)
    for path in ["/0.mp3", "/1.mp3"] { user.origin.change(path) { $0.behaviour.rate = nil } }
  }

  @Test func theRateLimitIsForTheBackgroundOnly() throws {
    let all = episodes(2)
    let client = try user.client { $0.limitRate = 40_000 }
    let start = MonotonicTime.now
    #expect(client.confirmed { $0.order(.start(all[0].request), completion: $1) })
    #expect(all[1].body.firstDifference(try client.opened(all[1].request).readAll()) == nil)
    #expect(client.status(of: all[0].request.key)?.state == .downloading)
    #expect(client.reaches(.cached, all[0].request))
    #expect(MonotonicTime.now.seconds(since: start) > 1)
  }

  /// A response that rests is taken up in the next turn, not by the next timer. The daemon checks that in each turn, and
  /// ends where it is not so.
  @Test func whatALimitHoldsBackNeverRestsLonger() throws {
    let request = user.serve(TestBody(seed: 7, size: 6_000_000))
    let client = try user.client { $0.limitRate = 4_000_000 }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    let daemon = try #require(user.daemon)
    #expect(client.reaches(.cached, request))
    #expect(user.daemon == daemon)
  }

  @Test func theOrderSurvivesTheDaemon() throws {
    let all = episodes(5, rate: 5000)
    let client = try user.client { $0.downloads = 1 }
    for (request, _) in all.reversed() {
      #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    }
    client.stop()
    #expect(user.killDaemon())
    for number in 0..<5 { user.origin.change("/\(number).mp3") { $0.behaviour.rate = nil } }
    let later = try user.client { $0.downloads = 1 }
    for (request, _) in all { #expect(later.reaches(.cached, request)) }
    let paths = user.origin.requests.map(\.path)
    #expect(paths.last == "/0.mp3")
    #expect(Set(paths.prefix(2)) == ["/4.mp3"])
  }

  @Test func theLeastRecentlyReadGoesFirstAndNeverWhatIsKeptOrOpen() throws {
    let all = episodes(5)
    let client = try user.client { $0.cacheSize = 1_700_000 }
    for (request, body) in all[..<4] {
      let episode = try client.opened(request)
      #expect(body.firstDifference(try episode.readAll()) == nil)
      episode.close()
      #expect(client.reaches(.cached, request))
    }
    // 0 is kept, 1 is open, 2 was read after 3.
    #expect(client.confirmed { $0.order(.setKept(all[0].request, true), completion: $1) })
    let held = try client.opened(all[1].request)
    let read = try client.opened(all[2].request)
    read.close()
    #expect(all[4].body.firstDifference(try client.opened(all[4].request).readAll()) == nil)
    #expect(client.reaches(.remote, all[3].request))
    for index in [0, 1, 2] { #expect(client.status(of: all[index].request.key)?.state == .cached) }
    #expect(all[1].body.firstDifference(try held.readAll()) == nil)
  }

  @Test func whereNothingMayGoTheBackgroundWaitsAndSaysSo() throws {
    let all = episodes(3)
    let client = try user.client { $0.cacheSize = 900_000 }
    for (request, _) in all[..<2] {
      #expect(client.confirmed { $0.order(.setKept(request, true), completion: $1) })
      #expect(client.confirmed { $0.order(.start(request), completion: $1) })
      #expect(client.reaches(.cached, request))
    }
    // Its size is not known before it begins.
    var expected = all[2].request
    expected.expectedLength = 400_000
    let request = expected
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { client.status(of: request.key)?.error == "cache is full" })
    #expect(client.status(of: request.key)?.state == .queued)
    // An open reader may exceed the budget.
    #expect(all[2].body.firstDifference(try client.opened(request).readAll()) == nil)
  }

  @Test func aFullDiskFailsReadersAtOnceAndHeals() throws {
    let all = episodes(1)
    let client = try user.client { $0.minimumFree = 1 << 60 }
    let failure = client.openFailure(all[0].request)
    #expect(failure?.errno == .ENOSPC)
    let key = all[0].request.key
    #expect(eventually { client.status(of: key)?.error?.hasPrefix("no space left") == true })
    #expect(client.status(of: key)?.state == .queued)
    // The latest mount's options hold.
    let roomy = try user.client()
    #expect(roomy.reaches(.cached, all[0].request))
  }
}
