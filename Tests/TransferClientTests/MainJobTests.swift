import EpisodeCache
import Glibc
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

@Suite struct MainJobTests {
  let user: TransferFixture
  let body = TestBody(seed: 7, size: 3_000_000)

  init() throws { user = try TransferFixture() }

  @Test func anOpenedEpisodeStreamsAndIsRememberedWhole() throws {
    let request = user.serve(body, .with { $0.rate = 10_000_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(episode.size == body.size)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    episode.close()
    #expect(user.origin.sent("/a.mp3") == body.size)

    // Another client, without asking anybody.
    let second = try user.client(isMount: false)
    #expect(second.status(of: request.key)?.received == body.size)
    #expect(body.firstDifference(try second.opened(request, .cachedOnly).readAll()) == nil)
  }

  @Test func aKilledDaemonIsStartedAgainAndLosesNothing() throws {
    let request = user.serve(body) { $0.plan = [.with { $0.stallAfter = 1_100_000 }] }
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 1_000_000)) == nil)
    let first = user.daemon
    #expect(user.killDaemon())
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(user.daemon != first)
    #expect(client.reaches(.cached, request))
    // What was on the way when it died comes again; what it had is not asked for.
    let again = user.origin.requests("/a.mp3").dropFirst()
    #expect(again.count == 1)
    let start = again.first?.range?.split(separator: "=").last?.split(separator: "-").first ?? ""
    #expect(Int64(start) ?? 0 >= 990_000)
  }

  @Test func theDownloadGoesOnWhenItsReaderAndItsMountAreGone() throws {
    let request = user.serve(body, .with { $0.rate = 3_000_000 })
    do {
      let client = try user.client()
      let episode = try client.opened(request)
      _ = try episode.read(at: 0, 1000)
      client.stop()
    }
    let later = try user.client(isMount: false)
    #expect(later.reaches(.cached, request))
    #expect(user.origin.requests.count == 1)
  }

  @Test func twoClientsShareOneDownload() throws {
    let request = user.serve(body, .with { $0.rate = 5_000_000 })
    let (one, two) = (try user.client(), try user.client())
    let first = try one.opened(request)
    let second = try two.opened(request)
    #expect(body.firstDifference(try first.readAll()) == nil)
    #expect(body.firstDifference(try second.readAll()) == nil)
    #expect(user.origin.requests.count == 1)
    #expect(two.reaches(.cached, request))
  }

  @Test func aPausedDownloadKeepsItsBytesAndADroppedOneDoesNot() throws {
    let request = user.serve(body) { $0.plan = [.with { $0.stallAfter = 500_000 }] }
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { (client.status(of: request.key)?.received ?? 0) > 100_000 })
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    let paused = try #require(client.status(of: request.key))
    #expect(paused.state == .paused)
    #expect(paused.received > 100_000)
    #expect(user.origin.waitUntilIdle())

    #expect(user.killDaemon())
    let other = try user.client(isMount: false)
    #expect(other.status(of: request.key)?.state == .paused)
    #expect(other.confirmed { $0.order(.start(request), completion: $1) })
    #expect(other.reaches(.cached, request))
    #expect(other.confirmed { $0.order(.drop(request.key), completion: $1) })
    #expect(other.status(of: request.key)?.state == .remote)
    #expect(other.status(of: request.key)?.received == 0)
    #expect(try Directories.names(in: user.layout.episodes) == [])
  }

  @Test func anUnfinishedDownloadGoesOnAfterTheMachineCameBack() throws {
    let request = user.serve(body, .with { $0.rate = 1_500_000 })
    let client = try user.client()
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { (client.status(of: request.key)?.received ?? 0) > 300_000 })
    client.stop()
    #expect(user.killDaemon())
    // What was in memory only is gone.
    for name in try Directories.names(in: user.layout.maps) { unlink(user.layout.maps + "/" + name) }

    let later = try user.client()
    #expect(later.reaches(.cached, request))
    #expect(body.firstDifference(try later.opened(request).readAll()) == nil)
    #expect(user.origin.sent("/a.mp3") <= body.size + 4 << 20)
  }

  /// Not a second later, when the daemon tells.
  @Test func whatHasBeenReadIsToldAsReceived() throws {
    let client = try user.client()
    let body = TestBody(seed: 77, size: 5_000_000)
    let request = user.serve(body, at: "/slow.mp3", .with { $0.rate = 2_000_000 })
    let episode = try client.opened(request)
    _ = try episode.read(at: 0, 300_000)
    let received = client.status(of: request.key)?.received ?? 0
    #expect(received > 290_000)
    episode.close()
  }
}
