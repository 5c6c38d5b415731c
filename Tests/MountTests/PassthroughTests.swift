import Glibc
import PosixKit
import TestSupport
import Testing

/// Whole episodes that the kernel reads by itself, where it can (root's mounts, Linux 6.9); all but the first hold
/// everywhere.
@Suite struct PassthroughTests {
  /// Whether the kernel takes files from this process.
  static var isPossible: Bool {
    var name = utsname()
    uname(&name)
    let release = withUnsafeBytes(of: &name.release) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return geteuid() == 0 && numbers.count == 2 && (numbers[0], numbers[1]) >= (6, 9)
  }

  /// A mount with two whole episodes, of which the kernel has no pages.
  private func prepared() throws -> MountFixture {
    let fixture = try MountFixture(size: 600_000)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    #expect(try fixture.run("get", fixture.subscribed(1), fixture.subscribed(2)).end == .exit(0))
    return fixture
  }

  private func open(_ fixture: MountFixture, _ number: Int) throws -> FileDescriptor {
    try FileDescriptor(opening: fixture.subscribed(number), O_RDONLY)
  }

  private func close(_ file: consuming FileDescriptor) {}

  private func isRight(
    _ file: borrowing FileDescriptor, _ fixture: MountFixture, _ number: Int
  ) throws -> Bool {
    let expected = fixture.bodies[number - 1].bytes
    var bytes = [UInt8](repeating: 0, count: expected.count + 1)
    let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    let size = try file.status().st_size
    return Array(bytes[..<count]) == expected && size == Int64(expected.count)
  }

  @Test(.enabled(if: isPossible)) func whatIsHereIsReadWhileNobodyServes() throws {
    let fixture = try prepared()
    mkfifo(fixture.environment.home.path("go"), 0o600)
    // dd asks for nothing but bytes.
    let reader = try fixture.shell(
      """
      exec 5<"\(fixture.subscribed(1))"; echo open; read -r line <"$HOME/go"
      dd bs=65536 status=none of="$HOME/copy" <&5
      """)
    #expect(reader.waitForOutput { $0.contains("open") })
    let process = try #require(fixture.mountProcess)
    kill(process, SIGSTOP)
    let go = try FileDescriptor(opening: fixture.environment.home.path("go"), O_WRONLY)
    try Array("go\n".utf8).withUnsafeBytes { try go.append($0) }
    let end = reader.wait(seconds: 30)
    kill(process, SIGCONT)
    #expect(end == .exit(0), "\(reader.output)\(reader.errors)")
    let copy = try Directories.read(fixture.environment.home.path("copy"), limit: 1 << 20)
    #expect(copy == fixture.bodies[0].bytes)
    try fixture.awaitRest()
  }

  @Test func itGoesAlongWithReadersOfBefore() throws {
    let fixture = try prepared()
    let early = try open(fixture, 3)
    #expect(try isRight(early, fixture, 3))
    let late = try open(fixture, 3)
    #expect(try isRight(late, fixture, 3) && isRight(early, fixture, 3))
    close(early)
    let later = try open(fixture, 3)
    #expect(try isRight(later, fixture, 3))
    close(later)
    close(late)
    let alone = try open(fixture, 3)
    #expect(try isRight(alone, fixture, 3))
  }

  @Test func whatIsDroppedAndComesAgainIsReadByAll() throws {
    let fixture = try prepared()
    let old = try open(fixture, 1)
    try fixture.set("state", "remote", fixture.subscribed(1))
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(1)) == "remote" })
    let new = try open(fixture, 1)
    #expect(try isRight(new, fixture, 1) && isRight(old, fixture, 1))
    close(old)
    #expect(try isRight(new, fixture, 1))
    close(new)
    let last = try open(fixture, 1)
    #expect(try isRight(last, fixture, 1))
    close(last)
    try fixture.awaitRest()
  }

  @Test func theNextProcessGoesOnWithIt() throws {
    let fixture = try prepared()
    let old = try open(fixture, 1)
    let process = try fixture.killNext(after: nil)
    #expect(try isRight(old, fixture, 1))
    #expect(eventually { fixture.mountProcess.map { $0 != process } ?? false })
    let new = try open(fixture, 1)
    #expect(try isRight(new, fixture, 1))
    close(old)
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    let last = try open(fixture, 1)
    #expect(try isRight(new, fixture, 1) && isRight(last, fixture, 1))
    close(new)
    close(last)
    #expect(try isRight(open(fixture, 1), fixture, 1))
    try fixture.awaitRest()
  }

  /// The kernel gives what the file has; when it is closed that is noticed, and the next one gets all.
  @Test func whatSomebodyElseHasCutWhileItWasOpenComesAgain() throws {
    let fixture = try prepared()
    let file = try open(fixture, 1)
    #expect(try isRight(file, fixture, 1))
    let folder = fixture.environment.home.path("cache") + "/podcastfs/episodes"
    for name in try Directories.names(in: folder) where !name.hasSuffix(".ranges") {
      #expect(truncate("\(folder)/\(name)", 100_000) == 0)
    }
    close(file)
    #expect(eventually { fixture.log.contains("is damaged") }, "\(fixture.log)")
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(1)) == "cached" })
    #expect(try isRight(open(fixture, 1), fixture, 1))
    #expect(try isRight(open(fixture, 2), fixture, 2))
  }

  /// Its name is made through the mount while it is open.
  @Test func whoWatchesHearsOfItWhileItIsOpen() throws {
    let fixture = try prepared()
    let folder = "\(fixture.root)/Subscriptions/\(MountFixture.podcast)"
    let watcher = try RunningProcess(
      "inotifywait", ["--monitor", "--format", "%e %f", folder], environment: fixture.environment.variables)
    #expect(eventually { watcher.errors.contains("Watches established") })
    let file = try open(fixture, 1)
    #expect(unlink(fixture.subscribed(1)) == 0)
    #expect(eventually { watcher.output.contains("DELETE \(MountFixture.names[0])") })
    try fixture.set("hidden", "0", folder)
    #expect(eventually { watcher.output.contains("CREATE \(MountFixture.names[0])") }, "\(watcher.output)")
    #expect(try isRight(file, fixture, 1))
    let again = try open(fixture, 1)
    #expect(try isRight(again, fixture, 1))
  }

  /// Whether the kernel reads by itself or has pages of what was damaged.
  @Test(arguments: [1, 3]) func whatWasDamagedIsRightForWhoHasItOpen(_ number: Int) throws {
    let fixture = try prepared()
    // The third is read through pages until it is closed: it was not here when it was opened.
    let file = try open(fixture, number)
    #expect(try isRight(file, fixture, number))
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(number)) == "cached" })
    posix_fadvise(file.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    try damage(fixture, at: 300_000)
    // Nothing but a check finds that.
    #expect(try !isRight(file, fixture, number))
    #expect(try fixture.run("verify", fixture.subscribed(number)).output.contains("damaged"))
    #expect(try eventually { try fixture.attribute("state", fixture.subscribed(number)) == "cached" })
    #expect(try eventually { try isRight(file, fixture, number) }, "\(fixture.log)")
    let new = try open(fixture, number)
    #expect(try isRight(new, fixture, number))
  }

  /// Changes some bytes of each data file, and not its time.
  private func damage(_ fixture: MountFixture, at offset: Int64) throws {
    let folder = fixture.environment.home.path("cache") + "/podcastfs/episodes"
    var count = 0
    for name in try Directories.names(in: folder) where !name.contains("journal") {
      let data = try FileDescriptor(opening: "\(folder)/\(name)", O_RDWR)
      let status = try data.status()
      guard status.st_size == 600_000 else { continue }
      try data.write([1, 2, 3, 4, 5, 6, 7, 8], at: offset)
      var times = [status.st_atim, status.st_mtim]
      futimens(data.rawValue, &times)
      count += 1
    }
    #expect(count > 0)
  }
}
