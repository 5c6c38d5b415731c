import Glibc
import PosixKit
import TestSupport
import Testing

/// Rules of subscriptions, from the configuration and as attributes of a folder.
@Suite struct RuleTests {
  private let folder = "/Subscriptions/Harbour Lights"

  private func downloaded(_ fixture: MountFixture) -> [String]? {
    try? fixture.list("\(fixture.root)/Downloaded/Harbour Lights")
  }

  @Test func theNewestEpisodesAreDownloadedWhereTheConfigurationSaysSo() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 2)
    try fixture.environment.home.write(
      "config/podcastfs/config", "[feed \"\(fixture.origin.url("/feed.xml"))\"]\nauto_download = 1\n")
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    #expect(eventually { downloaded(fixture) == [MountFixture.names[1]] })
    fixture.publish(count: 3)
    #expect(try fixture.run("refresh").end == .exit(0))
    #expect(eventually { downloaded(fixture) == [MountFixture.names[2]] })
  }

  @Test func aRuleIsAnAttributeOfTheFolder() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 2)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let podcast = fixture.root + folder
    #expect(try fixture.attribute("auto_download", podcast) == nil)
    for (name, value) in [
      ("auto_download", "five"), ("auto_order", "oldest"), ("kinds", "short"), ("after_played", "drop:"),
      ("notify", "2"), ("min_duration", "long"), ("include", "\"\""),
    ] {
      let error = #expect(throws: PosixError.self) { try fixture.set(name, value, podcast) }
      #expect(error?.errno == .EINVAL, "\(name)")
    }
    try fixture.set("auto_download", "1", podcast)
    try fixture.set("exclude", "rerun \"best of\"", podcast)
    try fixture.set("min_duration", "10m", podcast)
    #expect(try fixture.attribute("auto_download", podcast) == "1")
    #expect(try fixture.attribute("exclude", podcast) == "rerun \"best of\"")
    #expect(try fixture.attribute("min_duration", podcast) == "10m")
    // Without anybody listing anything.
    #expect(eventually { downloaded(fixture) == [MountFixture.names[1]] })
    let other = #expect(throws: PosixError.self) {
      try fixture.set("auto_download", "1", "\(fixture.root)/Downloaded/Harbour Lights")
    }
    #expect(other?.errno == .EPERM)
    let removal = try ChildProcess.run(["setfattr", "-x", "user.podcastfs.exclude", podcast])
    #expect(removal.status == 0)
    #expect(try fixture.attribute("exclude", podcast) == nil)
    try fixture.unmount()
    try fixture.mount()
    #expect(try fixture.attribute("auto_download", podcast) == "1")
  }

  @Test func whatSomebodyHasOpenedIsNotDropped() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 2)
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let podcast = fixture.root + folder
    try fixture.set("auto_download", "2", podcast)
    #expect(eventually { downloaded(fixture) == Array(MountFixture.names[..<2]) })
    _ = try Directories.read("\(podcast)/\(MountFixture.names[0])", limit: 100)
    fixture.publish(count: 3)
    try fixture.set("auto_download", "1", podcast)
    #expect(try fixture.run("refresh").end == .exit(0))
    #expect(eventually { downloaded(fixture) == [MountFixture.names[0], MountFixture.names[2]] })
    // Nor does one that somebody has dropped come again.
    try fixture.set("state", "remote", "\(podcast)/\(MountFixture.names[2])")
    try fixture.set("notify", "0", podcast)
    #expect(try fixture.run("refresh").end == .exit(0))
    #expect(try fixture.attribute("state", "\(podcast)/\(MountFixture.names[2])") == "remote")
  }

  @Test func aMountCountsWhatItDoes() throws {
    let fixture = try MountFixture(rate: 200_000)
    try fixture.mount()
    try fixture.makeSearch()
    var gone = OriginResource(fixture.bodies[1])
    gone.behaviour.status = 404
    fixture.origin.serve("/2.mp3", gone)
    #expect(open(fixture.episode(2), O_RDONLY) == -1)
    for _ in 0..<2 { #expect(try fixture.isWhole(fixture.episode(1), 1)) }
    let metrics = try fixture.metrics("podcastfs_")
    #expect(metrics["http_requests_total"] ?? 0 >= 2)
    #expect(metrics["http_received_bytes_total"] ?? 0 >= Double(fixture.bodies[0].size))
    #expect(metrics["http_errors_total{class=\"4xx\"}"] ?? 0 >= 1)
    #expect(metrics["downloads{state=\"cached\"}"] == 1)
    #expect(metrics["cache_bytes"] == Double(fixture.bodies[0].size))
    let printed = try fixture.run("metrics")
    #expect(printed.end == .exit(0) && printed.output.hasSuffix("# EOF\n"), "\(printed.errors)")
    #expect(try fixture.run("metrics", "--json", fixture.root).output.contains("\"podcastfs_cache_bytes\""))
    try fixture.unmount()
    #expect(try fixture.run("metrics").end == .exit(1))
  }

  @Test func whatWasPlayedGoes() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let podcast = fixture.root + folder
    try fixture.set("after_played", "drop", podcast)
    let paths = MountFixture.names.map { "\(podcast)/\($0)" }
    for path in paths { _ = try Directories.read(path, limit: 1 << 20) }
    try fixture.set("keep", "1", paths[0])
    for path in paths[..<2] { try fixture.set("played", "1", path) }
    #expect(eventually { downloaded(fixture) == [MountFixture.names[0], MountFixture.names[2]] })
    try fixture.set("keep", "0", paths[0])
    #expect(eventually { downloaded(fixture) == [MountFixture.names[2]] })
    // What was played leaves the queue, which protected it.
    #expect(try fixture.run("queue", "add", paths[2]).end == .exit(0))
    try fixture.set("played", "1", paths[2])
    #expect(eventually { downloaded(fixture) == [] })
  }

  @Test func whatSomebodyHasOrderedIsNotDropped() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let podcast = fixture.root + folder
    try fixture.set("auto_download", "3", podcast)
    #expect(eventually { downloaded(fixture) == MountFixture.names })
    #expect(try fixture.run("get", "\(podcast)/\(MountFixture.names[0])").end == .exit(0))
    try fixture.set("auto_download", "1", podcast)
    #expect(eventually { downloaded(fixture) == [MountFixture.names[0], MountFixture.names[2]] })
  }
}
