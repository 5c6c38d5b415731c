import Glibc
import PosixKit
import TestSupport

/// A mount by the built programs of a catalogue of one podcast with three episodes, unmounted with the value.
final class MountedCatalogue {
  let origin: OriginServer
  let directory: DirectoryService
  let environment: TestEnvironment
  let root: String
  static let podcast = "Harbour Lights"

  /// - Parameter variables: further ones for the programs.
  init(options: String = "min_free=0", variables: [String: String] = [:]) throws {
    origin = try OriginServer()
    directory = DirectoryService(on: origin)
    environment = try TestEnvironment(["PODCASTFS_SEARCH_URL": directory.url].merging(variables) { $1 })
    root = environment.home.path("mnt")
    try Directories.create(root)
    for number in 1...3 {
      origin.serve("/\(number).mp3", OriginResource(TestBody(seed: UInt64(number), size: 300_000)))
    }
    publish()
    let result = try run("mount", "-o", options, root)
    guard result.end == .exit(0) else { throw PosixError(.EIO, result.errors, root) }
    let feed = try run("subscribe", origin.url("/feed.xml"))
    guard feed.end == .exit(0) else { throw PosixError(.EIO, feed.errors, root) }
  }

  deinit { _ = try? run("unmount", "--lazy", root) }

  /// - Parameter titles: of the three episodes.
  func publish(_ titles: [String] = ["Part 1", "Part 2", "Part 3"], podcast: String = podcast) {
    var feed = TestFeed(podcast, author: "Ann")
    feed.items = titles.enumerated().map { index, title in
      TestFeed.Item(
        title, url: origin.url("/\(index + 1).mp3"), guid: "guid-\(index + 1)",
        published: 1_704_067_200 + Int64(index) * 86_400, length: 300_000)
    }
    origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
  }

  func run(_ arguments: String...) throws -> (end: RunningProcess.End?, output: String, errors: String) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  /// The path of an episode in `Subscriptions/`.
  func episode(_ number: Int, in folder: String = podcast) throws -> String {
    let names = try Directories.names(in: "\(root)/Subscriptions/\(folder)")
    let name = names.filter { $0.hasSuffix(".mp3") }.sorted()[number - 1]
    return "\(root)/Subscriptions/\(folder)/\(name)"
  }

  func attribute(_ name: String, _ path: String) throws -> String? {
    try ExtendedAttributes.get("user.podcastfs." + name, of: path)
  }

  func set(_ name: String, _ value: String, _ path: String) throws {
    try ExtendedAttributes.set("user.podcastfs." + name, of: path, to: value)
  }
}

/// What a command shows on a terminal of a size, without the colours.
func screen(
  _ environment: TestEnvironment, _ call: String, columns: Int = 80, rows: Int = 24, hasBlanks: Bool = false
) throws -> [String] {
  let command = "stty cols \(columns) rows \(rows); '\(Products.path("podcastfs"))' \(call)"
  let process = try RunningProcess(
    "script", ["-qec", command, "/dev/null"],
    environment: environment.variables.merging(["TERM": "dumb"]) { $1 })
  _ = process.wait()
  return process.output.split(separator: "\r\n", omittingEmptySubsequences: !hasBlanks).map(String.init)
}

/// Whether this user can mount.
let canMount = access("/dev/fuse", R_OK | W_OK) == 0
