import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Another program takes a living mount over.
@Suite struct HandOverTests {
  @Test func anotherVersionTakesOverUnseen() throws {
    let fixture = try MountFixture.prepared(size: 3_000_000, rate: 2_000_000)
    let expected = try fixture.environment.home.write("expected", fixture.bodies[2].bytes)
    let reader = try fixture.shell("exec cmp \"\(fixture.subscribed(3))\" \"\(expected)\"")
    #expect(
      try eventually {
        try fixture.attribute("bytes_received", fixture.subscribed(3)).flatMap { Int($0) } ?? 0 > 300_000
      })
    let new = try fixture.copyOfTheProgram()
    func run(_ arguments: String...) throws -> RunningProcess.End? {
      try RunningProcess(new, arguments, environment: fixture.environment.variables).wait()
    }
    // What is wrong is said, and nothing has happened.
    let old = try #require(fixture.mountProcess)
    #expect(try run("mount", "-o", "nonsense", fixture.root) == .exit(64))
    #expect(fixture.mountProcess == old)
    #expect(try run("mount", fixture.root) == .exit(0))
    let second = try #require(fixture.mountProcess)
    #expect(second != old && fixture.program(of: second) == new)
    #expect(
      eventually {
        fixture.keepers.count == 1 && fixture.keepers.first.flatMap(fixture.program) == new + "-keep"
      })
    #expect(try fixture.run("restart", fixture.root).end == .exit(0))
    let third = try #require(fixture.mountProcess)
    #expect(third != second && fixture.program(of: third) != new)
    // As root it would hand over the mounts of all other tests too.
    if geteuid() != 0 {
      #expect(try fixture.run("restart", "--all").end == .exit(0))
      #expect(fixture.mountProcess.map { $0 != third } ?? false)
    }
    #expect(reader.wait() == .exit(0), "\(reader.output)\(reader.errors)")
    #expect(fixture.keepers.count == 1)
  }

  /// Another process has set the catalogue aside, for its version or for damage that it met, or the user has removed it.
  @Test(arguments: ["other version", "removed", "damaged"])
  func aMountGoesOnWithTheNewCatalogue(whatHappens: String) throws {
    let fixture = try MountFixture.prepared()
    let first = try #require(fixture.mountProcess)
    let data = fixture.environment.home.path("data/podcastfs")
    #expect(eventually { access("\(data)/subscriptions.opml", F_OK) == 0 })
    switch whatHappens {
    case "other version": try Database(path: "\(data)/catalog.sqlite").script("PRAGMA user_version = 999")
    case "damaged":
      let database = try Database(path: "\(data)/catalog.sqlite")
      let page = try #require(
        try database.number("SELECT rootpage FROM sqlite_schema WHERE name = 'episode'"))
      #expect(eventually { (try? database.checkpoint()) == true })
      try FileDescriptor(opening: "\(data)/catalog.sqlite", O_WRONLY)
        .write(Array(repeating: 0xAA, count: 4096), at: (page - 1) * 4096)
      let found = try fixture.run("find", "is:unplayed")
      // The mount may have met the damage first, and may have set the file aside before the command began.
      let isTold = eventually {
        let told = found.errors + fixture.log
        return told.contains("it was set aside as") || told.contains("was replaced")
      }
      #expect(isTold, "\(found)")
      #expect(access("\(data)/catalog.sqlite.damaged", F_OK) == 0)
    default:
      for ending in ["", "-commits", "-wal", "-shm"] { unlink("\(data)/catalog.sqlite\(ending)") }
    }
    #expect(try fixture.run("list").output.contains(MountFixture.podcast))
    let begun = MonotonicTime.now
    #expect(eventually { fixture.mountProcess.map { $0 != first } ?? false })
    #expect(MonotonicTime.now.seconds(since: begun) < 5)
    let (old, new) = (
      "\(fixture.root)/Subscriptions/\(MountFixture.podcast)", "\(fixture.root)/Subscriptions/Mine"
    )
    #expect(eventually { rename(old, new) == 0 })
    #expect(try fixture.run("list").output.contains("Mine"))
    let episode = "\(new)/\(MountFixture.names[0])"
    #expect(eventually { (try? fixture.isWhole(episode, 1)) == true })
    try fixture.set("played", "1", episode)
    #expect(try fixture.run("find", "is:played").output.contains("Part 1"))
    #expect(fixture.log.contains("was replaced: another process opens it"), "\(fixture.log)")
  }

  @Test func whatCannotBeRestartedIsSaid() throws {
    let fixture = try MountFixture()
    #expect(try fixture.run("restart", fixture.root).errors.contains("podcastfs is not mounted there"))
  }

  /// As systemd-tmpfiles does with a runtime folder in /tmp.
  @Test func aMountIsRestartedAfterItsRuntimeFolderWasCleaned() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let runtime = fixture.environment.home.path("run") + "/podcastfs"
    let first = try #require(fixture.mountProcess)
    Directories.removeTree(runtime)
    let restart = try fixture.run("restart", fixture.root)
    #expect(restart.end == .exit(0), "\(restart.errors)")
    #expect(fixture.mountProcess.map { $0 != first } ?? false)
  }
}
