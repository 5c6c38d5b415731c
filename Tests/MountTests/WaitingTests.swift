import Glibc
import PosixKit
import TestSupport
import Testing

/// What one episode waits for delays nothing else, and a signal ends every wait.
@Suite struct WaitingTests {
  /// Before anything else ends a wait: orders are given up after 30 seconds, reads after 60.
  private static let soon = 25.0

  @Test func besideFortyStalledReadersTheRestIsServedAtOnce() throws {
    let fixture = try MountFixture()
    var feed = TestFeed(MountFixture.podcast)
    let stalled = TestBody(seed: 9, size: 1_000_000)
    for number in 1...40 {
      var resource = OriginResource(stalled)
      resource.behaviour.stallAfter = 100_000
      let url = fixture.origin.serve("/stalled/\(number).mp3", resource)
      feed.items.append(
        TestFeed.Item(
          "Stalled \(number)", url: url, guid: "s\(number)", published: 1_704_067_200, length: stalled.size))
    }
    feed.items.append(
      TestFeed.Item(
        "Whole", url: fixture.origin.url("/1.mp3"), guid: "w", published: 1_704_067_200, length: 300_000))
    fixture.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    try fixture.mount(options: "min_free=0,stall_timeout=600,read_timeout=600")
    try fixture.makeSearch()
    let names = try fixture.list(fixture.podcastPath)
    let whole = "\(fixture.podcastPath)/2024-01-01 041 - Whole.mp3"
    #expect(try fixture.isWhole(whole, 1))
    let readers = try names.filter { $0.contains("Stalled") }.map {
      try RunningProcess(
        "md5sum", ["\(fixture.podcastPath)/\($0)"], environment: fixture.environment.variables)
    }
    #expect(readers.count == 40)
    #expect(fixture.origin.wait { $0.count { $0.path.contains("stalled") } == 40 })
    // Each of these would wait for the stall's end (ten minutes) if it waited for a reader at all.
    let start = MonotonicTime.now
    for _ in 0..<10 {
      #expect(try fixture.isWhole(whole, 1))
      _ = try fixture.status("\(fixture.podcastPath)/\(names[20])")
      #expect(try fixture.list(fixture.podcastPath).count == 41)
      #expect(try fixture.attribute("state", whole) == "cached")
    }
    #expect(MonotonicTime.now.seconds(since: start) < 300)
    for reader in readers { reader.signal(SIGTERM) }
    for reader in readers { #expect(reader.wait() == .signal(SIGTERM)) }
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func everyWaitEndsAtASignal(signal: Int32) throws {
    let fixture = try MountFixture()
    fixture.directory.list([
      DirectoryService.Listing("Harbour Lights", feedURL: fixture.origin.url("/feed.xml"), id: 1),
      DirectoryService.Listing("Harbour lights hang", feedURL: fixture.origin.url("/hang.xml"), id: 2),
    ])
    fixture.origin.serve("/hang.xml", OriginResource("", mediaType: "application/rss+xml"))
    fixture.origin.change("/hang.xml") { $0.behaviour.latency = 600 }
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    fixture.origin.change("/1.mp3") { $0.behaviour.stallAfter = 100_000 }
    fixture.origin.change("/2.mp3") { $0.behaviour.latency = 600 }
    fixture.directory.behave(.with { $0.latency = 600 })
    let hanging = fixture.searchPath + "/Harbour lights hang"
    let calls = [
      ["cat", fixture.episode(1)], ["cat", fixture.episode(2)], ["ls", hanging], ["stat", hanging + "/x"],
      ["mkdir", fixture.root + "/Search/other"],
      ["mv", "-T", fixture.searchPath, fixture.root + "/Search/another"],
    ]
    for call in calls {
      let process = try RunningProcess(
        call[0], Array(call.dropFirst()), environment: fixture.environment.variables)
      // It sleeps in the kernel once it waits.
      #expect(eventually { Self.isWaiting(process.id) }, "\(call)")
      process.signal(signal)
      #expect(process.wait(seconds: Self.soon) == .signal(signal), "\(call)")
    }
    #expect(try fixture.list(fixture.root + "/Search") == [MountFixture.search])
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func alsoADirectReadEndsAtASignal(signal: Int32) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    fixture.origin.change("/1.mp3") { $0.behaviour.stallAfter = 100_000 }
    let process = try RunningProcess(
      "dd", ["if=\(path)", "of=/dev/null", "bs=1M", "iflag=direct"],
      environment: fixture.environment.variables)
    // dd reads from descriptor 0.
    #expect(
      eventually {
        Directories.linkTarget("/proc/\(process.id)/fd/0") == path && Self.isWaiting(process.id)
      })
    process.signal(signal)
    #expect(process.wait(seconds: Self.soon) == .signal(signal))
  }

  /// As for a change of the window's size, a timer, a debugger.
  @Test func aSignalThatEndsNoProgramEndsNoWait() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    fixture.origin.change("/1.mp3") { $0.behaviour.latency = 2 }
    fixture.directory.behave(.with { $0.latency = 2 })
    PosixThread.allowWaking()
    let (episode, search) = (fixture.episode(1), fixture.root + "/Search/other")
    let calls: [@Sendable () -> Int32] = [
      {
        let file = Glibc.open(episode, O_RDONLY)
        if file >= 0 { close(file) }
        return file
      }, { mkdir(search, 0o755) },
    ]
    for call in calls {
      let thread = Monitor<(identity: PosixThread.Identity, number: Int32)?>(nil)
      let outcome = Monitor<Errno??>(nil)
      PosixThread.start("waiting") {
        thread.withLockNotifying { $0 = (.current, PosixThread.currentID) }
        let errno = call() < 0 ? Errno.current : nil
        outcome.withLockNotifying { $0 = .some(errno) }
      }
      let waiting = try #require(thread.wait(until: .after(patience)) { $0 })
      #expect(eventually { Self.isWaiting(waiting.number) })
      waiting.identity.wake()
      #expect(outcome.wait(until: .after(patience)) { $0 } == .some(nil))
    }
  }

  /// Ctrl-Z and fg; then Ctrl-C, of which the kernel tells nobody any more.
  @Test func whoWasStoppedWaitsOnAndCanStillBeEnded() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    fixture.origin.change("/1.mp3") { $0.behaviour.latency = 2 }
    fixture.origin.change("/2.mp3") { $0.behaviour.latency = 600 }
    func stopped(_ number: Int) throws -> RunningProcess {
      let process = try RunningProcess(
        "cmp", [fixture.episode(number), "/dev/null"], environment: fixture.environment.variables)
      #expect(eventually { Self.isWaiting(process.id) })
      process.signal(SIGTSTP)
      process.signal(SIGCONT)
      return process
    }
    let first = try stopped(1)
    #expect(first.wait() == .exit(1))
    #expect(!first.errors.contains("Interrupted"), "\(first.errors)")
    let second = try stopped(2)
    second.signal(SIGINT)
    #expect(second.wait(seconds: Self.soon) == .signal(SIGINT))
  }

  /// The kernel reports no signal to a reader of its pages. After a handled one, only SIGKILL ends such a wait by itself.
  @Test(arguments: [[SIGTSTP, SIGCONT], [SIGWINCH]])
  func alsoAReaderOfPagesCanBeEnded(signals: [Int32]) throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    fixture.origin.change("/1.mp3") { $0.behaviour.stallAfter = 100_000 }
    // A shell that handles a change of the window's size, and reads by itself.
    let process = try RunningProcess(
      "bash", ["-c", "trap : WINCH; read -r -N 200000 x <'\(path)'"],
      environment: fixture.environment.variables)
    #expect(eventually { Self.place(of: process.id).contains("folio") })
    for signal in signals { process.signal(signal) }
    process.signal(SIGTERM)
    #expect(process.wait(seconds: Self.soon) == .signal(SIGTERM))
  }

  @Test(arguments: [SIGTERM, SIGKILL])
  func alsoWhereTheDaemonHangs(signal: Int32) throws {
    let fixture = try MountFixture(rate: 100_000)
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    _ = try Directories.read(path, limit: 1000)
    let daemon = try #require(fixture.daemon)
    kill(daemon, SIGSTOP)
    defer { kill(daemon, SIGCONT) }
    for call in [
      ["setfattr", "-n", "user.podcastfs.state", "-v", "paused", path],
      ["setfattr", "-n", "user.podcastfs.keep", "-v", "1", path],
      ["rm", "-f", "\(fixture.root)/Downloading/2024-01-01 - Harbour Lights - Part 1.mp3"],
      ["cat", fixture.episode(2)], ["cat", path],
    ] {
      let process = try RunningProcess(
        call[0], Array(call.dropFirst()), environment: fixture.environment.variables)
      #expect(eventually { Self.isWaiting(process.id) }, "\(call)")
      process.signal(signal)
      #expect(process.wait(seconds: Self.soon) == .signal(signal), "\(call)")
    }
    // What needs no daemon is there.
    #expect(try fixture.attribute("state", path) == "downloading")
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
  }

  /// Whether a process waits for an answer of a file system in user space.
  static func isWaiting(_ process: Int32) -> Bool {
    let place = place(of: process)
    return place.contains("request_wait_answer") || place.contains("folio_wait") || place.contains("fuse")
  }

  /// The kernel's function that a process sleeps in.
  private static func place(of process: Int32) -> String {
    String(decoding: (try? Directories.read("/proc/\(process)/wchan", limit: 256)) ?? [], as: UTF8.self)
  }
}
