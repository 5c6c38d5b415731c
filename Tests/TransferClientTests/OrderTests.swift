import Configuration
import EpisodeCache
import Glibc
import HTTPServerKit
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// What was ordered last holds, whatever happens meanwhile.
@Suite struct OrderTests {
  let user: TransferFixture

  init() throws { user = try TransferFixture() }

  /// What the user paused stays paused when the daemon is killed, though somebody has it open.
  @Test func aPausedDownloadThatIsOpenStaysPausedAcrossACrash() throws {
    let body = TestBody(seed: 4, size: 4_000_000)
    let request = user.serve(body, .with { $0.rate = 300_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    #expect(client.status(of: request.key)?.state == .paused)
    #expect(user.killDaemon())
    // Something else starts it again.
    let other = user.serve(TestBody(seed: 5, size: 10_000), at: "/b.mp3")
    #expect(client.confirmed { $0.order(.start(other), completion: $1) })
    #expect(client.reaches(.cached, other))
    #expect(!client.reaches(.downloading, request, within: 2))
    #expect(client.status(of: request.key)?.state == .paused)
    episode.close()
  }

  /// What was cancelled while a fresh address was looked for stays cancelled.
  @Test func aDownloadCancelledWhileItsAddressIsLookedForIsNotFailed() throws {
    let request = user.serve(TestBody(seed: 6, size: 100_000), .with { $0.status = 404 })
    let client = try user.client()
    let asked = Monitor(false)
    client.setAddressHandler { _, _ in asked.withLockNotifying { $0 = true } }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(asked.wait(until: .after(patience)) { $0 ? true : nil } == true)
    #expect(client.confirmed { $0.order(.drop(request.key), completion: $1) })
    #expect(client.status(of: request.key)?.state == .remote)
    client.freshAddress(request.key, nil)
    #expect(
      !client.reaches(.failed, request, within: 2), "\(String(describing: client.status(of: request.key)))")
  }

  /// An episode of trigger=never that has failed once can be read when the host has it again.
  @Test func whatIsOnlyReadIsTriedAgainAfterItHasFailed() throws {
    let body = TestBody(seed: 8, size: 100_000)
    let request = user.serve(body, .with { $0.status = 404 })
    let client = try user.client()
    let first = try client.opened(request, .fetchOnly)
    #expect(first.readFailure(at: 0)?.errno == .EIO)
    first.close()
    user.origin.change("/a.mp3") { $0.behaviour.status = nil }
    // Not within ten seconds of the failure.
    #expect(
      eventually {
        guard let again = try? client.opened(request, .fetchOnly) else { return false }
        defer { again.close() }
        return again.readFailure(at: 0, 4096) == nil
      })
  }

  /// Generations long ago must not make a reader of today wait.
  @Test func generationsOfOldDoNotSlowWhoFetchesJustWhatIsRead() throws {
    let client = try user.client()
    var request = user.serve(TestBody(seed: 20, size: 4_000_000))
    for number in 0..<5 {
      request = user.serve(TestBody(seed: 21 + UInt64(number), size: 4_000_000))
      let episode = try client.opened(request, .fetchOnly)
      // The old one's reader hears that it is stale; a new one then reads.
      if episode.readFailure(at: Int64(number) * 200_000) != nil {
        episode.close()
        let again = try client.opened(request, .fetchOnly)
        _ = try again.read(at: Int64(number) * 200_000, 4096)
        again.close()
      }
      episode.close()
    }
    // A whole answer may have brought more than was read, so that the last change is met only now.
    var episode = try client.opened(request, .fetchOnly)
    for _ in 0..<2 where episode.readFailure(at: 3_990_000) != nil {
      episode.close()
      episode = try client.opened(request, .fetchOnly)
    }
    for place in 0..<12 { _ = try episode.read(at: 1_000_000 + Int64(place) * 200_000, 4096) }
    #expect(
      client.status(of: request.key)?.error == nil, "\(String(describing: client.status(of: request.key)))")
  }

  /// As in the test above, without generations: to compare.
  @Test func whoFetchesJustWhatIsReadIsServedAtOnce() throws {
    let client = try user.client()
    let request = user.serve(TestBody(seed: 20, size: 4_000_000))
    let episode = try client.opened(request, .fetchOnly)
    for place in 0..<12 { _ = try episode.read(at: 1_000_000 + Int64(place) * 200_000, 4096) }
    #expect(
      client.status(of: request.key)?.error == nil, "\(String(describing: client.status(of: request.key)))")
  }

  /// An address that became known otherwise while the mounts were asked for it is tried.
  @Test(arguments: [true, false]) func anAddressThatAnOpenBringsMeanwhileIsTried(_ answers: Bool) throws {
    let body = TestBody(seed: 41, size: 100_000)
    let request = user.serve(body, .with { $0.status = 404 })
    let client = try user.client()
    let asked = Monitor(false)
    client.setAddressHandler { _, _ in asked.withLockNotifying { $0 = true } }
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(asked.wait(until: .after(patience)) { $0 ? true : nil } == true)
    // The feed has been refreshed: whoever starts it now says the new address.
    var fresh = request
    fresh.url = user.serve(body, at: "/fresh.mp3").url
    #expect(client.confirmed { $0.order(.start(fresh), completion: $1) })
    if answers { client.freshAddress(request.key, fresh.url) }
    #expect(
      client.reaches(.cached, request, ), "\(String(describing: client.status(of: request.key)))")
  }

  /// A limit that is lifted holds nothing back any more.
  @Test func aLiftedRateLimitLetsDownloadsGoOn() throws {
    let request = user.serve(TestBody(seed: 42, size: 1_000_000))
    let slow = try user.client { $0.limitRate = 1000 }
    #expect(slow.confirmed { $0.order(.start(request), completion: $1) })
    #expect(slow.reaches(.downloading, request))
    // Some of it has come, and the rest is held back.
    #expect(eventually { slow.status(of: request.key)?.received ?? 0 > 0 })
    let free = try user.client()
    #expect(free.reaches(.cached, request), "\(String(describing: free.status(of: request.key)))")
  }
}
