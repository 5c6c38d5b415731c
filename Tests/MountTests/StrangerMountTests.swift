import Glibc
import PosixKit
import TestSupport
import Testing

/// Commands in mounts that show another catalogue than the user's.
@Suite struct StrangerMountTests {
  @Test func aDemonstrationIsNotTakenForTheUsersOwnMount() throws {
    let fixture = try MountFixture()
    let mounted = try fixture.run("demo", fixture.root)
    #expect(mounted.end == .exit(0), "\(mounted.errors)")
    defer { _ = try? fixture.run("unmount", "--lazy", fixture.root) }
    #expect(mkdir(fixture.root + "/Search/harbour", 0o755) == 0)
    let show = fixture.root + "/Search/harbour/Harbour Lights"
    let episode = show + "/" + (try #require(try fixture.list(show).first { $0.hasSuffix(".mp3") }))
    let refresh = try fixture.run("refresh", episode)
    #expect(refresh.end == .exit(0) && refresh.output.hasSuffix(": 0 new\n"), "\(refresh)")
    let restart = try fixture.run("restart", fixture.root)
    #expect(restart.end == .exit(1))
    #expect(restart.errors.contains("a demonstration ends with its process"), "\(restart.errors)")
  }
}
