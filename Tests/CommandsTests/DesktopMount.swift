import Demo
import Glibc
import PosixKit
import TestSupport
import Testing

/// A mount of the demonstration's catalogue by the built programs, in a session with a bus of its own.
final class DesktopMount {
  let bus: PrivateBus
  let environment: TestEnvironment
  let root: String
  private let demo: DemoCatalogue
  private let programs: TemporaryDirectory
  private let service: RunningProcess?

  static var isPossible: Bool { access("/dev/fuse", R_OK | W_OK) == 0 && PrivateBus.isAvailable }

  /// - Parameters:
  ///   - rate: bytes per second of an episode; all have less than 100,000.
  ///   - options: of the mount.
  ///   - variables: for the programs, in addition.
  init(
    rate: Int64 = 1_000_000, options: String = "min_free=0", variables: [String: String] = [:],
    services: (PrivateBus) throws -> RunningProcess? = { _ in nil }
  ) throws {
    bus = try PrivateBus()
    service = try services(bus)
    demo = try DemoCatalogue(port: 0, audioRate: rate)
    programs = try TemporaryDirectory()
    try programs.write("xdg-open", "#!/bin/sh\necho \"$1\" >> \"$HOME/opened\"\n")
    chmod(programs.path("xdg-open"), 0o755)
    environment = try TestEnvironment(
      bus.variables.merging(variables) { $1 }.merging([
        "PODCASTFS_SEARCH_URL": demo.searchURL, "PATH": programs.path + ":" + Products.searchPath,
      ]) { $1 })
    root = environment.home.path("mount")
    try Directories.create(root)
    let mounting = try run("mount", "-o", options, root)
    try #require(mounting.end == .exit(0), "\(mounting.errors)")
    try retrying("search") { mkdir("\(root)/Search/harbour", 0o755) }
  }

  deinit {
    _ = try? run("unmount", root)
    demo.stop()
  }

  var show: String { "\(root)/Search/harbour/Harbour Lights" }

  var episodes: [String] {
    get throws {
      try Directories.names(in: show).filter { $0.hasSuffix(".mp3") }.sorted().map { "\(show)/\($0)" }
    }
  }

  func attribute(_ name: String, _ path: String) -> String? {
    try? ExtendedAttributes.get("user.podcastfs." + name, of: path)
  }

  @discardableResult
  func run(_ arguments: String...) throws -> (end: RunningProcess.End?, output: String, errors: String) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  /// The process that serves it.
  var mountProcess: Int32? {
    let ids = (try? Directories.names(in: "/proc"))?.compactMap { Int32($0) } ?? []
    return ids.first { id in
      let words = (try? Directories.read("/proc/\(id)/cmdline")) ?? []
      let name = (try? Directories.read("/proc/\(id)/comm")) ?? []
      return name.starts(with: "podcastfs\n".utf8) && String(decoding: words, as: UTF8.self).contains(root)
    }
  }

  /// What xdg-open was given.
  var opened: String {
    let bytes = try? Directories.read(environment.home.path("opened"))
    return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
