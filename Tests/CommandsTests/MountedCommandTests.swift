import Glibc
import PosixKit
import TestSupport
import Testing

/// Commands on episodes and podcasts of a real mount.
@Suite(.enabled(if: canMount, "this user cannot mount")) struct MountedCommandTests {
  @Test func verifyFindsAnEpisodeWhoseTitleWasCorrected() throws {
    let mount = try MountedCatalogue()
    let path = try mount.episode(1)
    #expect(try mount.run("get", path).end == .exit(0))
    mount.publish(["Part One", "Part 2", "Part 3"])
    #expect(try mount.run("refresh").end == .exit(0))
    // Other processes see a change within a second.
    #expect(try eventually { try mount.attribute("title", path) == "Part One" })
    let verify = try mount.run("verify", path)
    #expect(verify.end == .exit(0) && verify.output.hasPrefix("1 episode checked"), "\(verify)")
    let folder = try mount.run("verify", "--json", mount.root + "/Downloaded/\(MountedCatalogue.podcast)")
    #expect(folder.output.contains("\"checked\": 1"), "\(folder)")
  }

  @Test func oneNameIsShownAndBothAreUnderstood() throws {
    let mount = try MountedCatalogue()
    let subscriptions = mount.root + "/Subscriptions"
    #expect(rename("\(subscriptions)/\(MountedCatalogue.podcast)", subscriptions + "/Lights") == 0)
    mount.origin.change("/1.mp3") { $0.behaviour.rate = 5_000 }
    try mount.set("state", "downloading", try mount.episode(1, in: "Lights"))
    for name in ["Lights", MountedCatalogue.podcast, "harbour lights"] {
      #expect(try mount.run("refresh", name).output == "Lights: 0 new\n")
    }
    #expect(try mount.run("unsubscribe", MountedCatalogue.podcast).end == .exit(0))
    #expect(try mount.run("subscribe", mount.origin.url("/feed.xml")).end == .exit(0))
    #expect(rename("\(subscriptions)/\(MountedCatalogue.podcast)", subscriptions + "/Lights") == 0)
    #expect(try mount.run("forget", MountedCatalogue.podcast).end == .exit(0))
    #expect(try mount.run("list", "--names").output.isEmpty)
  }

  @Test func `A podcast whose feed cannot be read says why`() throws {
    let mount = try MountedCatalogue()
    let address = mount.origin.url("/feed.xml?elsewhere")
    let outline = "<outline type=\"rss\" text=\"Gone\" xmlUrl=\"\(address)\"/>"
    try mount.environment.home.write("list.opml", "<opml version=\"2.0\"><body>\(outline)</body></opml>")
    #expect(try mount.run("import", mount.environment.home.path("list.opml")).end == .exit(0))
    let folder = mount.root + "/Subscriptions/Gone"
    #expect(eventually { Directories.exists(folder) })
    let get = try mount.run("get", folder)
    // A list may not lead to private hosts.
    #expect(get.end == .exit(1) && get.errors.contains("Gone: 127.0.0.1 has a private address"), "\(get)")
  }

  @Test func `What is so already is done`() throws {
    let mount = try MountedCatalogue()
    let again = try mount.run("mount", mount.root)
    #expect(
      again.end == .exit(0) && again.output == "podcastfs is already mounted on \(mount.root)\n", "\(again)")
    #expect(try mount.run("mount", "-f", mount.root).end == .exit(0))
    #expect(try mount.run("mount", "-o", "nonsense", mount.root).end == .exit(64))
    for _ in 1...2 {
      #expect(try mount.run("unsubscribe", MountedCatalogue.podcast).end == .exit(0))
    }
    #expect(try mount.run("unsubscribe", "Nobody").end == .exit(1))
    #expect(try mount.run("list", "--names").output.isEmpty)
  }

  @Test func `A file copied to the subscriptions is taken by its content`() throws {
    let mount = try MountedCatalogue()
    let feed = mount.origin.url("/feed.xml")
    mount.origin.serve(
      "/page",
      OriginResource(
        "<html><head><link rel=alternate type=application/rss+xml href=\"\(feed)\"></head></html>",
        mediaType: "text/html"))
    mount.origin.serve("/empty", OriginResource("<html><body>None</body></html>", mediaType: "text/html"))
    func copy(_ name: String, _ content: String) throws -> RunningProcess.End? {
      let file = try mount.environment.home.write(name, content)
      return try RunningProcess(
        "cp", [file, mount.root + "/Subscriptions/"], environment: mount.environment.variables
      ).wait()
    }
    for (name, content) in [
      ("page.desktop", "[Desktop Entry]\nType=Link\nURL=\(mount.origin.url("/page"))\n"),
      ("feed.url", "[InternetShortcut]\r\nURL=\(feed)\r\n"),
    ] {
      #expect(try mount.run("unsubscribe", MountedCatalogue.podcast).end == .exit(0))
      #expect(try copy(name, content) == .exit(0))
      #expect(try mount.run("list", "--names").output == MountedCatalogue.podcast + "\n")
      #expect(try Directories.names(in: mount.root + "/Subscriptions").contains(MountedCatalogue.podcast))
    }
    let outline = "<outline type=\"rss\" text=\"Other\" xmlUrl=\"http://other.example/feed\"/>"
    #expect(try copy("podcasts_opml.xml", "<opml><body>\(outline)</body></opml>") == .exit(0))
    #expect(try copy("list.txt", "# mine\nhttp://third.example/feed\nno address\n") == .exit(0))
    #expect(try copy("prose.txt", "some words\nhttp://fourth.example/feed\nno address\n") == .exit(1))
    #expect(try mount.run("list", "--names").output.split(separator: "\n").count == 3)
    #expect(try copy("none.url", "[InternetShortcut]\nURL=\(mount.origin.url("/empty"))\n") == .exit(1))
    #expect(try copy("picture.opml", "\u{89}PNG") == .exit(1))
    let log = try String(decoding: Directories.read(mount.root + "/.podcastfs/log"), as: UTF8.self)
    for words in [
      "list.txt, copied to Subscriptions: line 3 is no", "line 1 is no", "/empty", "picture.opml, copied",
    ] {
      #expect(log.contains(words), "\(log)")
    }
  }

  @Test func `A private feed of a list is fetched when its address is typed`() throws {
    let mount = try MountedCatalogue()
    #expect(try mount.run("forget", MountedCatalogue.podcast).end == .exit(0))
    let list = try mount.environment.home.write("list.txt", mount.origin.url("/feed.xml") + "\n")
    #expect(try mount.run("import", list).end == .exit(0))
    let subscribed = try mount.run("subscribe", mount.origin.url("/feed.xml"))
    #expect(
      subscribed.end == .exit(0) && subscribed.output == MountedCatalogue.podcast + "\n", "\(subscribed)")
    let listed = try mount.run("list")
    #expect(!listed.output.contains("private"), "\(listed)")
    #expect(
      try mount.attribute("episode_count", "\(mount.root)/Subscriptions/\(MountedCatalogue.podcast)") == "3")
  }

  @Test func `An episode's link is the feed's or the guid that is an address`() throws {
    let mount = try MountedCatalogue()
    #expect(try mount.run("forget", MountedCatalogue.podcast).end == .exit(0))
    var feed = TestFeed(MountedCatalogue.podcast)
    feed.items = (1...3).map {
      TestFeed.Item("New \($0)", url: mount.origin.url("/\($0).mp3"), published: 1_705_000_000)
    }
    feed.items[0].more = "<link>https://l.example/a</link><guid>https://l.example/b</guid>"
    feed.items[1].more = "<guid>https://l.example/c</guid>"
    feed.items[2].more = "<guid isPermaLink=\"false\">https://l.example/d</guid>"
    mount.origin.serve("/links.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try mount.run("subscribe", mount.origin.url("/links.xml")).end == .exit(0))
    var links: [String: String] = [:]
    for number in 1...3 {
      let path = try mount.episode(number)
      links[try mount.attribute("title", path) ?? ""] = try mount.attribute("link", path) ?? "none"
    }
    #expect(
      links == ["New 1": "https://l.example/a", "New 2": "https://l.example/c", "New 3": "none"],
      "\(links)")
  }

  @Test func aStalledDownloadSaysSinceWhenAndGuessesNoEnd() throws {
    let mount = try MountedCatalogue()
    mount.origin.change("/1.mp3") { $0.behaviour.stallAfter = 50_000 }
    let path = try mount.episode(1)
    try mount.set("state", "downloading", path)
    #expect(eventually { (try? mount.attribute("error", path))??.hasPrefix("stalled for ") == true })
    #expect(try mount.attribute("rate", path) == nil && mount.attribute("eta", path) == nil)
    let status = try mount.run("status").output.split(separator: "\n").first ?? ""
    #expect(status.hasPrefix("downloading") && status.contains("(stalled for "), "\(status)")
    #expect(!status.contains("/s"))
    let lines = try screen(mount.environment, "status")
    #expect(lines.first?.contains("  stalled for ") == true && lines.count == 2, "\(lines)")
  }

  @Test func aTerminalShowsWhatRunsAndCountsTheRest() throws {
    let mount = try MountedCatalogue(options: "min_free=0,downloads=1")
    for number in 1...3 { mount.origin.change("/\(number).mp3") { $0.behaviour.rate = 3_000 } }
    for number in 1...3 { try mount.set("state", "downloading", try mount.episode(number)) }
    #expect(eventually { (try? mount.run("status").output.hasPrefix("downloading")) == true })
    let lines = try screen(mount.environment, "status", columns: 80, rows: 5)
    #expect(lines.count == 3 && lines[0].contains("["), "\(lines)")
    #expect(lines[1] == "… and 2 more" && lines[2].contains("2 queued"), "\(lines)")
    #expect(lines.allSatisfy { $0.count <= 79 }, "\(lines)")
    // Piped, all of them, in columns that have no blanks in them.
    let piped = try mount.run("status").output.split(separator: "\n")
    #expect(piped.count == 4)
    #expect(
      piped[1].split(separator: " ").prefix(6) == ["queued", "0.0%", "0B", "293KiB", "-", "-"], "\(piped)")
  }

  @Test func allDownloadsArePausedResumedAndDropped() throws {
    let mount = try MountedCatalogue()
    for number in 2...3 { mount.origin.change("/\(number).mp3") { $0.behaviour.rate = 3_000 } }
    let paths = try (1...3).map { try mount.episode($0) }
    #expect(try mount.run("get", paths[0]).end == .exit(0))
    for path in paths[1...] { try mount.set("state", "downloading", path) }
    func states() throws -> [String?] { try paths.map { try mount.attribute("state", $0) } }
    #expect(try mount.run("pause", "--all").end == .exit(0))
    #expect(try states() == ["cached", "paused", "paused"])
    #expect(try mount.run("resume", "--all").end == .exit(0))
    #expect(try states()[1...].allSatisfy { ["queued", "downloading"].contains($0) })
    #expect(try mount.run("cancel", "--all").end == .exit(0))
    #expect(try states() == ["cached", "remote", "remote"])
    #expect(try mount.run("cancel", "--all").end == .exit(0))
    #expect(try mount.run("pause", "--all", paths[1]).end == .exit(64))
    _ = try mount.run("unmount")
    _ = try mount.run("unmount", mount.root)
    let unmounted = try mount.run("pause", "--all")
    #expect(unmounted.end == .exit(1) && unmounted.errors.contains("nothing is mounted"), "\(unmounted)")
  }

  /// ext4 does that after an error (errors=remount-ro): permissions and open files stay as they were.
  @Test(.enabled(if: TestDisk.isPossible, Comment(rawValue: TestDisk.requirement)))
  func onADiskThatBecameReadOnlyOrdersAndTheDoctorSaySo() throws {
    let disk = try TestDisk()
    let mount = try MountedCatalogue(variables: ["XDG_STATE_HOME": disk.path])
    let path = try mount.episode(1)
    try mount.set("keep", "1", path)
    #expect(try ChildProcess.run(["mount", "-o", "remount,abort", disk.path]).status == 0)
    let error = #expect(throws: PosixError.self) { try mount.set("state", "downloading", path) }
    #expect(error?.errno == .EROFS)
    let doctor = try mount.run("doctor").output
    #expect(doctor.contains("\(disk.path)/podcastfs cannot be written: Read-only file system"), "\(doctor)")
    _ = try mount.run("unmount", "--lazy", mount.root)
    mount.environment.signalDaemon(SIGKILL)
  }

  @Test func theDoctorGoesByTheOptionsOfTheMount() throws {
    let mount = try MountedCatalogue(options: "min_free=1T")
    let cache = mount.environment.home.path("cache/podcastfs")
    let doctor = try mount.run("doctor").output
    #expect(doctor.contains("in \(cache): min_free keeps 1.00 TiB"), "\(doctor)")
    try mount.environment.home.write("config/podcastfs/config", "min_free = 1T\n")
    let lenient = try MountedCatalogue()
    try lenient.environment.home.write("config/podcastfs/config", "min_free = 1T\n")
    #expect(try !lenient.run("doctor").output.contains("min_free keeps"))
  }
}
