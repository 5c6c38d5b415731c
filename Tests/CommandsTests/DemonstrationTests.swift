import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// The commands while a demonstration is mounted. One at a time: the doctor would find the one that another test kills.
@Suite(.serialized, .enabled(if: canMount, "this user cannot mount")) struct DemonstrationTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment, seconds: 120)
  }

  @Test func whileNothingElseIsMountedCommandsWorkOnTheDemonstration() throws {
    let path = environment.home.path("demo")
    let mounting = try run("demo", "-o", "min_free=0,downloads=1", path)
    #expect(mounting.end == .exit(0), "\(mounting.errors)")
    defer { _ = try? run("unmount", "--lazy", path) }
    let search = try run("search", "harbour")
    #expect(search.end == .exit(0) && search.output.hasPrefix("1  Harbour Lights"), "\(search)")
    let subscribe = try run("subscribe", "1")
    #expect(subscribe.end == .exit(0) && subscribe.output == "Harbour Lights\n", "\(subscribe)")
    #expect(try run("list", "--names").output == "Harbour Lights\n")
    let show = path + "/Subscriptions/Harbour Lights"
    #expect(try run("refresh", show).output == "Harbour Lights: 0 new\n")
    let episodes = try Directories.names(in: show).filter { $0.hasSuffix(".mp3") }.map { "\(show)/\($0)" }
    for episode in episodes {
      try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    }
    #expect(try run("status").output.contains("1 downloading"))
    #expect(try run("pause", "--all").end == .exit(0))
    #expect(try run("status").output.contains("4 paused"))
    let doctor = try run("doctor")
    #expect(doctor.end == .exit(0), "\(doctor.output)")
    #expect(doctor.output.contains("the search service at 127.0.0.1 answers"), "\(doctor.output)")
    // All of it has gone when this returns.
    #expect(try run("unmount", path).end == .exit(0))
    #expect(try !Directories.names(in: environment.home.path("run")).contains("podcastfs-demo"))
    #expect(try run("list", "--names").output.isEmpty)
  }

  @Test func theDemonstrationTakesOptionsAndIsMountedAgainAtOnceWhenItIsKilled() throws {
    let path = environment.home.path("demo")
    #expect(try run("demo", "-o", "min_free=0,latest_days=1", path).end == .exit(0))
    defer { _ = try? run("unmount", "--lazy", path) }
    _ = try run("search", "harbour")
    #expect(try run("subscribe", "1").end == .exit(0))
    #expect(try Directories.names(in: path + "/Latest").isEmpty)
    #expect(try run("demo", path).output == "The demonstration is already mounted on \(path)\n")
    let other = try run("demo", environment.home.path("other"))
    #expect(
      other.end == .exit(1) && other.errors.hasSuffix("mounted on \(path): podcastfs unmount \(path)\n"))
    let process = Processes.all(named: ["podcastfs"]).first { Processes.arguments(of: $0).last == path }
    #expect(kill(try #require(process), SIGKILL) == 0)
    let again = try run("demo", "-o", "min_free=0", path)
    #expect(again.end == .exit(0), "\(again.errors)")
    #expect(try Directories.names(in: path).contains("Latest"))
  }

  @Test func besideAMountCommandsWorkOnTheDemonstrationWhereTheirPathsLieInIt() throws {
    let mount = try MountedCatalogue()
    let demo = mount.environment.home.path("demo")
    #expect(try mount.run("demo", demo).end == .exit(0))
    defer { _ = try? mount.run("unmount", "--lazy", demo) }
    #expect(try mount.run("list", "--names").output == "\(MountedCatalogue.podcast)\n")
    #expect(mkdir(demo + "/Search/harbour", 0o755) == 0)
    let folder = demo + "/Search/harbour"
    let show = "\(folder)/\(try #require(try Directories.names(in: folder).first))"
    #expect(try mount.run("refresh", show).output.hasPrefix("Harbour Lights: "))
    let mixed = try mount.run("refresh", show, mount.root + "/Subscriptions/\(MountedCatalogue.podcast)")
    #expect(mixed.end == .exit(1) && mixed.errors == "podcastfs: \(show): the demonstration's mount\n")
  }

  @Test func unmountHasADefaultAndWhatIsSoAlreadyIsNoFailure() throws {
    let usual = environment.home.path("Podcasts")
    let missing = try run("unmount")
    #expect(
      missing.end == .exit(0) && missing.output == "podcastfs is not mounted on \(usual)\n", "\(missing)")
    #expect(try run("mount", "-o", "min_free=0").end == .exit(0))
    #expect(try run("unmount").end == .exit(0))
    #expect(try run("unmount", "--quiet", usual).output.isEmpty)
    let other = try run("unmount", "/proc")
    #expect(
      other.end == .exit(1) && other.errors.contains("podcastfs is not mounted there"), "\(other)")
    #expect(try run("unmount", usual + "/none").end == .exit(1))
    #expect(try run("unmount", usual, usual).end == .exit(64))
  }
}
