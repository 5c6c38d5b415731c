import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

enum TemporaryFiles {
  static var haveAttributes: Bool {
    guard let directory = try? TemporaryDirectory(), let path = try? directory.write("x", "") else {
      return false
    }
    return (try? ExtendedAttributes.set("user.test", of: path, to: "1")) != nil
  }
}

/// `get`, `pause`, `resume` and `cancel`, on plain files with the attributes that a mount's have.
@Suite(
  .enabled(if: TemporaryFiles.haveAttributes, "the temporary directory's file system has no user attributes"))
struct SteeringTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  private func episode(_ name: String, _ state: String) throws -> String {
    let path = try environment.home.write("show/" + name, "")
    try set(path, "state", state)
    return path
  }

  private func set(_ path: String, _ name: String, _ text: String) throws {
    try ExtendedAttributes.set("user.podcastfs." + name, of: path, to: text)
  }

  private func state(_ path: String) throws -> String? {
    try ExtendedAttributes.get("user.podcastfs.state", of: path)
  }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  /// Answers as a mount does whose daemon has the episode complete.
  private func get(_ complete: String, _ arguments: String...) throws -> RunningProcess {
    let process = try Products.start("podcastfs", ["get", complete] + arguments, in: environment)
    #expect(try eventually { try state(complete) == "downloading" })
    try set(complete, "state", "cached")
    return process
  }

  @Test func getAsksForTheDownloadAndEndsWhenItIsHere() throws {
    let path = try episode("a.mp3", "remote")
    let process = try Products.start("podcastfs", ["get", path], in: environment)
    #expect(try eventually { try state(path) == "downloading" })
    #expect(process.wait(seconds: 0.7) == nil)
    try set(path, "state", "cached")
    #expect(process.wait() == .exit(0))
    #expect(process.output.hasSuffix("  a.mp3\n") && process.errors.isEmpty)
    let quiet = try get(path, "--quiet")
    #expect(quiet.wait() == .exit(0) && quiet.output == "")
    let json = try get(path, "--json")
    #expect(json.wait() == .exit(0))
    #expect(json.output.contains("\"state\": \"cached\"") && json.output.contains(path))
  }

  @Test func getFailsWithTheReasonWhenOneCannotBeHad() throws {
    let good = try episode("a.mp3", "cached")
    let bad = try episode("b.mp3", "remote")
    let process = try get(good, bad)
    #expect(try eventually { try state(bad) == "downloading" })
    try set(bad, "error", "HTTP 404 from media.example")
    try set(bad, "state", "failed")
    #expect(process.wait() == .exit(1))
    #expect(process.errors == "podcastfs: \(bad): HTTP 404 from media.example\n")
    #expect(try state(good) == "cached")
  }

  @Test func getTellsOnceWhyItWaits() throws {
    let path = try episode("a.mp3", "remote")
    let process = try Products.start("podcastfs", ["get", path], in: environment)
    #expect(try eventually { try state(path) == "downloading" })
    try set(path, "error", "cache is full")
    try set(path, "state", "queued")
    let first = "podcastfs: \(path): waiting: cache is full\n"
    #expect(eventually { process.errors == first })
    try set(path, "error", "cannot find the proxy p")
    #expect(eventually { process.errors.hasSuffix("waiting: cannot find the proxy p\n") })
    try set(path, "state", "cached")
    #expect(process.wait() == .exit(0))
    #expect(process.errors == first + "podcastfs: \(path): waiting: cannot find the proxy p\n")
  }

  @Test func getEndsWhenSomebodyElseCancels() throws {
    let path = try episode("a.mp3", "queued")
    let process = try Products.start("podcastfs", ["get", path], in: environment)
    #expect(try eventually { try state(path) == "downloading" })
    try set(path, "state", "remote")
    #expect(process.wait() == .exit(1))
    #expect(process.errors == "podcastfs: \(path): it was cancelled\n")
  }

  @Test func theStateOfAPathIsSet() throws {
    let path = try episode("a.mp3", "downloading")
    for (command, result) in [("pause", "paused"), ("resume", "downloading"), ("cancel", "remote")] {
      #expect(try run(command, path).end == .exit(0))
      #expect(try state(path) == result)
    }
  }

  @Test func aDirectoryMeansThoseOfItsEpisodesThatItMakesSenseFor() throws {
    let states = ["remote", "queued", "downloading", "paused", "failed", "cached"]
    let paths = try states.map { try episode("\($0).mp3", $0) }
    try environment.home.write("show/cover.jpg", "")
    let directory = environment.home.path("show")
    #expect(try run("pause", directory).end == .exit(0))
    #expect(try paths.map(state) == ["remote", "paused", "paused", "paused", "failed", "cached"])
    #expect(try run("resume", directory + "/").end == .exit(0))
    #expect(
      try paths.map(state) == [
        "remote", "downloading", "downloading", "downloading", "downloading", "cached",
      ])
    #expect(try run("cancel", directory).end == .exit(0))
    #expect(try paths.map(state) == Array(repeating: "remote", count: 6))
  }

  @Test func whatIsNoEpisodeIsAnErrorAndTheOthersAreDone() throws {
    let path = try episode("a.mp3", "downloading")
    let plain = try environment.home.write("plain.mp3", "")
    let empty = environment.home.path("empty")
    try Directories.create(empty)
    let missing = environment.home.path("missing.mp3")
    let result = try run("pause", plain, missing, empty, path)
    #expect(result.end == .exit(1))
    #expect(
      result.errors.split(separator: "\n") == [
        "podcastfs: \(plain): not an episode in a podcastfs mount",
        "podcastfs: \(missing): nothing is mounted: first run podcastfs mount",
        "podcastfs: \(empty): not in a podcastfs mount",
      ])
    #expect(try state(path) == "paused")
  }

  /// What a shell makes of `*` in a podcast's folder.
  @Test func coversBesideEpisodesArePassedOver() throws {
    let path = try episode("a.mp3", "cached")
    let cover = try environment.home.write("show/cover.jpg", "")
    let process = try get(path, cover)
    #expect(process.wait() == .exit(0) && process.errors.isEmpty, "\(process.errors)")
    for command in ["verify", "resume"] {
      let result = try run(command, path, cover)
      #expect(result.end == .exit(0) && result.errors.isEmpty, "\(command): \(result.errors)")
    }
    #expect(try run("get", cover).errors == "podcastfs: \(cover): not an episode in a podcastfs mount\n")
  }

  /// As many in /tmp are: their attributes may not be read.
  @Test(.enabled(if: getuid() != 0, "root reads them")) func strangersFilesAreNoEpisodes() throws {
    let path = try environment.home.write("show/private.txt", "")
    #expect(chmod(path, 0) == 0)
    let folder = environment.home.path("show")
    #expect(try run("get", folder).errors == "podcastfs: \(folder): not in a podcastfs mount\n")
    _ = try episode("a.mp3", "cached")
    #expect(try run("get", "--queue", folder).end == .exit(0))
  }

  @Test func getGoesOnWithTheOthersWhereOneIsNoEpisode() throws {
    let path = try episode("a.mp3", "remote")
    let missing = environment.home.path("show/missing.mp3")
    let process = try Products.start("podcastfs", ["get", "--json", path, missing], in: environment)
    #expect(try eventually { try state(path) == "downloading" })
    try set(path, "state", "cached")
    #expect(process.wait() == .exit(1))
    #expect(process.errors == "podcastfs: \(missing): nothing is mounted: first run podcastfs mount\n")
    let json = try JSONValue(parsing: Array(process.output.utf8)).elements
    #expect(json.map { $0["path"]?.text } == [path, missing])
    #expect(json.first?["state"]?.text == "cached")
    #expect(json.last?["error"]?.text == "nothing is mounted: first run podcastfs mount")
    let verify = try run("verify", "--json", path, missing)
    #expect(verify.end == .exit(1) && verify.output.contains("\"checked\": 0"))
    #expect(verify.errors == "podcastfs: \(missing): nothing is mounted: first run podcastfs mount\n")
  }

  @Test func aQuietVerifySaysNothingWhereAllIsWell() throws {
    let path = try episode("a.mp3", "cached")
    #expect(try run("verify", path).output.hasPrefix("0 episodes checked"))
    #expect(try run("verify", "--quiet", path).output == "")
  }
}
