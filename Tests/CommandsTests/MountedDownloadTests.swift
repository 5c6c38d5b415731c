import Commands
import Demo
import Glibc
import PosixKit
import TestSupport
import Testing

/// The commands on a real mount of the demonstration's catalogue, with the built programs.
@Suite(.enabled(if: access("/dev/fuse", R_OK | W_OK) == 0, "this user cannot mount"))
struct MountedDownloadTests {
  let environment: TestEnvironment
  let demo: DemoCatalogue
  let mount: String

  init() throws {
    demo = try DemoCatalogue(port: 0, audioRate: 100_000)
    environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": demo.searchURL])
    mount = environment.home.path("mount")
    try Directories.create(mount)
  }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  private func attribute(_ name: String, _ path: String) -> String? {
    try? ExtendedAttributes.get("user.podcastfs." + name, of: path)
  }

  /// Mounts, searches, and unmounts whatever happens.
  private func mounted(_ body: (_ show: String, _ episodes: [String]) throws -> Void) throws {
    let mounting = try run("mount", mount)
    try #require(mounting.end == .exit(0), "\(mounting.errors)")
    defer { _ = try? run("unmount", mount) }
    try retrying("search") { mkdir("\(mount)/Search/harbour", 0o755) }
    let show = "\(mount)/Search/harbour/Harbour Lights"
    let names = try Directories.names(in: show).filter { $0.hasSuffix(".mp3") }.sorted()
    try body(show, names.map { "\(show)/\($0)" })
  }

  @Test func getBringsAWholeDirectoryAndStatusKnowsIt() throws {
    try mounted { show, episodes in
      #expect(episodes.count == 4)
      let get = try run("get", show)
      #expect(get.end == .exit(0), "\(get.errors)")
      #expect(episodes.map { attribute("state", $0) } == Array(repeating: "cached", count: 4))
      #expect(try run("status").output.hasPrefix("4 episodes here ("))
      let json = try run("status", "--json").output
      #expect(json.split(separator: "\"state\": \"cached\"").count == 5)
    }
  }

  @Test func aDownloadIsHeldGoesOnAndIsDropped() throws {
    try mounted { _, episodes in
      let episode = try #require(episodes.first)
      try ExtendedAttributes.set("user.podcastfs.state", of: episode, to: "downloading")
      #expect(eventually { attribute("bytes_received", episode).flatMap { Int($0) } ?? 0 > 0 })
      #expect(try run("pause", episode).end == .exit(0))
      #expect(attribute("state", episode) == "paused")
      #expect(try run("status").output.contains("paused"))
      #expect(try run("resume", episode).end == .exit(0))
      #expect(["downloading", "queued", "cached"].contains(attribute("state", episode)))
      #expect(try run("cancel", episode).end == .exit(0))
      #expect(attribute("state", episode) == "remote")
      #expect(attribute("bytes_received", episode) == "0")
    }
  }
}
