import Configuration
import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing
import TransferClient
import TransferProtocol

/// Who answers as the daemon, or asks it, is another user or another version.
@Suite struct StrangerTests {
  let user: TransferFixture
  let body = TestBody(seed: 31, size: 400_000)

  init() throws { user = try TransferFixture() }

  private var log: String {
    String(decoding: (try? Directories.read(user.places.logFile)) ?? [], as: UTF8.self)
  }

  private var findsDaemon: Bool { (try? greet(Frames.version, within: 0)) != nil }

  /// Holds the lock as a daemon does, and names a socket in it.
  private func lock(_ socket: String, holds: Bool = true) throws -> FileDescriptor {
    let file = try FileDescriptor(opening: DaemonPlace.lockFile(in: user.places.state), O_RDWR | O_CREAT)
    let isHeld = holds && file.tryLock(.exclusive)
    #expect(isHeld == holds)
    try file.write(Array((socket + "\n").utf8), at: 0)
    return file
  }

  @Test func whoAnswersMustHoldTheLock() throws {
    let path = user.places.runtime + "/posing.sock"
    let listener = try UnixSocket.listen(at: path)
    do {
      let unlocked = try lock(path, holds: false)
      #expect(!findsDaemon)
      let isLocked = unlocked.isLocked
      #expect(!isLocked)
    }
    let locked = try lock(path)
    #expect(findsDaemon)
    _ = (listener.rawValue, locked.rawValue)
  }

  @Test(.enabled(if: geteuid() == 0 && Products.isInstalled("perl"), "another user takes root, and perl"))
  func anotherUserWhoAnswersIsNotBelieved() throws {
    let folder = "/tmp/podcastfs-posing-\(getpid())"
    #expect(mkdir(folder, 0o777) == 0 && chmod(folder, 0o777) == 0)
    defer { rmdir(folder) }
    let path = folder + "/transferd.sock"
    defer { unlink(path) }
    // Tells all that it is told.
    let script = """
      use Socket; $| = 1; ($<, $>) = (65534, 65534);
      socket(L, AF_UNIX, SOCK_STREAM, 0); bind(L, sockaddr_un($ARGV[0])) or die; chmod 0666, $ARGV[0];
      listen(L, 5); print "listens\\n"; while (accept(C, L)) { print "told ", (sysread(C, $b, 4096) // 0), "\\n"; }
      """
    let stranger = try RunningProcess("perl", ["-e", script, path], environment: user.environment.variables)
    #expect(stranger.waitForOutput { $0.contains("listens") })
    let held = try lock(path)
    defer { _ = held.rawValue }
    #expect(!findsDaemon)
    let client = try user.client(isMount: false)
    _ = client.open(user.serve(body), intent: .download) { _ in }
    #expect(
      !stranger.waitForOutput(seconds: 1) {
        $0.split(separator: "\n").contains { $0 != "listens" && $0 != "told 0" }
      })
    client.stop()
  }

  /// A daemon of another version that sends its clients away.
  private func sendAway(_ version: UInt32, at path: String, _ accepted: Monitor<Int>) throws -> Int32 {
    try sendAway(
      DaemonMessage.welcome(version: version, cache: user.places.cache, runtime: user.places.runtime).frame,
      at: path, accepted)
  }

  /// What answers in a daemon's place, says so much, and hangs up.
  private func sendAway(_ words: [UInt8], at path: String, _ accepted: Monitor<Int>) throws -> Int32 {
    let listener = try UnixSocket.listen(at: path).release()
    PosixThread.start("not a daemon") {
      defer { close(listener) }
      while true {
        var wanted = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 30_000) == 1, wanted.revents == Int16(POLLIN) else { return }
        guard let socket = UnixSocket.accept(on: listener) else { return }
        accepted.withLockNotifying { $0 += 1 }
        words.withUnsafeBytes { try? socket.append($0) }
      }
    }
    return listener
  }

  @Test func aMountThatANewerDaemonSendsAwaySaysWhatToDoAndComesSeldom() throws {
    let accepted = Monitor(0)
    let path = user.places.runtime + "/other.sock"
    let listener = try sendAway(99, at: path, accepted)
    let held = try lock(path)
    defer {
      shutdown(listener, Int32(SHUT_RDWR))
      _ = held.rawValue
    }
    let client = try user.client()
    let failure = try #require(client.openFailure(user.serve(body)))
    #expect(failure.message.contains("newer podcastfs"), "\(failure)")
    #expect(log.contains("newer podcastfs"))
    _ = client.open(user.serve(body), intent: .download) { _ in }
    #expect(accepted.wait(until: .after(3)) { $0 > 10 ? true : nil } == nil)
    client.stop()
  }

  /// What comes over a connection until the end of it, or of the time.
  private func greet(_ version: UInt32, within seconds: Double) throws -> (
    messages: [DaemonMessage], isOpen: Bool
  ) {
    guard let socket = DaemonPlace.connect(in: user.places.state) else {
      throw TransferFailure(.ECONNREFUSED, "there is no daemon")
    }
    let hello = ClientMessage.hello(version: version, answersAddresses: false).frame
    try hello.withUnsafeBytes { try socket.append($0) }
    var buffer = FrameBuffer()
    var messages: [DaemonMessage] = []
    let deadline = MonotonicTime.after(seconds)
    while MonotonicTime.now < deadline {
      var wanted = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, 50) > 0 else { continue }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket.rawValue, &bytes, bytes.count, 0)
      if count <= 0 { return (messages, false) }
      buffer.append(bytes[..<count])
      while let message: DaemonMessage = try buffer.next() { messages.append(message) }
      if messages.contains(.snapshotEnd) { return (messages, true) }
    }
    return (messages, true)
  }

  @Test func aDaemonMakesRoomForANewerOne() throws {
    let client = try user.client(isMount: false)
    _ = try client.opened(user.serve(body)).readAll()
    let daemon = try #require(user.daemon)
    #expect(try !greet(Frames.version + 1, within: 10).isOpen)
    #expect(eventually { !self.user.isRunning(daemon) })
  }

  @Test func aDaemonThatEndsInOrderLeavesNoZombie() throws {
    let client = try user.client()
    let request = user.serve(body)
    #expect(body.firstDifference(try client.opened(request).readAll()) == nil)
    #expect(client.reaches(.cached, request))
    let daemon = try #require(user.daemon)
    kill(daemon, SIGTERM)
    // Nothing else is asked of the client meanwhile.
    #expect(eventually { access("/proc/\(daemon)", F_OK) != 0 })
    client.stop()
  }
}
