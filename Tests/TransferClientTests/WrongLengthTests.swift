import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// A data file of what is cached was cut, or made longer, by a backup that was put back, or by a crash: nobody need read
/// it to know.
@Suite struct WrongLengthTests {
  let user: TransferFixture
  let body = TestBody(seed: 53, size: 5_000_000)

  init() throws { user = try TransferFixture() }

  private func path(_ request: TransferRequest) -> String { user.layout.data(request.key, 1) }

  /// One that is cached and kept; the daemon has ended in order.
  private func left() throws -> TransferRequest {
    let client = try user.client()
    defer { client.stop() }
    let request = user.serve(body)
    #expect(client.confirmed { $0.start(request, completion: $1) })
    #expect(client.confirmed { $0.setKept(request, true, completion: $1) })
    #expect(client.reaches(.cached, request))
    #expect(user.filesAreClosed(request, 1))
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    #expect(eventually { !self.user.isRunning(daemon) })
    return request
  }

  private func lengthen(_ request: TransferRequest) throws {
    let file = try FileDescriptor(opening: path(request), O_WRONLY)
    try file.write([UInt8](repeating: 0xee, count: 1000), at: body.size)
  }

  private func status(_ request: TransferRequest, _ client: TransferClient) -> [String] {
    let status = client.status(of: request.key)
    return ["\(status?.state ?? .failed)", "\(status?.received ?? -1)", "\(status?.isKept ?? false)"]
  }

  @Test(arguments: [0, 500_000, 3_000_000, 4_999_999]) func whatIsCutIsNotCached(_ size: Int64) throws {
    let request = try left()
    #expect(truncate(path(request), off_t(size)) == 0)
    let rest = size / (1 << 20) * (1 << 20)
    let looking = try user.client(isMount: false)
    looking.waitUntilCurrent(until: .after(patience))
    #expect(status(request, looking) == ["remote", "\(rest)", "true"])
    #expect(user.daemon == nil)
    looking.stop()

    // The host is away.
    user.origin.change("/a.mp3") { $0.behaviour.status = 503 }
    let client = try user.client { $0.readTimeout = 1 }
    let episode = try client.opened(request)
    #expect(eventually { self.user.daemon != nil })
    if rest > 0 { #expect(body.firstDifference(try episode.read(at: 0, Int(rest)), at: 0) == nil) }
    let failure = #expect(throws: TransferFailure.self) { try episode.read(at: 4_800_000, 1000) }
    #expect(failure?.errno == .EIO && failure?.message.contains("503") == true, "\(failure?.message ?? "")")
    #expect(client.status(of: request.key)?.received == rest)
    client.stop()

    // And back.
    let again = try user.client()
    user.origin.change("/a.mp3") { $0.behaviour.status = nil }
    let before = user.origin.sent("/a.mp3")
    #expect(body.firstDifference(try again.opened(request).readAll()) == nil)
    #expect(again.reaches(.cached, request))
    #expect(again.status(of: request.key)?.isKept == true)
    #expect(user.origin.sent("/a.mp3") - before <= body.size - rest + 65_536)
    again.stop()
  }

  @Test func whatIsLongerIsCachedWhenItWasCompared() throws {
    let request = try left()
    try lengthen(request)
    let looking = try user.client(isMount: false)
    looking.waitUntilCurrent(until: .after(patience))
    #expect(status(request, looking) == ["remote", "\(4 << 20)", "true"])
    looking.stop()
    user.origin.change("/a.mp3") { $0.behaviour.status = 503 }
    let client = try user.client()
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
    #expect(user.layout.length(request.key, 1) == body.size)
    #expect(user.origin.requests("/a.mp3").count == 1)
    client.stop()
  }

  /// What is copied over it is longer, and something else: nobody opens it.
  @Test func anotherFileIsNothing() throws {
    let request = try left()
    let other = TestBody(seed: 54, size: 6_000_000)
    try other.bytes(0..<other.size).withUnsafeBytes { bytes in
      let file = try FileDescriptor(opening: path(request), O_WRONLY | O_TRUNC)
      try file.write(Array(bytes), at: 0)
    }
    let client = try user.client()
    client.makeReady()
    #expect(eventually { self.status(request, client) == ["remote", "0", "true"] })
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
    client.stop()
  }

  /// Observers hear of it, with a daemon and without one.
  @Test(arguments: [true, false], [true, false])
  func whatIsCutUnderAMountIsKnownAtOnce(_ hasDaemon: Bool, _ isNamed: Bool) throws {
    let request = try left()
    let client = try user.client()
    if hasDaemon {
      client.makeReady()
      #expect(eventually { self.user.daemon != nil })
    }
    // From then on it watches.
    client.waitUntilCurrent(until: .after(patience))
    let heard = Monitor<[TransferState?]>([])
    client.observe(
      { key in heard.withLockNotifying { $0.append(client.status(of: key)?.state) } }, settle: { $0() })
    let copy = try Directories.read(path(request))
    if isNamed {
      // Nobody is told of that: it is heard of when somebody looks.
      #expect(truncate(path(request), 3_000_000) == 0)
      #expect(client.status(of: request.key)?.state == .remote)
    } else {
      _ = try ChildProcess.run(["truncate", "-s", "3000000", path(request)])
    }
    #expect(heard.wait(until: .after(patience)) { $0.last == .remote ? true : nil } == true)
    let file = try FileDescriptor(opening: path(request), O_WRONLY)
    try file.write(copy, at: 0)
    _ = consume file
    #expect(heard.wait(until: .after(patience)) { $0.last == .cached ? true : nil } == true)
    #expect(eventually { self.status(request, client) == ["cached", "5000000", "true"] })
    client.stop()
  }
}
