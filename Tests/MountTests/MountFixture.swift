import Glibc
import PosixKit
import TestSupport

/// A mount by the built programs, with a home, a directory service and an origin of its own.
final class MountFixture {
  let environment: TestEnvironment
  let origin: OriginServer
  let directory: DirectoryService
  /// Where it is mounted.
  let root: String
  /// The episodes' bytes, by number.
  let bodies: [TestBody]
  static let podcast = "Harbour Lights"
  static let search = "harbour lights"

  /// - Parameters:
  ///   - size: of each of the three episodes, in bytes.
  ///   - rate: bytes per second that the origin sends; nil for as fast as it can.
  ///   - extra: further variables for the programs.
  init(size: Int64 = 300_000, rate: Int64? = nil, environment extra: [String: String] = [:]) throws {
    origin = try OriginServer()
    directory = DirectoryService(on: origin)
    environment = try TestEnvironment(extra.merging(["PODCASTFS_SEARCH_URL": directory.url]) { $1 })
    root = environment.home.path("mnt")
    mkdir(root, 0o755)
    let bodies = (1...3).map { TestBody(seed: UInt64($0), size: size) }
    self.bodies = bodies
    for (index, body) in bodies.enumerated() {
      var resource = OriginResource(body)
      resource.behaviour.rate = rate
      origin.serve("/\(index + 1).mp3", resource)
    }
    publish(count: 3)
    directory.list([DirectoryService.Listing(Self.podcast, feedURL: origin.url("/feed.xml"))])
  }

  deinit {
    for mount in mounts { Self.unmountLazily(mount) }
    for process in keepers + [daemon, mountProcess].compactMap({ $0 }) { kill(process, SIGKILL) }
  }

  /// Puts the newest `count` of the episodes into the feed, their addresses with `query` at the end.
  /// - Parameter change: what is different in the feed, told where the origin is.
  func publish(
    count: Int, query: String = "", _ change: (inout TestFeed, OriginServer) -> Void = { _, _ in }
  ) {
    var feed = TestFeed(Self.podcast, author: "Ann")
    feed.items = bodies.prefix(count).enumerated().map { index, body in
      TestFeed.Item(
        "Part \(index + 1)", url: origin.url("/\(index + 1).mp3\(query)"), guid: "guid-\(index + 1)",
        published: 1_704_067_200 + Int64(index) * 86_400, length: body.size)
    }
    change(&feed, origin)
    origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
  }

  private static func unmountLazily(_ path: String) {
    if geteuid() == 0 {
      try? unmountFileSystem(path, lazily: true)
    } else {
      _ = try? ChildProcess.run(["fusermount3", "-uqz", "--", path])
    }
  }

  private var mounts: [String] { [root, root + "2"] }

  // MARK: The programs

  @discardableResult
  func run(_ arguments: String..., seconds: Double = patience) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment, seconds: seconds)
  }

  /// Mounts. The fixture's episodes are old; `Latest/` shows them all the same.
  func mount(options: String = "min_free=0", at path: String? = nil) throws {
    let result = try run("mount", "-o", "latest_days=0," + options, path ?? root)
    guard result.end == .exit(0) else { throw Failed("mount: \(result.errors)") }
  }

  func unmount() throws {
    let result = try run("unmount", root)
    guard result.end == .exit(0) else { throw Failed("unmount: \(result.errors)") }
  }

  /// The number of the process that serves the mount.
  var mountProcess: Int32? { mountProcess(at: root) }

  func mountProcess(at path: String) -> Int32? {
    Self.process { words in
      words.last == path && (words.contains("--background") || words.contains("--resume"))
    }
  }

  /// The numbers of the processes that keep this home's mounts.
  var keepers: [Int32] {
    let home = Array("HOME=\(environment.variables["HOME"] ?? "")".utf8)
    return ((try? Directories.names(in: "/proc")) ?? []).compactMap { Int32($0) }.filter { number in
      guard (try? Directories.read("/proc/\(number)/comm")) == Array("podcastfs-keep\n".utf8),
        let variables = try? Directories.read("/proc/\(number)/environ")
      else { return false }
      return variables.split(separator: 0).contains { Array($0) == home }
    }
  }

  /// Kills the process that serves the mount, and who would start another one: the mount is dead.
  func killForGood() throws {
    guard mountProcess != nil else { throw Failed("there is no mount") }
    // posix_spawn(3) may return before the new program has its name: a keeper is perhaps found at the second look only.
    let isDead = eventually {
      let all = keepers + [mountProcess].compactMap(\.self)
      for process in all { kill(process, SIGKILL) }
      return all.isEmpty
    }
    if !isDead { throw Failed("the mount goes on") }
  }

  /// The number of the daemon.
  var daemon: Int32? {
    let path = environment.home.path("run") + "/podcastfs/transferd.pid"
    guard let bytes = try? Directories.read(path) else { return nil }
    let number = Int32(String(decoding: bytes, as: UTF8.self).filter(\.isNumber))
    return number.flatMap { kill($0, 0) == 0 ? $0 : nil }
  }

  private static func process(where matches: ([String]) -> Bool) -> Int32? {
    let names = (try? Directories.names(in: "/proc")) ?? []
    return names.lazy.compactMap { Int32($0) }.first { number in
      guard let bytes = try? Directories.read("/proc/\(number)/cmdline") else { return false }
      return matches(String(decoding: bytes, as: UTF8.self).split(separator: "\0").map(String.init))
    }
  }

  /// What the programs have written to their log.
  var log: String {
    let bytes = try? Directories.read(environment.home.path("state") + "/podcastfs/podcastfs.log")
    return String(decoding: bytes ?? [], as: UTF8.self)
  }

  /// What the mount has open, parked or in memory beyond what may be where nothing is under way.
  func excess() throws -> [String] {
    let held = try metrics("podcastfs_held{"), most = try metrics("podcastfs_held_limit{")
    if held.isEmpty { return ["nothing is counted"] }
    return held.filter { $0.value > most[$0.key] ?? 0 }.map { "\($0.key): \($0.value)" }
  }

  /// Values of `.podcastfs/metrics`, by what stands between a prefix and them.
  func metrics(_ prefix: String) throws -> [String: Double] {
    let text = String(decoding: try Directories.read("\(root)/.podcastfs/metrics"), as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix(prefix) }
    let values = lines.compactMap { line -> (String, Double)? in
      guard let blank = line.lastIndex(of: " "), let value = Double(line[line.index(after: blank)...]) else {
        return nil
      }
      return (String(line[..<blank].dropFirst(prefix.count)), value)
    }
    return Dictionary(values, uniquingKeysWith: { $1 })
  }

  /// Waits until nothing is open, parked or under way.
  func awaitRest() throws {
    if try eventually({ try self.excess().isEmpty }) { return }
    throw Failed("left behind: \(try excess())")
  }

  // MARK: What is mounted

  var searchPath: String { "\(root)/Search/\(Self.search)" }
  var podcastPath: String { "\(searchPath)/\(Self.podcast)" }
  static let names = ["2024-01-01 - Part 1.mp3", "2024-01-02 - Part 2.mp3", "2024-01-03 - Part 3.mp3"]
  func episode(_ number: Int) -> String { "\(podcastPath)/\(Self.names[number - 1])" }

  func makeSearch() throws {
    if let errno = errnoOf({ mkdir(searchPath, 0o755) }) { throw Failed("mkdir: \(errno)") }
  }

  func list(_ path: String) throws -> [String] { try Directories.names(in: path).sorted() }

  func attribute(_ name: String, _ path: String) throws -> String? {
    try ExtendedAttributes.get("user.podcastfs.\(name)", of: path)
  }

  func set(_ name: String, _ value: String, _ path: String) throws {
    try ExtendedAttributes.set("user.podcastfs.\(name)", of: path, to: value)
  }

  func status(_ path: String) throws -> stat {
    var result = stat()
    try retrying("inspect", path) { stat(path, &result) }
    return result
  }

  /// Whether a file's bytes are those of an episode.
  func isWhole(_ path: String, _ number: Int) throws -> Bool {
    try Directories.read(path, limit: 64 << 20) == bodies[number - 1].bytes
  }
}

struct Failed: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The errno of a call that answers -1; nil where it succeeds.
func errnoOf(_ call: () -> Int32) -> Errno? { call() == 0 ? nil : Errno.current }
