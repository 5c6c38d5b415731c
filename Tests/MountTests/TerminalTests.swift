import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// What the commands say of a catalogue: search and subscribe, list, import.
@Suite struct TerminalTests {
  @Test func whatSearchPrintedIsWhatSubscribeTakes() throws {
    let fixture = try MountFixture()
    let token = "0b5e8d5a-7f3c-4f1e-9a53-2f6c1c1f7a10"
    fixture.directory.list([
      .init("Other Show", feedURL: fixture.origin.url("/other.xml")),
      .init(MountFixture.podcast, feedURL: fixture.origin.url("/feed.xml?token=\(token)")),
    ])
    let search = try fixture.run("search", "show", "harbour")
    #expect(search.errors.contains("nothing found"))
    fixture.directory.list([
      .init(MountFixture.podcast, feedURL: fixture.origin.url("/feed.xml?token=\(token)"))
    ])
    let found = try fixture.run("search", "harbour")
    let lines = found.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasPrefix("1  \(MountFixture.podcast)") == true)
    #expect(!found.output.contains(token))
    #expect(try fixture.run("subscribe", "2").errors.contains("the last search (harbour) printed 1 result"))
    let subscribed = try fixture.run("subscribe", "1")
    #expect(
      subscribed.end == .exit(0) && subscribed.output == MountFixture.podcast + "\n", "\(subscribed.errors)")
    #expect(fixture.origin.requests("/feed.xml").last?.target.contains(token) == true)
    #expect(try fixture.run("list", "--names").output == MountFixture.podcast + "\n")
    #expect(try fixture.run("list").output.hasPrefix("\(MountFixture.podcast)         3           0  "))
    #expect(try fixture.run("search", "harbour").output.hasPrefix("1* \(MountFixture.podcast)"))
    #expect(try fixture.run("unsubscribe", MountFixture.podcast).end == .exit(0))
    let shown = lines[1].split(separator: " ").joined()
    #expect(
      try fixture.run("subscribe", "--json", shown).output.contains("\"name\": \"\(MountFixture.podcast)\""))
    #expect(try fixture.run("refresh", "--json").output.contains("\"new_episodes\": 0"))
    #expect(try fixture.run("refresh", "--quiet").output == "")
  }

  /// As those are that a mount was asked for.
  @Test func searchesAndAddressesThatFailAreInTheLog() throws {
    let fixture = try MountFixture()
    fixture.directory.behave(.with { $0.status = 503 })
    #expect(try fixture.run("search", "harbour").end == .exit(1))
    #expect(try fixture.run("search", "country:de").end == .exit(1))
    let feed = fixture.origin.url("/none.xml?token=0b5e8d5a-7f3c-4f1e-9a53-2f6c1c1f7a10")
    #expect(try fixture.run("subscribe", feed).end == .exit(1))
    #expect(try fixture.run("subscribe", "ftp://harbour.example/").end == .exit(1))
    let log = fixture.log
    #expect(log.contains(#"cannot search for "harbour": HTTP 503"#), "\(log)")
    #expect(log.contains(#"cannot search for "country:de": no words to search for"#), "\(log)")
    let address = fixture.origin.url("/none.xml")
    #expect(log.contains("cannot subscribe to \(address)?token=***: HTTP 404"), "\(log)")
    #expect(log.contains("cannot subscribe to ftp://harbour.example/: "), "\(log)")
    #expect(!log.contains("0b5e8d5a"))
  }

  /// Neither a file nor a terminal gets what moves a cursor or turns text round.
  @Test func anExportHasNoControlCharacters() throws {
    let fixture = try MountFixture()
    let home = fixture.environment.home
    let title = "Ev\u{202E}il\u{9B}31m\u{7F}"
    let list = try home.write(
      "list.opml",
      """
      <opml version="2.0"><body><outline type="rss" text="\(title)" xmlUrl="http://harbour.example/f"/></body></opml>
      """)
    #expect(try fixture.run("import", list).end == .exit(0))
    let file = home.path("exported.opml")
    #expect(try fixture.run("export", file).end == .exit(0))
    let text = String(decoding: try Directories.read(file), as: UTF8.self)
    #expect(text.contains("text=\"Evil31m\""), "\(text)")
    #expect(try fixture.run("export").output == text)
    try fixture.mount()
    #expect(try Directories.read(fixture.root + "/Subscriptions/subscriptions.opml") == Array(text.utf8))
    // What is no file is written to, not replaced.
    #expect(mkfifo(home.path("pipe"), 0o600) == 0)
    let reader = try RunningProcess("cat", [home.path("pipe")], environment: fixture.environment.variables)
    #expect(try fixture.run("export", home.path("pipe")).end == .exit(0))
    #expect(reader.wait() == .exit(0) && reader.output == text)
  }

  @Test func anImportWithBadEntriesKeepsTheGoodOnesAndSaysSo() throws {
    let fixture = try MountFixture()
    let list = try fixture.environment.home.write(
      "list.opml",
      """
      <opml version="2.0"><body><outline type="rss" text="Good" xmlUrl="\(fixture.origin.url("/feed.xml"))"/>
      <outline type="rss" text="Bad" xmlUrl="ftp://harbour.example/feed"/></body></opml>
      """)
    let first = try fixture.run("import", list)
    #expect(first.end == .exit(1) && first.output == "1 added, 0 known already, 1 refused\n")
    #expect(first.errors.contains("neither http nor https"))
    let second = try fixture.run("import", "--json", list)
    #expect(second.end == .exit(1) && second.output.contains("\"known\": 1"))
  }

  /// What the attributes of an episode say of its size, while no server has told it.
  @Test func statusTellsTheFeedsSizeAsTheAttributesDo() throws {
    let fixture = try MountFixture(rate: 5_000)
    try fixture.mount(options: "min_free=0,downloads=1")
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    for number in [3, 1] { try fixture.set("state", "downloading", fixture.episode(number)) }
    #expect(try fixture.attribute("state", fixture.episode(1)) == "queued")
    #expect(try fixture.attribute("size_source", fixture.episode(1)) == "feed")
    let own = String(
      decoding: try Directories.read(fixture.root + "/.podcastfs/status.json"), as: UTF8.self)
    for text in [own, try fixture.run("status", "--json").output] {
      let queued = try JSONValue(parsing: Array(text.utf8))["transfers"]?.elements.first {
        $0["state"]?.text == "queued"
      }
      #expect(queued?["bytes_total"]?.compactText == "\(fixture.bodies[0].size)", "\(text)")
      #expect(queued?["progress"]?.text == "0.0")
    }
    let line = try fixture.run("status").output.split(separator: "\n").first { $0.hasPrefix("queued ") }
    #expect(line?.split(separator: " ").prefix(2) == ["queued", "0.0%"], "\(line ?? "")")
  }

  @Test func interruptingAGetLeavesTheDownloadsRunning() throws {
    let fixture = try MountFixture(size: 3_000_000, rate: 20_000)
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    let get = try Products.start("podcastfs", ["get", fixture.podcastPath], in: fixture.environment)
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) != "remote" })
    // The newest is first.
    #expect(try eventually { try fixture.attribute("state", fixture.episode(3)) == "downloading" })
    get.signal(SIGINT)
    #expect(get.wait() == .signal(SIGINT))
    #expect(try fixture.attribute("state", fixture.episode(3)) == "downloading")
  }

  /// The bound of the catalogue is the mount's, whether its options or the configuration say it.
  @Test func theDoctorTellsTheSizeThatTheCatalogueMayHave() throws {
    let fixture = try MountFixture()
    try fixture.mount(options: "min_free=0,catalogue_size=300M")
    let doctor = try fixture.run("doctor").output
    #expect(doctor.contains(" of 300 MiB\n"), "\(doctor)")
  }

  @Test func theDoctorSeesAMountThatIsDead() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(try fixture.run("doctor").output.contains("ok       mounted on \(fixture.root)\n"))
    try fixture.killForGood()
    #expect(eventually { fixture.mountProcess == nil })
    let doctor = try fixture.run("doctor")
    #expect(doctor.end == .exit(1))
    #expect(doctor.output.contains("PROBLEM  the mount on \(fixture.root) is dead"))
  }

  @Test func aMountThatDoesNotAnswerHoldsUpNeitherDoctorNorMount() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let process = try #require(fixture.mountProcess)
    kill(process, SIGSTOP)
    defer { kill(process, SIGCONT) }
    let doctor = try fixture.run("doctor", seconds: 60)
    #expect(doctor.end == .exit(1))
    #expect(
      doctor.output.contains("PROBLEM  the mount on \(fixture.root) does not answer"), "\(doctor.output)")
    let mount = try fixture.run("mount", fixture.root, seconds: 60)
    #expect(mount.end == .exit(1) && mount.errors.contains("does not answer"), "\(mount.errors)")
    #expect(try fixture.run("unmount", "--lazy", fixture.root, seconds: 60).end == .exit(0))
    #expect(try fixture.list(fixture.root) == [])
  }

  @Test func theDoctorSeesADaemonThatCannotStart() throws {
    let fixture = try MountFixture()
    let program = try fixture.environment.home.write(
      "bin/podcastfs", try Directories.read(Products.path("podcastfs"), limit: 1 << 30))
    let daemon = try fixture.environment.home.write("bin/podcastfs-transferd", "#!/bin/sh\nexit 3\n")
    for file in [program, daemon] { chmod(file, 0o755) }
    let doctor = try RunningProcess(program, ["doctor"], environment: fixture.environment.variables)
    #expect(doctor.wait() == .exit(1))
    #expect(doctor.output.contains("PROBLEM  \(daemon) does not start"), "\(doctor.output)")
  }

  @Test(.enabled(if: getuid() == 0)) func theDoctorSeesAFullRuntimeFolder() throws {
    let fixture = try MountFixture()
    let run = fixture.environment.home.path("run")
    #expect(
      try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", run]).status == 0)
    defer { _ = try? ChildProcess.run(["umount", "-l", run]) }
    #expect(try fixture.run("doctor").output.contains("free in \(run)/podcastfs: downloads cannot begin"))
  }

  @Test(.enabled(if: getuid() == 0)) func downloadsWaitWhileTheRuntimeFolderIsFull() throws {
    let fixture = try MountFixture()
    let run = fixture.environment.home.path("run")
    #expect(
      try ChildProcess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "none", run]).status == 0)
    defer {
      // While its number can be found there.
      _ = try? fixture.run("unmount", "--lazy", fixture.root)
      fixture.environment.signalDaemon(SIGKILL)
      _ = try? ChildProcess.run(["umount", "-l", run])
    }
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    // The map of a complete episode goes, and would leave room for another one.
    #expect(try eventually { try fixture.list(run + "/podcastfs/maps").isEmpty })
    let fill = ["-c", "head -c 2M /dev/zero > \(run)/fill"]
    _ = try RunningProcess("sh", fill, environment: fixture.environment.variables).wait()
    #expect(try fixture.run("get", "--queue", fixture.episode(2)).end == .exit(0))
    let words = "no space left in \(run)/podcastfs"
    #expect(
      try eventually { try fixture.attribute("error", fixture.episode(2))?.contains(words) ?? false })
    #expect(try fixture.attribute("state", fixture.episode(2)) == "queued")
    // What has been downloaded can be read.
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(unlink(run + "/fill") == 0)
    #expect(try fixture.run("get", fixture.episode(2)).end == .exit(0))
    #expect(try fixture.isWhole(fixture.episode(2), 2))
  }

  @Test func theDesktopOpensAddressesAndLists() throws {
    let fixture = try MountFixture()
    let home = fixture.environment.home
    let usual = home.path("Podcasts")
    defer { _ = try? fixture.run("unmount", "--lazy", usual) }
    let script = #filePath.replacing(
      "Tests/MountTests/TerminalTests.swift", with: "mount-helper/files/podcastfs-open")
    var variables = fixture.environment.variables
    variables["PATH"] = Products.path("podcastfs").dropLast("/podcastfs".count) + ":" + Products.searchPath
    func open(_ operand: String) throws -> (end: RunningProcess.End?, errors: String) {
      let process = try RunningProcess(script, [operand], environment: variables)
      return (process.wait(), process.errors)
    }
    // A web page may not lead to a private host: who follows a feed there types its address.
    let refused = try open("feed:" + fixture.origin.url("/feed.xml"))
    #expect(refused.errors.contains("has a private address"), "\(refused.errors)")
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    #expect(try fixture.list(usual + "/Subscriptions").contains(MountFixture.podcast))
    let feed = fixture.origin.url("/other.xml")
    try home.write(
      "my list.opml",
      "<opml version='2.0'><body><outline type='rss' text='O' xmlUrl='\(feed)'/></body></opml>")
    #expect(try !open("file://" + home.path("my%20list.opml")).errors.contains("podcastfs:"))
    #expect(try fixture.run("list", "--names").output.contains("O\n"))
    #expect(try !open("feed:" + fixture.origin.url("/feed.xml")).errors.contains("podcastfs:"))
  }
}
