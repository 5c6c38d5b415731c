import Glibc
import PosixKit
import TestSupport
import Testing

/// The commands on a real mount.
@Suite struct CommandTests {
  @Test func getDownloadsAndStatusTells() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let get = try fixture.run("get", fixture.episode(1), fixture.episode(2))
    #expect(get.end == .exit(0), "\(get.errors)")
    #expect(try fixture.attribute("state", fixture.episode(2)) == "cached")
    let status = try fixture.run("status", "--json")
    #expect(status.end == .exit(0) && status.output.contains("\"state\": \"cached\""))
    let file = try Directories.read(fixture.root + "/.podcastfs/status.json")
    #expect(String(decoding: file, as: UTF8.self).contains("\"bytes_received\": 300000"))
    #expect(try fixture.run("cancel", fixture.episode(2)).end == .exit(0))
    #expect(try fixture.attribute("state", fixture.episode(2)) == "remote")
  }

  @Test func pauseAndResumeSteerADownload() throws {
    let fixture = try MountFixture(size: 2_000_000, rate: 400_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try Directories.read(fixture.episode(1), limit: 1000)
    #expect(try fixture.run("pause", fixture.episode(1)).end == .exit(0))
    #expect(try fixture.attribute("state", fixture.episode(1)) == "paused")
    fixture.origin.change("/1.mp3") { $0.behaviour.rate = nil }
    #expect(try fixture.run("resume", fixture.episode(1)).end == .exit(0))
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
  }

  /// As after a reboot: nothing runs, and the runtime folder is empty.
  @Test(arguments: ["list", "export", "verify"]) func aCommandLetsUnfinishedDownloadsGoOn(_ command: String)
    throws
  {
    let fixture = try MountFixture(size: 2_000_000, rate: 400_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try Directories.read(fixture.episode(1), limit: 1000)
    try fixture.unmount()
    #expect(fixture.environment.signalDaemon(SIGKILL))
    #expect(eventually { fixture.daemon == nil })
    _ = try ChildProcess.run(["rm", "-rf", fixture.environment.home.path("run") + "/podcastfs"])
    #expect(try fixture.run(command).end == .exit(0))
    #expect(eventually { fixture.daemon != nil })
    #expect(try eventually { try fixture.run("status", "--json").output.contains("\"state\": \"cached\"") })
  }

  @Test func subscriptionsComeFromMoveCommandAndListAndGoByRmdir() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let subscriptions = fixture.root + "/Subscriptions"
    #expect(rename(fixture.podcastPath, subscriptions + "/Harbour Lights") == 0)
    #expect(try fixture.list(subscriptions) == ["Harbour Lights", "subscriptions.opml"])
    #expect(try fixture.list(subscriptions + "/Harbour Lights") == MountFixture.names)
    #expect(try fixture.list(fixture.searchPath) == [])
    #expect(try eventually { try fixture.list(fixture.root + "/Latest").count == 3 })
    let list = try Directories.read(subscriptions + "/subscriptions.opml")
    #expect(String(decoding: list, as: UTF8.self).contains(fixture.origin.url("/feed.xml")))
    #expect(try fixture.status(subscriptions + "/subscriptions.opml").st_size == list.count)
    #expect(try fixture.run("list").output.contains("Harbour Lights"))
    #expect(unlink("\(subscriptions)/Harbour Lights/\(MountFixture.names[0])") == 0)
    #expect(try fixture.list(subscriptions + "/Harbour Lights").count == 2)
    #expect(rmdir(subscriptions + "/Harbour Lights") == 0)
    #expect(try fixture.list(subscriptions) == ["subscriptions.opml"])
    // The very list that was exported, copied back.
    let copy = try fixture.environment.home.write("backup.opml", list)
    let copied = try RunningProcess(
      "cp", [copy, subscriptions + "/"], environment: fixture.environment.variables)
    #expect(copied.wait() == .exit(0), "\(copied.errors)")
    #expect(try eventually { try fixture.list(subscriptions).contains("Harbour Lights") })
    for content in [
      "", "no list", "<opml version=\"2.0\"><body></body></opml>", "<opml><body><outline xmlUrl=\"http",
    ] {
      let bad = try fixture.environment.home.write("bad.opml", content)
      let refused = try RunningProcess(
        "cp", [bad, subscriptions + "/"], environment: fixture.environment.variables)
      #expect(refused.wait() == .exit(1) && refused.errors.contains("Invalid argument"), "\(content)")
      #expect(try eventually { try !fixture.list(subscriptions).contains("bad.opml") })
    }
    #expect(fixture.log.contains("bad.opml, copied to Subscriptions: it names no feed"))
  }

  @Test func aListThatIsCutOffIsNoSuccess() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let list = fixture.root + "/Subscriptions/subscriptions.opml"
    #expect(errnoOf { truncate(list, 0) } == .EROFS)
    let tool = try fixture.shell("truncate -s 0 '\(list)'")
    #expect(tool.wait() == .exit(1) && tool.errors.contains("Invalid argument"), "\(tool.errors)")
    #expect(fixture.log.contains("subscriptions.opml, copied to Subscriptions: the file is empty"))
    // As Samba and editors write.
    do {
      let file = try FileDescriptor(opening: list, O_WRONLY)
      #expect(ftruncate(file.rawValue, 0) == 0)
      try file.write(Array("\(fixture.origin.url("/feed.xml"))\n".utf8), at: 0)
    }
    #expect(try fixture.list(fixture.root + "/Subscriptions").count == 2)
    let empty = try fixture.shell(": > '\(list)'; cat '\(list)'")
    #expect(empty.wait() == .exit(0) && empty.output.contains("xmlUrl"), "\(empty.errors)")
  }

  /// The further pages of a feed's archive (RFC 5005) come before a command ends.
  @Test func aCommandEndsWhenTheWholeArchiveIsHere() throws {
    let fixture = try MountFixture()
    for page in 2...4 {
      var feed = TestFeed(MountFixture.podcast)
      feed.items = [
        TestFeed.Item(
          "Old \(page)", url: fixture.origin.url("/old\(page).mp3"), guid: "old\(page)",
          published: 1_604_067_200 - Int64(page) * 86_400, length: 1000)
      ]
      if page < 4 {
        feed.more = "<atom:link rel=\"next\" href=\"\(fixture.origin.url("/page\(page + 1)"))\"/>"
      }
      var resource = OriginResource(feed.xml, mediaType: "application/rss+xml")
      resource.behaviour.latency = 0.3
      fixture.origin.serve("/page\(page)", resource)
    }
    fixture.publish(count: 3) { feed, origin in
      feed.more = "<atom:link rel=\"next\" href=\"\(origin.url("/page2"))\"/>"
    }
    let result = try fixture.run("subscribe", fixture.origin.url("/feed.xml"), seconds: 120)
    #expect(result.end == .exit(0), "\(result.errors)")
    #expect((2...4).allSatisfy { fixture.origin.requests("/page\($0)").count == 1 })
    let list = try fixture.run("list", "--json", seconds: 60)
    #expect(list.output.contains("\"episode_count\": 6"), "\(list.output)")
  }

  @Test func theDemonstrationShowsTheWholeJobWithoutANetwork() throws {
    let fixture = try MountFixture()
    let result = try fixture.run("demo", "-o", "min_free=0", fixture.root)
    #expect(result.end == .exit(0), "\(result.errors)")
    let search = fixture.root + "/Search/harbour"
    #expect(mkdir(search, 0o755) == 0)
    let podcast = try #require(try fixture.list(search).first)
    let names = try fixture.list("\(search)/\(podcast)").filter { $0.hasSuffix(".mp3") }
    let episode = "\(search)/\(podcast)/\(try #require(names.first))"
    let head = try Directories.read(episode, limit: 4096)
    #expect(head.starts(with: "ID3".utf8) || head.first == 0xff)
    #expect(try eventually { try fixture.attribute("state", episode) == "downloading" })
    #expect(try fixture.attribute("progress", episode) != "100.0")
    try fixture.unmount()
  }
}
