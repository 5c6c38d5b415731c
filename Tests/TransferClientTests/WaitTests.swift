import Configuration
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Every wait has a bound, and ends when its reader gives up.
@Suite struct WaitTests {
  let user: TransferFixture
  let body = TestBody(seed: 41, size: 1_000_000)

  init() throws { user = try TransferFixture() }

  @Test func aReaderWaitsNoLongerThanItsTimeWithoutAByte() throws {
    // Without a validator there is no way but to wait for the running response.
    let request = user.serve(
      body,
      .with {
        $0.stallAfter = 100_000
        $0.omitsValidators = true
      })
    let client = try user.client { settings in
      settings.readTimeout = 3
      settings.stallTimeout = 600
    }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    // Long before the response ends.
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EIO)
    #expect(client.status(of: request.key)?.reason == "nothing came from 127.0.0.1 for 3 s")
  }

  /// The kernel reads once more what has failed, and then the same for each other reader of the page: all are told after
  /// the time of one.
  @Test func whatHasJustFailedIsNotWaitedForAgain() throws {
    let body = TestBody(seed: 42, size: 3_000_000)
    let request = user.serve(
      body,
      .with {
        $0.stallAfter = 100_000
        $0.omitsValidators = true
      })
    let client = try user.client { settings in
      settings.readTimeout = 3
      settings.stallTimeout = 600
    }
    let (episode, other) = (try client.opened(request), try client.opened(request))
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EIO)
    let ended = Monitor<[String]>([])
    let waits = [
      other.whenAvailable(at: 2_600_000, count: 4096) { _ in ended.withLock { $0.append("elsewhere") } },
      episode.whenAvailable(at: 500_000, count: 4096) { _ in ended.withLock { $0.append("again") } },
      other.whenAvailable(at: 500_000, count: 4096) { _ in ended.withLock { $0.append("another") } },
    ]
    #expect(eventually { ended.withLock { $0 } == ["again", "another", "elsewhere"] })
    _ = waits
  }

  @Test func whoeverOpensAPausedEpisodeAgainReadsOn() throws {
    let request = user.serve(body) { $0.plan = [.with { $0.stallAfter = 100_000 }, .with { _ in }] }
    let client = try user.client { settings in
      settings.readTimeout = 1
      settings.stallTimeout = 600
    }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    #expect(client.confirmed { $0.order(.pause(request), completion: $1) })
    #expect(episode.readFailure(at: 500_000, 4096)?.message == "the download is paused")
    let again = try client.opened(request)
    #expect(body.firstDifference(try again.read(at: 500_000, 4096), at: 500_000) == nil)
  }

  /// Whoever reads after all that has the bytes, and nobody is told of a failure any more.
  @Test func whatComesAfterAllIsRead() throws {
    let request = user.serve(body) { resource in
      resource.plan = [.with { $0.stallAfter = 100_000 }, .with { $0.latency = 600 }]
    }
    let client = try user.client { settings in
      settings.readTimeout = 1
      settings.stallTimeout = 4
    }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EIO)
    #expect(client.status(of: request.key)?.reason == "nothing came from 127.0.0.1 for 1 s")
    #expect(eventually { client.status(of: request.key)?.state == .cached })
    #expect(client.status(of: request.key)?.reason == nil)
    #expect(body.firstDifference(try episode.read(at: 500_000, 4096), at: 500_000) == nil)
  }

  @Test func bytesThatComeKeepTheReaderWaiting() throws {
    // Without a validator there is no way but to wait for the running response.
    let request = user.serve(
      body,
      .with {
        $0.rate = 40_000
        $0.omitsValidators = true
      })
    let client = try user.client { $0.readTimeout = 5 }
    let episode = try client.opened(request)
    // Seven seconds and more for what it wants, never five without a byte.
    #expect(body.firstDifference(try episode.read(at: 300_000, 4096), at: 300_000) == nil)
    #expect(user.origin.requests.count == 1)
  }

  /// A host that sends the same beginning at each request and then nothing brings no new byte.
  @Test func theSameBytesAgainAndAgainKeepNoReaderWaiting() throws {
    let request = user.serve(
      body,
      .with {
        $0.stallAfter = 300_000
        $0.ignoresRange = true
      })
    let client = try user.client {
      $0.readTimeout = 4
      $0.stallTimeout = 1
    }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EIO)
    #expect(user.origin.requests.count > 2)
  }

  @Test func anOpenWhoseSizeCantBeLearntFails() throws {
    let request = user.serve(body, .with { $0.latency = 600 })
    let client = try user.client { $0.readTimeout = 2 }
    // Before the host answers.
    #expect(client.openFailure(request)?.errno == .EIO)
    #expect(client.status(of: request.key)?.reason == "nothing came from 127.0.0.1 for 2 s")
  }

  @Test func aWaitThatIsGivenUpEndsAtOnce() throws {
    let request = user.serve(body, .with { $0.stallAfter = 100_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    let answer = Monitor<TransferFailure??>(nil)
    let wait = episode.whenAvailable(at: 500_000, count: 4096) { failure in
      answer.withLockNotifying { $0 = .some(failure) }
    }
    wait.cancel()
    let failure = answer.wait(until: .after(patience)) { $0 }
    #expect(failure??.errno == .EINTR)
    wait.cancel()

    let opened = Monitor<Result<any OpenEpisode, TransferFailure>?>(nil)
    let silent = user.serve(body, at: "/silent.mp3", .with { $0.latency = 600 })
    let open = client.open(silent, intent: .download) { result in
      opened.withLockNotifying { $0 = result }
    }
    open.cancel()
    guard case .failure(let why) = opened.wait(until: .after(patience), for: { $0 }) else {
      Issue.record("the open did not end as cancelled")
      return
    }
    #expect(why.errno == .EINTR)
  }

  @Test func aReaderHearsAtOnceThatItsDownloadHasFailed() throws {
    let request = user.serve(body) { resource in
      resource.plan = [.with { $0.cutAfter = 100_000 }]
      resource.behaviour.status = 404
    }
    let client = try user.client()
    let episode = try client.opened(request)
    #expect(episode.readFailure(at: 500_000, 4096)?.message == "HTTP 404 (not found) from 127.0.0.1")
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
  }

  @Test func anOrderThatADaemonDoesNotTakeCanBeGivenUp() throws {
    let client = try user.client()
    let request = user.serve(body)
    _ = try client.opened(request).read(at: 0, 100)
    let daemon = try #require(user.daemon)
    // It hangs: nothing is read from its socket.
    kill(daemon, SIGSTOP)
    defer { kill(daemon, SIGCONT) }
    let end = Monitor<TransferFailure??>(nil)
    let order = client.order(.pause(request)) { failure in end.withLockNotifying { $0 = .some(failure) } }
    #expect(end.wait(until: .after(0.2)) { $0 } == nil)
    order.cancel()
    #expect(end.wait(until: .after(patience)) { $0 }??.errno == .EINTR)
  }

  @Test func whatIsAskedOfAStoppedClientEnds() throws {
    let request = user.serve(body, .with { $0.stallAfter = 100_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    client.stop()
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EINTR)
    #expect(client.openFailure(request)?.errno == .EINTR)
    #expect(!client.confirmed { $0.order(.pause(request), completion: $1) })
    #expect(episode.readFailure(at: 500_000, 4096)?.errno == .EINTR)
  }
}
