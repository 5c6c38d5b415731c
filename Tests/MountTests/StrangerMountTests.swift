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

  @Test(.enabled(if: getuid() == 0 && Products.isInstalled("setpriv")))
  func theDoctorLooksAtTheMountsOfItsCaller() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("doctor").output.contains("mounted on \(fixture.root)\n"))
    let stranger = try TestEnvironment(["PODCASTFS_SEARCH_URL": fixture.directory.url])
    let program = try stranger.home.write(
      "podcastfs", try Directories.read(Products.path("podcastfs"), limit: 1 << 30))
    #expect(try ChildProcess.run(["chown", "-R", "65534:65534", stranger.home.path]).status == 0)
    chmod(program, 0o755)
    let doctor = try RunningProcess(
      "setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", program, "doctor"],
      environment: stranger.variables)
    _ = doctor.wait()
    #expect(doctor.output.contains("libfuse") && !doctor.output.contains("mount on"), "\(doctor.output)")
    #expect(!doctor.output.contains(fixture.root), "\(doctor.output)")
  }
}
