import CTestLinux
import Glibc
import PosixKit
import TestSupport
import Testing

/// Where a service manager keeps descriptors (sd_pid_notify_with_fds(3)), it does what the keeper does elsewhere: played
/// by the test, as systemd does it.
@Suite struct ServiceManagerTests {
  private final class Manager {
    let socket: FileDescriptor
    let path: String
    private(set) var kept: [String: Int32] = [:]
    private(set) var words: [String] = []

    init(_ environment: TestEnvironment) throws {
      path = environment.home.path("notify")
      socket = try UnixSocket.listen(at: path, kind: .datagram)
      _ = fcntl(socket.rawValue, F_SETFL, 0)
      var limit = timeval(tv_sec: 20, tv_usec: 0)
      setsockopt(socket.rawValue, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { forget() }

    /// Lets go of what it keeps.
    func forget() {
      for descriptor in kept.values { close(descriptor) }
      kept = [:]
    }

    /// Takes messages up to the one that begins so.
    func listen(until beginning: String) -> Bool {
      var text = [CChar](repeating: 0, count: 4096)
      while true {
        var descriptor: Int32 = -1
        let length = test_receive(socket.rawValue, &text, UInt(text.count), &descriptor)
        if length < 0 { return false }
        let message = String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        words.append(message)
        let name = message.split(separator: "\n").first { $0.hasPrefix("FDNAME=") }?.dropFirst(7)
        if let name, descriptor >= 0 { kept[String(name)] = descriptor }
        if let name, message.hasPrefix("FDSTOREREMOVE=1"), let old = kept.removeValue(forKey: String(name)) {
          close(old)
        }
        if message.hasPrefix(beginning) { return true }
      }
    }

    /// Starts the service, with what is kept.
    func start(_ fixture: MountFixture) throws -> RunningProcess {
      var variables = fixture.environment.variables
      variables["NOTIFY_SOCKET"] = path
      variables["FDSTORE"] = "2"
      let command = "exec \"\(Products.path("podcastfs"))\" mount -f -o min_free=0 \"\(fixture.root)\""
      let names = kept.keys.sorted()
      if names.isEmpty { return try RunningProcess("sh", ["-c", command], environment: variables) }
      variables["LISTEN_FDS"] = "\(names.count)"
      variables["LISTEN_FDNAMES"] = names.joined(separator: ":")
      return try RunningProcess(
        "sh", ["-c", "LISTEN_PID=$$; export LISTEN_PID; " + command], environment: variables,
        third: kept[names[0]], fourth: kept[names[1]])
    }
  }

  @Test func itKeepsTheMountForTheNextProcess() throws {
    let fixture = try MountFixture(size: 2_000_000, rate: 1_000_000)
    let manager = try Manager(fixture.environment)
    let first = try manager.start(fixture)
    #expect(manager.listen(until: "READY=1"), "\(first.errors)")
    #expect(manager.kept.count == 2 && fixture.keepers.isEmpty)
    #expect(manager.words.filter { $0.hasPrefix("FDSTORE=1") }.allSatisfy { $0.contains("FDPOLL=0") })
    try fixture.makeSearch()
    let expected = try fixture.environment.home.write("expected", fixture.bodies[0].bytes)
    let reader = try RunningProcess(
      "cmp", [fixture.episode(1), expected], environment: fixture.environment.variables)
    #expect(
      try eventually {
        try fixture.attribute("bytes_received", fixture.episode(1)).flatMap { Int($0) } ?? 0 > 300_000
      })
    // All that is there of the mount, and of the downloads, dies at once.
    first.signal(SIGKILL)
    if let daemon = fixture.daemon { kill(daemon, SIGKILL) }
    #expect(first.wait() == .signal(SIGKILL))
    let second = try manager.start(fixture)
    #expect(manager.listen(until: "READY=1"), "\(second.errors)")
    #expect(reader.wait() == .exit(0), "\(reader.output)\(reader.errors)")
    #expect(!fixture.log.contains("the mount ends with its process"))
    // Wanted, it goes with a status that has it started again; whoever wants it finds the process that serves now.
    let restart = try RunningProcess(
      Products.path("podcastfs"), ["mount", "-o", "min_free=0,cache_size=3G", fixture.root],
      environment: fixture.environment.variables)
    #expect(second.wait() == .exit(75))
    let third = try manager.start(fixture)
    #expect(manager.listen(until: "READY=1"), "\(third.errors)")
    #expect(restart.wait() == .exit(0), "\(restart.errors)")
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    third.signal(SIGKILL)
    #expect(third.wait() == .signal(SIGKILL))
    let fourth = try manager.start(fixture)
    #expect(manager.listen(until: "READY=1"), "\(fourth.errors)")
    // What it was asked for then holds on.
    var status = statvfs()
    #expect(
      statvfs(fixture.root, &status) == 0 && UInt64(status.f_blocks) * UInt64(status.f_frsize) == 3 << 30)
    fourth.signal(SIGTERM)
    #expect(fourth.wait() == .exit(0))
    #expect(manager.listen(until: "FDSTOREREMOVE=1\nFDNAME=podcastfs-memory"))
    #expect(manager.kept.isEmpty)
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func aMountThatDiesAgainAndAgainIsGivenUp() throws {
    let fixture = try MountFixture()
    let manager = try Manager(fixture.environment)
    for _ in 0..<3 {
      let process = try manager.start(fixture)
      #expect(manager.listen(until: "READY=1"), "\(process.errors)")
      process.signal(SIGSEGV)
      #expect(process.wait() == .signal(SIGSEGV))
    }
    // The status that the unit starts no other after.
    #expect(try manager.start(fixture).wait() == .exit(70))
    #expect(fixture.log.contains("is given up: its process died again and again (signal 11)"))
    #expect(try fixture.list(fixture.root) == [])
    #expect(try fixture.run("doctor").output.contains("PROBLEM  the mount on \(fixture.root) is given up"))
  }

  /// The service manager has tried often enough to start a program that can't even begin.
  @Test func whatIsLeftDeadIsTakenAway() throws {
    let fixture = try MountFixture()
    let manager = try Manager(fixture.environment)
    let process = try manager.start(fixture)
    #expect(manager.listen(until: "READY=1"), "\(process.errors)")
    // One that is served is left alone.
    #expect(try fixture.run("--given-up").end == .exit(0))
    #expect(try !fixture.list(fixture.root).isEmpty)
    process.signal(SIGKILL)
    #expect(process.wait() == .signal(SIGKILL))
    manager.forget()
    #expect(try fixture.run("--given-up").end == .exit(0))
    #expect(fixture.log.contains("is given up"))
    #expect(try fixture.list(fixture.root) == [])
  }
}
