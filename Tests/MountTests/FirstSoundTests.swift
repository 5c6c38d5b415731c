import Glibc
import PosixKit
import TestSupport
import Testing

/// Readers on slow hosts: a player gets what is here, a program that copies is told the true size.
@Suite struct FirstSoundTests {
  /// A program under another one's name.
  private func program(_ path: String, as name: String, _ fixture: MountFixture) throws -> String {
    let link = fixture.environment.home.path(name)
    try retrying("link", link) { symlink(path, link) }
    return link
  }

  private func start(_ fixture: MountFixture, _ program: String, _ arguments: [String]) throws
    -> RunningProcess
  {
    try RunningProcess(program, arguments, environment: fixture.environment.variables)
  }

  private func start(_ fixture: MountFixture, _ program: String, _ arguments: String...) throws
    -> RunningProcess
  {
    try start(fixture, program, arguments)
  }

  @Test func aPlayerGetsWhatIsHereThoughItAsksForMore() throws {
    let fixture = try MountFixture()
    fixture.origin.change("/1.mp3") { $0.behaviour.stallAfter = 100_000 }
    try fixture.mount()
    try fixture.makeSearch()
    let copy = fixture.environment.home.path("copy")
    let player = try program("/bin/dd", as: "mpv", fixture)
    let (input, output) = ("if=\(fixture.episode(1))", "of=\(copy)")
    let playing = try start(fixture, player, input, output, "bs=4096", "count=24", "iflag=fullblock")
    #expect(playing.wait(seconds: 90) == .exit(0), "\(playing.errors)")
    #expect(try Directories.read(copy, limit: 1 << 20) == fixture.bodies[0].bytes(0..<98_304))
    // The host has gone silent.
    let tail = ["bs=1M", "count=1", "iflag=skip_bytes", "skip=90112"]
    let last = try start(fixture, player, [input, output] + tail)
    #expect(last.wait(seconds: 90) == .exit(0), "\(last.errors)")
    // Others get all that they ask for, or wait.
    let other = try start(fixture, "dd", [input, output] + tail)
    #expect(eventually { WaitingTests.isWaiting(other.id) })
    other.signal(SIGKILL)
    #expect(other.wait(seconds: 60) == .signal(SIGKILL))
  }

  /// Players look for marks of other formats behind the beginning.
  @Test func aPlayerDoesNotWaitForWhatLiesBeforeThePlaceThatItLooksAt() throws {
    let fixture = try MountFixture()
    // Each response falls silent: who waits for the first one to go on waits for long.
    fixture.origin.change("/1.mp3") { $0.behaviour.stallAfter = 8192 }
    try fixture.mount()
    try fixture.makeSearch()
    let copy = fixture.environment.home.path("copy")
    let player = try program("/bin/dd", as: "vlc", fixture)
    let looking = try start(
      fixture, player, "if=\(fixture.episode(1))", "of=\(copy)", "bs=2048", "count=1",
      "iflag=skip_bytes,fullblock", "skip=20480")
    #expect(looking.wait(seconds: 25) == .exit(0), "\(looking.errors)")
    #expect(try Directories.read(copy, limit: 1 << 20) == fixture.bodies[0].bytes(20_480..<22_528))
  }

  @Test func aPlayerGetsEveryByteOfADownloadThatRuns() throws {
    let fixture = try MountFixture(size: 900_000, rate: 1_000_000)
    try fixture.mount()
    try fixture.makeSearch()
    let copy = fixture.environment.home.path("copy")
    let player = try program("/bin/dd", as: "ffplay", fixture)
    let playing = try start(fixture, player, "if=\(fixture.episode(1))", "of=\(copy)", "bs=64K")
    #expect(playing.wait(seconds: 90) == .exit(0), "\(playing.errors)")
    #expect(try Directories.read(copy, limit: 1 << 20) == fixture.bodies[0].bytes)
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(fixture.origin.requests("/1.mp3").count == 1)
  }

  /// Programs that copy as many bytes as st_size says.
  @Test(arguments: ["tar", "rsync"])
  func whoTrustsTheSizeIsToldTheTrueOneWhereTheServerGivesNone(name: String) throws {
    let fixture = try MountFixture(size: 500_000, rate: 1_000_000)
    fixture.origin.change("/1.mp3") { $0.behaviour.omitsLength = true }
    try fixture.mount()
    try fixture.makeSearch()
    let path = fixture.episode(1)
    #expect(try fixture.status(path).st_size > 0)
    let copier = try program("/bin/sh", as: name, fixture)
    // The size by the open file is what it goes by.
    let copying = try start(fixture, copier, ["-c", "exec 3<'\(path)'; stat -L -c %s /proc/self/fd/3"])
    #expect(copying.wait(seconds: 90) == .exit(0) && copying.output == "500000\n", "\(copying.errors)")
    #expect(try fixture.isWhole(path, 1))
    let requests = fixture.origin.requests("/1.mp3")
    #expect(requests.count == 1, "\(requests)")
  }

  @Test func itsWaitForThatEndsAtASignal() throws {
    let fixture = try MountFixture(size: 500_000)
    fixture.origin.change("/1.mp3") {
      $0.behaviour.omitsLength = true
      $0.behaviour.stallAfter = 100_000
    }
    try fixture.mount()
    try fixture.makeSearch()
    let archive = fixture.environment.home.path("archive.tar")
    let packing = try start(fixture, "tar", "-cf", archive, fixture.episode(1))
    #expect(eventually { WaitingTests.isWaiting(packing.id) })
    packing.signal(SIGTERM)
    #expect(packing.wait(seconds: 60) == .signal(SIGTERM))
  }
}
