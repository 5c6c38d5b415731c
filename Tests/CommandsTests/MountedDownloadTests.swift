import CLI
import Demo
import Glibc
import PosixKit
import TestSupport
import Testing

/// The commands on a real mount of the demonstration's catalogue, with the built programs.
@Suite(.enabled(if: access("/dev/fuse", R_OK | W_OK) == 0, "this user cannot mount"))
struct MountedDownloadTests {
  /// A mount of the demonstration's catalogue, taken away with the value.
  private final class Mount {
    let environment: TestEnvironment
    let demo: DemoCatalogue
    let path: String

    /// - Parameter audioRate: bytes per second of an episode; all have less than 100,000.
    init(audioRate: Int64) throws {
      demo = try DemoCatalogue(port: 0, audioRate: audioRate)
      environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": demo.searchURL])
      path = environment.home.path("mount")
      try Directories.create(path)
      let mounting = try run("mount", path)
      try #require(mounting.end == .exit(0), "\(mounting.errors)")
      try retrying("search") { mkdir("\(path)/Search/harbour", 0o755) }
    }

    deinit {
      _ = try? run("unmount", path)
      demo.stop()
    }

    var show: String { "\(path)/Search/harbour/Harbour Lights" }

    var episodes: [String] {
      get throws {
        try Directories.names(in: show).filter { $0.hasSuffix(".mp3") }.sorted().map { "\(show)/\($0)" }
      }
    }

    func run(_ arguments: String...) throws -> (
      end: RunningProcess.End?, output: String, errors: String
    ) {
      try Products.run("podcastfs", arguments, in: environment)
    }
  }

  private func attribute(_ name: String, _ path: String) -> String? {
    try? ExtendedAttributes.get("user.podcastfs." + name, of: path)
  }

  @Test func getBringsAWholeDirectoryAndStatusKnowsIt() throws {
    let mount = try Mount(audioRate: 1_000_000)
    let episodes = try mount.episodes
    #expect(episodes.count == 4)
    let get = try mount.run("get", mount.show)
    #expect(get.end == .exit(0), "\(get.errors)")
    #expect(episodes.map { attribute("state", $0) } == Array(repeating: "cached", count: 4))
    #expect(try mount.run("status").output.hasPrefix("4 episodes downloaded ("))
    let json = try mount.run("status", "--json").output
    #expect(json.split(separator: "\"state\": \"cached\"").count == 5)
  }

  @Test func aDownloadIsHeldGoesOnAndIsDropped() throws {
    let mount = try Mount(audioRate: 5000)
    let episode = try #require(try mount.episodes.first)
    try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
    #expect(eventually { attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 0 })
    #expect(try mount.run("pause", episode).end == .exit(0))
    #expect(attribute("state", episode) == "paused")
    #expect(try mount.run("status").output.contains("paused"))
    #expect(try mount.run("resume", episode).end == .exit(0))
    #expect(["downloading", "queued", "cached"].contains(attribute("state", episode)))
    #expect(try mount.run("cancel", episode).end == .exit(0))
    #expect(attribute("state", episode) == "remote")
    #expect(attribute("bytes_received", episode) == "0")
  }
}
