import Glibc
import PosixKit
import TestSupport
import Testing

/// Either process may be killed at any moment: nothing that had come is lost, and the other carries on.
@Suite struct KillTests {
  @Test func aKilledDaemonIsStartedAgainAndTheWaitingReaderGetsTheRightBytes() throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 600_000)
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    let expected = try fixture.environment.home.write("expected", fixture.bodies[0].bytes)
    let reader = try RunningProcess("cmp", [episode, expected], environment: fixture.environment.variables)
    for bytes in [400_000, 1_200_000] {
      #expect(
        try eventually { try fixture.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > bytes })
      kill(try #require(fixture.daemon), SIGKILL)
    }
    #expect(reader.wait() == .exit(0), "\(reader.output)\(reader.errors)")
    #expect(fixture.origin.sent("/1.mp3") <= 3_000_000 + 2 * 4_194_304)
    #expect(fixture.origin.requests("/1.mp3").dropFirst().allSatisfy { $0.range != nil })
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
  }

  @Test func aKilledMountLosesNothingAndItsDownloadGoesOn() throws {
    let fixture = try MountFixture(size: 1_500_000, rate: 500_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try Directories.read(fixture.episode(1), limit: 1000)
    try fixture.killForGood()
    #expect(fixture.origin.wait { $0.last?.sent ?? 0 >= 1_500_000 })
    try fixture.mount()
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(fixture.origin.requests("/1.mp3").count == 1)
  }

  @Test func afterBothWereKilledTheNextMountGoesOnWithWhatWasUnfinished() throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 600_000)
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    _ = try Directories.read(episode, limit: 1000)
    #expect(
      try eventually { try fixture.attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 1_000_000 }
    )
    try fixture.killForGood()
    kill(try #require(fixture.daemon), SIGKILL)
    fixture.origin.change("/1.mp3") { $0.behaviour.rate = nil }
    try fixture.mount()
    // Nobody opens it: the store says that it is wanted.
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    #expect(try fixture.isWhole(episode, 1))
  }

  @Test func aDeletedCacheFolderDoesNoHarm() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    // The daemon is done with it when its live map has gone. What is deleted before its last bytes are on the disk comes
    // again, and may never be seen to be remote.
    let maps = fixture.environment.home.path("run") + "/podcastfs/maps"
    #expect(try eventually { try Directories.names(in: maps).isEmpty })
    // The daemon may be writing its records there: rm then finds a folder that is not empty.
    let cache = fixture.environment.home.path("cache") + "/podcastfs"
    #expect(try eventually { try ChildProcess.run(["rm", "-rf", cache]).status == 0 })
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "remote" })
    #expect(try fixture.isWhole(fixture.episode(2), 2))
    #expect(try fixture.isWhole(fixture.episode(1), 1))
  }
}
