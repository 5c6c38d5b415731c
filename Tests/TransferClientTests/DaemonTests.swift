import Configuration
import EpisodeCache
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// The daemon as a process: one per user, started when wanted, gone when idle.
@Suite struct DaemonTests {
  let user: TransferFixture
  let body = TestBody(seed: 61, size: 400_000)

  init() throws { user = try TransferFixture() }

  private func startDaemon(_ extra: [String] = []) throws -> RunningProcess {
    try RunningProcess(
      Products.path("podcastfs-transferd"),
      [
        "--state", user.places.state, "--cache", user.places.cache, "--runtime", user.places.runtime,
      ] + extra, environment: user.environment.variables)
  }

  @Test func itEndsWhenNobodyWantsAnythingAndIsNotStartedAgainForNothing() throws {
    let daemon = try startDaemon(["--idle", "1"])
    #expect(eventually { DaemonPlace.socket(in: self.user.places.state) != nil })
    let client = try user.client()
    let request = user.serve(body)
    let episode = try client.opened(request)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(client.reaches(.cached, request))
    episode.close()
    #expect(daemon.wait() == .exit(0))
    #expect(user.daemon == nil)
    // What is here is read without it.
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(user.daemon == nil)
    // What is not starts it.
    let other = user.serve(body, at: "/b.mp3")
    #expect(body.firstDifference(try client.opened(other).readAll()) == nil)
    #expect(user.daemon != nil)
  }

  @Test func aSecondOneLeavesTheFieldToTheFirst() throws {
    let first = try startDaemon()
    #expect(eventually { self.user.daemon == first.id })
    #expect(eventually { DaemonPlace.socket(in: self.user.places.state) != nil })
    let second = try startDaemon()
    #expect(second.wait() == .exit(0))
    #expect(user.daemon == first.id)
    first.signal(SIGTERM)
    #expect(first.wait() == .exit(0))
  }

  @Test func aClientWithAnotherRuntimeDirectoryFindsIt() throws {
    let client = try user.client()
    let request = user.serve(body, .with { $0.rate = 1_000_000 })
    let episode = try client.opened(request)
    let daemon = user.daemon
    var places = user.places
    places.runtime = user.environment.home.path("elsewhere")
    places.cache = user.environment.home.path("nothing-here")
    let other = try TransferClient(
      places: places, settings: Settings(), isMount: false, daemon: Products.path("podcastfs-transferd"))
    #expect(body.firstDifference(try other.opened(request).readAll()) == nil)
    #expect(body.firstDifference(try episode.readAll()) == nil)
    #expect(user.daemon == daemon)
    #expect(user.origin.requests.count == 1)
  }

  @Test func theLatestMountsOptionsHoldAfterARestart() throws {
    let client = try user.client { $0.limitRate = 5000 }
    let request = user.serve(body)
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    client.stop()
    #expect(user.killDaemon())
    // A command brings no options.
    let command = try user.client(isMount: false) { $0.limitRate = nil }
    command.resumeUnfinished()
    #expect(command.reaches(.downloading, request))
    let start = command.status(of: request.key)?.received ?? 0
    #expect(!command.reaches(.cached, request, within: 1))
    #expect((command.status(of: request.key)?.received ?? 0) < start + 300_000)
  }

  @Test func itEndsInOrderWhenItIsAskedTo() throws {
    let client = try user.client()
    let request = user.serve(body, .with { $0.rate = 300_000 })
    #expect(client.confirmed { $0.order(.start(request), completion: $1) })
    #expect(eventually { (client.status(of: request.key)?.received ?? 0) > 50_000 })
    client.stop()
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    #expect(eventually { !self.user.isRunning(daemon) })
    // All that had come is in the journal, and the files of the process are gone.
    let journal = RangeJournal(reading: user.layout.journal(request.key, user.generation(request)))
    #expect(journal.durable.count > 50_000)
    #expect(user.daemon == nil)
  }

  @Test func itServesOnASocketThatItWasStartedWith() throws {
    try Directories.createPrivate(user.places.runtime)
    let path = DaemonPlace.socket(runtime: user.places.runtime)
    let listener = try UnixSocket.listen(at: path)
    // As a service manager does (sd_listen_fds(3)).
    let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\""
    let daemon = try RunningProcess(
      "sh",
      [
        "-c", script, Products.path("podcastfs-transferd"), "--state", user.places.state, "--cache",
        user.places.cache, "--runtime", user.places.runtime,
      ], environment: user.environment.variables, third: listener.rawValue)
    #expect(eventually { DaemonPlace.socket(in: self.user.places.state) == path })
    let client = try user.client()
    #expect(body.firstDifference(try client.opened(user.serve(body)).readAll()) == nil)
    #expect(user.daemon == daemon.id)
    client.stop()
    daemon.signal(SIGTERM)
    #expect(daemon.wait() == .exit(0))
    // The socket is the service manager's.
    #expect(access(path, F_OK) == 0)
  }

  @Test func itEndsWhenItsSocketIsDeleted() throws {
    let daemon = try startDaemon()
    #expect(eventually { DaemonPlace.socket(in: self.user.places.state) != nil })
    unlink(DaemonPlace.socket(runtime: user.places.runtime))
    #expect(daemon.wait() == .exit(0))
  }

  @Test func filesThatNobodySpeaksOfAreRemoved() throws {
    try user.layout.create()
    let stray = user.layout.data(MediaKey(address: "http://example.org/gone.mp3"), 3)
    try Directories.replace(stray, with: [1, 2, 3])
    let daemon = try startDaemon()
    #expect(eventually { access(stray, F_OK) != 0 })
    daemon.signal(SIGTERM)
  }

  @Test func whatIsNoMessageEndsTheConnectionAndNothingElse() throws {
    let client = try user.client()
    let request = user.serve(body, .with { $0.rate = 400_000 })
    let episode = try client.opened(request)
    let socket = try #require(DaemonPlace.socket(in: user.places.state))
    for bytes in [[0xff, 0xff, 0xff, 0xff], [1, 0, 0, 0, 99], [0, 0, 0, 0]] as [[UInt8]] {
      let hostile = try UnixSocket.connect(to: socket)
      try bytes.withUnsafeBytes { try hostile.append($0) }
      #expect(
        eventually {
          var byte: UInt8 = 0
          return recv(hostile.rawValue, &byte, 1, Int32(MSG_DONTWAIT)) == 0
        })
    }
    #expect(body.firstDifference(try episode.readAll()) == nil)
  }

  @Test func itIsASessionOfItsOwnWithNothingOfOurs() throws {
    let client = try user.client()
    _ = try client.opened(user.serve(body))
    let daemon = try #require(user.daemon)
    #expect(getsid(daemon) == daemon)
    var buffer = [CChar](repeating: 0, count: 64)
    readlink("/proc/\(daemon)/cwd", &buffer, 63)
    #expect(String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) == "/")
    client.stop()
  }
}
