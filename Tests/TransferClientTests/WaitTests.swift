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
    let request = user.serve(body, .with { $0.stallAfter = 100_000 })
    let client = try user.client { settings in
      settings.readTimeout = 0.7
      settings.stallTimeout = 30
    }
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
    let start = MonotonicTime.now
    #expect(episode.readFailure(at: 500_000, 4096, within: 5)?.errno == .EIO)
    #expect(MonotonicTime.now.seconds(since: start) < 3)
  }

  @Test func bytesThatComeKeepTheReaderWaiting() throws {
    // Without a validator there is no way but to wait for the running response.
    let request = user.serve(
      body,
      .with {
        $0.rate = 400_000
        $0.omitsValidators = true
      })
    let client = try user.client { $0.readTimeout = 0.8 }
    let episode = try client.opened(request)
    // Two seconds and more for what it wants, never 0.8 without a byte.
    #expect(body.firstDifference(try episode.read(at: 900_000, 4096), at: 900_000) == nil)
    #expect(user.origin.requests.count == 1)
  }

  @Test func anOpenWhoseSizeCantBeLearntFails() throws {
    let request = user.serve(body, .with { $0.latency = 60 })
    let client = try user.client { $0.readTimeout = 0.5 }
    let start = MonotonicTime.now
    #expect(client.openFailure(request, within: 5)?.errno == .EIO)
    #expect(MonotonicTime.now.seconds(since: start) < 3)
  }

  @Test func aWaitThatIsGivenUpEndsAtOnce() throws {
    let request = user.serve(body, .with { $0.stallAfter = 100_000 })
    let client = try user.client()
    let episode = try client.opened(request)
    let answer = Monitor<TransferFailure??>(nil)
    let wait = episode.whenAvailable(at: 500_000, count: 4096) { failure in
      answer.withLockNotifying { $0 = .some(failure) }
    }
    let start = MonotonicTime.now
    wait.cancel()
    let failure = answer.wait(until: .after(5)) { $0 }
    #expect(failure??.errno == .EINTR)
    #expect(MonotonicTime.now.seconds(since: start) < 0.5)
    wait.cancel()

    let opened = Monitor<Result<any OpenEpisode, TransferFailure>?>(nil)
    let silent = user.serve(body, at: "/silent.mp3", .with { $0.latency = 60 })
    let open = client.open(silent, intent: .download) { result in
      opened.withLockNotifying { $0 = result }
    }
    open.cancel()
    guard case .failure(let why) = opened.wait(until: .after(5), for: { $0 }) else {
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
    #expect(episode.readFailure(at: 500_000, 4096, within: 10)?.message == "404 Not Found from 127.0.0.1")
    #expect(body.firstDifference(try episode.read(at: 0, 65_536)) == nil)
  }

  @Test func manyReadersAndAQueueAreServedWithoutAThreadEach() throws {
    let client = try user.client { $0.perHost = 8 }
    // A thousand in the queue of a host that says nothing, two hundred readers waiting for theirs.
    for number in 0..<1000 {
      user.origin.serve("/queued/\(number).mp3", silent(number))
    }
    let orders = Monitor(0)
    for number in 0..<1000 {
      let request = TransferFixture.request(user.origin.url("/queued/\(number).mp3"))
      client.start(request) { _ in orders.withLockNotifying { $0 += 1 } }
    }
    #expect(orders.wait(until: .after(30)) { $0 == 1000 ? true : nil } == true)
    let waiting = Monitor(0)
    for number in 0..<200 {
      let path = "/open/\(number).mp3"
      user.origin.serve(path, silent(number))
      _ = client.open(TransferFixture.request(user.origin.url(path)), intent: .download) { _ in
        waiting.withLockNotifying { $0 += 1 }
      }
    }
    #expect(eventually(within: 30) { user.origin.active >= 200 })

    // Beside them a file is fetched and read, and what is here is read at once.
    let request = user.serve(body)
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    let daemon = try #require(user.daemon)
    #expect(threads(of: daemon) <= 12)
    #expect(client.allStatuses().count == 1201)
    #expect(waiting.withLock { $0 } == 0)
    print("daemon: \(threads(of: daemon)) threads, \(residentKilobytes(of: daemon)) KiB")
  }

  private func silent(_ number: Int) -> OriginResource {
    var resource = OriginResource(TestBody(seed: UInt64(number), size: 100_000))
    resource.behaviour.latency = 300
    return resource
  }

  private func threads(of process: Int32) -> Int {
    (try? Directories.names(in: "/proc/\(process)/task").count) ?? 0
  }

  private func residentKilobytes(of process: Int32) -> Int {
    let bytes = (try? Directories.read("/proc/\(process)/status")) ?? []
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
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
    let order = client.pause(request) { failure in end.withLockNotifying { $0 = .some(failure) } }
    #expect(end.wait(until: .after(0.2)) { $0 } == nil)
    order.cancel()
    #expect(end.wait(until: .after(5)) { $0 }??.errno == .EINTR)
  }
}
