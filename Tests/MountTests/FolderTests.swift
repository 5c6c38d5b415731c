import Glibc
import PosixKit
import TestSupport
import Testing

/// Folders' times, lists that are copied there, names.
@Suite struct FolderTests {
  private func modified(_ path: String, _ fixture: MountFixture) throws -> timespec {
    try fixture.status(path).st_mtim
  }

  private func isLater(_ a: timespec, _ b: timespec) -> Bool { (a.tv_sec, a.tv_nsec) > (b.tv_sec, b.tv_nsec) }
  private func isSame(_ a: timespec, _ b: timespec) -> Bool { a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec }

  @Test func foldersCarryTheTimeOfTheirLastChangeAlsoAcrossARemount() throws {
    let fixture = try MountFixture(size: 100_000)
    fixture.publish(count: 2)
    try fixture.mount()
    try fixture.makeSearch()
    let folder = fixture.root + "/Subscriptions/Harbour Lights"
    let subscriptions = fixture.root + "/Subscriptions"
    let before = try modified(subscriptions, fixture)
    #expect(rename(fixture.podcastPath, folder) == 0)
    #expect(isLater(try modified(subscriptions, fixture), before))
    _ = try fixture.list(folder)
    let first = try modified(folder, fixture)
    fixture.publish(count: 3)
    #expect(try fixture.run("refresh", folder).end == .exit(0))
    #expect(isLater(try modified(folder, fixture), first))
    // Another state changes nothing of what is listed.
    let second = try modified(folder, fixture)
    try fixture.set("state", "paused", "\(folder)/\(MountFixture.names[0])")
    #expect(isSame(try modified(folder, fixture), second))
    let downloading = try modified(fixture.root + "/Downloading/Paused", fixture)
    try fixture.set("state", "remote", "\(folder)/\(MountFixture.names[0])")
    #expect(isLater(try modified(fixture.root + "/Downloading/Paused", fixture), downloading))
    // A subscription's time is its newest episode's date: shows sort by news.
    let newest = 1_704_067_200 + 2 * 86_400
    #expect(second.tv_sec == newest && second.tv_nsec == 0)
    unlink("\(folder)/\(MountFixture.names[2])")
    let third = try modified(folder, fixture)
    #expect(third.tv_sec == newest - 86_400)
    try fixture.unmount()
    try fixture.mount()
    let after = try modified(folder, fixture)
    #expect(isSame(after, third))
  }

  @Test func everyFolderHasTheSameTimeInAnotherMountAndAfterARemount() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    let other = fixture.root + "2"
    mkdir(other, 0o755)
    try fixture.mount(at: other)
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(rename(fixture.podcastPath, fixture.root + "/Subscriptions/Harbour Lights") == 0)
    let podcast = "/Subscriptions/Harbour Lights"
    _ = try Directories.read("\(fixture.root)\(podcast)/\(MountFixture.names[0])", limit: 1 << 20)
    try fixture.set("state", "paused", "\(other)\(podcast)/\(MountFixture.names[1])")
    #expect(unlink("\(other)\(podcast)/\(MountFixture.names[2])") == 0)
    let folders = [
      "/Search", "/Search/\(MountFixture.search)", "/Subscriptions", podcast, "/Latest",
      "/Downloading/Paused",
      "/Downloaded", "/Downloaded/Harbour Lights",
    ]
    func times(_ root: String) throws -> [String] {
      try folders.map { folder in
        let time = try modified(root + folder, fixture)
        return "\(folder) \(time.tv_sec) \(time.tv_nsec)"
      }
    }
    #expect(try eventually { try fixture.list(fixture.root + "/Downloaded") == ["Harbour Lights"] })
    #expect(try eventually { try times(fixture.root) == times(other) })
    let before = try times(fixture.root)
    try fixture.unmount()
    #expect(try fixture.run("unmount", other).end == .exit(0))
    try fixture.mount()
    let after = try times(fixture.root)
    #expect(after == before)
    for folder in folders { _ = try fixture.list(fixture.root + folder) }
    let listed = try times(fixture.root)
    #expect(listed == before)
  }

  @Test func aListCanBeCopiedAgainReadBackAndWritten() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    let source = try fixture.environment.home.write(
      "list.opml",
      Array(
        "<opml version=\"2.0\"><body><outline type=\"rss\" text=\"A\" xmlUrl=\"\(fixture.origin.url("/feed.xml"))\"/></body></opml>"
          .utf8))
    let target = fixture.root + "/Subscriptions/list.opml"
    for _ in 0..<3 {
      let copy = try RunningProcess("cp", [source, target], environment: fixture.environment.variables)
      #expect(copy.wait() == .exit(0), "\(copy.errors)")
      #expect(try Directories.read(target) == Directories.read(source))
    }
    #expect(try fixture.list(fixture.root + "/Subscriptions").contains("A"))
    #expect(unlink(target) == 0)
    #expect(try !fixture.list(fixture.root + "/Subscriptions").contains("list.opml"))
  }

  /// KDE's programs copy to a temporary name.
  @Test func aListThatWasCopiedGetsAnotherName() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    let folder = fixture.root + "/Subscriptions"
    let copy = try fixture.shell("echo \(fixture.origin.url("/feed.xml")) > '\(folder)/list.opml.part'")
    #expect(copy.wait() == .exit(0), "\(copy.errors)")
    #expect(rename(folder + "/list.opml.part", folder + "/list.opml") == 0)
    #expect(try fixture.list(folder).contains("list.opml"))
    #expect(try fixture.status(folder + "/list.opml").st_size > 0)
    #expect(errnoOf { rename(folder + "/list.opml", folder + "/subscriptions.opml") } == .EEXIST)
    #expect(unlink(folder + "/list.opml") == 0)
  }

  @Test func aSubscriptionIsRenamedAndTheListKeepsTheName() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    try fixture.makeSearch()
    let subscriptions = fixture.root + "/Subscriptions"
    #expect(rename(fixture.podcastPath, subscriptions + "/Harbour Lights") == 0)
    let inode = try fixture.status(subscriptions + "/Harbour Lights").st_ino
    #expect(rename(subscriptions + "/Harbour Lights", subscriptions + "/Mine") == 0)
    #expect(try fixture.list(subscriptions) == ["Mine", "subscriptions.opml"])
    #expect(try fixture.status(subscriptions + "/Mine").st_ino == inode)
    #expect(try fixture.list(subscriptions + "/Mine") == MountFixture.names)
    let list = try Directories.read(subscriptions + "/subscriptions.opml")
    #expect(String(decoding: list, as: UTF8.self).contains("Mine"))
  }

  @Test func aSearchHasAUsableName() throws {
    let fixture = try MountFixture(size: 100_000)
    try fixture.mount()
    func make(_ name: String) -> Errno? { errnoOf { mkdir("\(fixture.root)/Search/\(name)", 0o755) } }
    #expect(make(String(repeating: "x", count: 256)) == .ENAMETOOLONG)
    #expect(make(".Trash-1000") == .EPERM)
    #expect(make("two\nlines") == .EILSEQ)
    #expect(make("two\u{2028}lines") == .EILSEQ)
    #expect(make("country:de") == .EINVAL)
    #expect(try fixture.list(fixture.root + "/Search").isEmpty)
    try fixture.makeSearch()
    #expect(errnoOf { rename(fixture.searchPath, "\(fixture.root)/Search/country:de") } == .EINVAL)
    #expect(errnoOf { rename(fixture.searchPath, "\(fixture.root)/Search/newer:zzz") } == .EINVAL)
    #expect(errnoOf { rename(fixture.searchPath, "\(fixture.root)/Search/two\nlines") } == .EILSEQ)
    let latin: [CChar] = Array((fixture.root + "/Search/caf").utf8CString.dropLast()) + [-23, 0]
    #expect(errnoOf { rename(fixture.searchPath, latin) } == .EILSEQ)
    #expect(errnoOf { mkdir(latin, 0o755) } == .EILSEQ)
    #expect(try fixture.list(fixture.root + "/Search") == [MountFixture.search])
  }

  /// Some programs open each file several times, at once or again and again.
  @Test(arguments: [
    "exec head -c1 \"$@\"",
    "for file; do exec 3<\"$file\" 4<\"$file\"; exec 3<&-; exec 4<&-; done",
    "for file; do exec 3<\"$file\"; exec 3<&-; exec 3<\"$file\"; exec 3<&-; done",
  ])
  func aSweepLeavesNoDownloadsBehindButTheFirstEight(script: String) throws {
    let (fixture, names) = try twelve()
    let sweep = try RunningProcess(
      "sh", ["-c", script, "sh"] + names.map { "\(fixture.podcastPath)/\($0)" },
      environment: fixture.environment.variables)
    #expect(sweep.wait() == .exit(0), "\(sweep.errors)")
    #expect(
      try eventually {
        try names.filter { try fixture.attribute("state", "\(fixture.podcastPath)/\($0)") == "remote" }.count
          == 4
      })
    // One program that opens one wants it.
    let last = "\(fixture.podcastPath)/\(names[11])"
    _ = try Directories.read(last, limit: 1)
    let state = try fixture.attribute("state", last)
    #expect(state == "downloading" || state == "queued")
  }

  @Test func oneFileThatIsOpenedAgainAndAgainIsDownloaded() throws {
    let (fixture, names) = try twelve()
    let first = "\(fixture.podcastPath)/\(names[0])"
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do exec 3<\"$1\"; exec 3<&-; done"
    let program = try RunningProcess(
      "sh", ["-c", script, "sh", first], environment: fixture.environment.variables)
    #expect(program.wait() == .exit(0), "\(program.errors)")
    let state = try fixture.attribute("state", first)
    #expect(state == "downloading" || state == "queued")
  }

  /// A file manager that is told of each change of what it shows, and looks again.
  @Test func whoLooksAgainAtWhatItHasLetGoAsksForNothing() throws {
    let (fixture, names) = try twelve()
    let script = """
      for file; do exec 3<"$file"; exec 3<&-; done
      while [ "$(getfattr --only-values -n user.podcastfs.state "$file")" != remote ]; do :; done
      for i in 1 2 3 4 5 6 7 8 9; do
        exec 3<"$file"; exec 3<&-
        while [ "$(getfattr --only-values -n user.podcastfs.state "$file")" != remote ]; do :; done
      done
      """
    let sweep = try RunningProcess(
      "sh", ["-c", script, "sh"] + names.map { "\(fixture.podcastPath)/\($0)" },
      environment: fixture.environment.variables)
    #expect(sweep.wait() == .exit(0), "\(sweep.errors)")
    #expect(fixture.origin.requests("/sweep-12.mp3").count <= 2)
  }

  /// libfm opens all that it shows, and reads the beginning of what its name does not tell enough of.
  @Test func aLookForTheTypeIsNoDownload() throws {
    let (fixture, names) = try twelve()
    let directory = try TemporaryDirectory()
    let program = directory.path("pcmanfm")
    try Directories.replace(program, with: Directories.read("/bin/dd"))
    chmod(program, 0o755)
    func read(_ size: Int, of name: String) throws -> RunningProcess.End? {
      try RunningProcess(
        program, ["if=\(fixture.podcastPath)/\(name)", "of=/dev/null", "bs=\(size)", "count=1"],
        environment: fixture.environment.variables
      ).wait()
    }
    for name in names { #expect(try read(4096, of: name) == .exit(1)) }
    #expect((1...12).allSatisfy { fixture.origin.requests("/sweep-\($0).mp3").isEmpty })
    // It copies in the same way, with longer reads.
    #expect(try read(65_536, of: names[0]) == .exit(0))
    let state = try fixture.attribute("state", "\(fixture.podcastPath)/\(names[0])")
    #expect(state == "downloading" || state == "queued")
  }

  private func twelve() throws -> (MountFixture, names: [String]) {
    let fixture = try MountFixture(size: 3_000_000, rate: 100_000)
    var feed = TestFeed(MountFixture.podcast, author: "Ann")
    feed.items = (1...12).map { number in
      let path = "/sweep-\(number).mp3"
      var resource = OriginResource(TestBody(seed: UInt64(number), size: 3_000_000))
      resource.behaviour.rate = 100_000
      fixture.origin.serve(path, resource)
      return TestFeed.Item(
        "Sweep \(number)", url: fixture.origin.url(path), guid: "s\(number)",
        published: 1_704_067_200 + Int64(number) * 86_400, length: 3_000_000)
    }
    fixture.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    try fixture.mount()
    try fixture.makeSearch()
    let names = try fixture.list(fixture.podcastPath)
    try #require(names.count == 12)
    return (fixture, names)
  }

  /// rewinddir(3): who keeps a folder open sees what has come and gone.
  @Test func whoReadsAnOpenFolderOnceMoreSeesItAsItIs() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let folder = "\(fixture.root)/Subscriptions/\(MountFixture.podcast)"
    let directory = try #require(opendir(folder))
    defer { closedir(directory) }
    func names() -> Set<String> {
      rewinddir(directory)
      var names: Set<String> = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) {
          String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name.hasSuffix(".mp3") { names.insert(name) }
      }
      return names
    }
    #expect(names() == Set(MountFixture.names))
    #expect(unlink("\(folder)/\(MountFixture.names[0])") == 0)
    #expect(names() == Set(MountFixture.names.dropFirst()))
    #expect(try ChildProcess.run(["setfattr", "-n", "user.podcastfs.hidden", "-v", "0", folder]).status == 0)
    #expect(names() == Set(MountFixture.names))
  }
  /// A private feed whose token was renewed, and twelve chapters of one date.
  @Test func `A subscription takes another address, and names and times sort as published`() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 1) { feed, origin in
      feed.items = (1...12).map { number in
        TestFeed.Item(
          "Chapter \(number)", url: origin.url("/1.mp3?n=\(number)"), guid: "c\(number)",
          published: 1_704_067_200,
          length: 300_000)
      }
      origin.serve("/renewed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    }
    try fixture.mount()
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    let folder = "\(fixture.root)/Subscriptions/\(MountFixture.podcast)"
    let names = try fixture.list(folder)
    #expect(
      names.first == "2024-01-01 001 - Chapter 1.mp3" && names.last == "2024-01-01 012 - Chapter 12.mp3")
    let times = try names.map { try fixture.status("\(folder)/\($0)").st_mtim.tv_sec }
    #expect(times == (0..<12).map { 1_704_067_200 + $0 })
    let set = { (address: String) in
      try ChildProcess.run(["setfattr", "-n", "user.podcastfs.feed_url", "-v", address, folder]).status
    }
    #expect(try set("ftp://h.example/") != 0)
    #expect(try set(fixture.origin.url("/renewed.xml")) == 0)
    #expect(try fixture.attribute("feed_url", folder) == fixture.origin.url("/renewed.xml"))
    #expect(try fixture.run("refresh").end == .exit(0))
    #expect(!fixture.origin.requests("/renewed.xml").isEmpty)
    #expect(try fixture.list(folder) == names)
  }
}
