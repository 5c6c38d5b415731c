import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// `rules`, `unhide`, `info`, `list` and `get`, on a mount by the built programs.
@Suite(.enabled(if: canMount, "no /dev/fuse")) struct RulesCommandTests {
  private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

  @Test func `Rules are set, shown and explained`() throws {
    let mount = try MountedCatalogue()
    let folder = "\(mount.root)/Subscriptions/\(MountedCatalogue.podcast)"
    let none = try mount.run("rules", "harbour lights")
    #expect(
      none.output.hasPrefix(
        "Harbour Lights: no rules\nno           2024-01-03  Part 3  no rule downloads it\n"))
    // A trial changes nothing.
    let trial = try mount.run("rules", "--try", folder, "auto_download=1", "exclude=2")
    #expect(
      trial.output == """
        Harbour Lights: auto_download=1, exclude=2
        download     2024-01-03  Part 3
        no           2024-01-02  Part 2  the title has "2"
        no           2024-01-01  Part 1  not among the newest 1

        """, "\(trial.output)")
    #expect(try mount.attribute("auto_download", folder) == nil)
    let document = try json(mount.run("rules", "--json", "--try", "Harbour Lights", "auto_download=2").output)
    #expect(document["rules"]?["auto_download"]?.text == "2")
    #expect(document["episodes"]?.elements.map { $0["decision"]?.text } == ["download", "download", "leave"])
    #expect(try mount.run("rules", "Harbour Lights", "auto_download=1", "exclude=2").end == .exit(0))
    #expect(try mount.attribute("auto_download", folder) == "1")
    #expect(try eventually { try mount.attribute("state", mount.episode(3)) == "cached" })
    #expect(try mount.run("rules", "Harbour Lights").output.contains("downloaded   2024-01-03  Part 3\n"))
    #expect(try mount.run("rules", "Harbour Lights", "exclude=").end == .exit(0))
    #expect(try mount.attribute("exclude", folder) == nil)
    for words in [["auto_download=five"], ["colour=red"], ["auto_download"]] {
      let result = try Products.run(
        "podcastfs", ["rules", "Harbour Lights"] + words, in: mount.environment)
      #expect(result.end == .exit(64), "\(words)")
    }
    #expect(try mount.run("rules", "Nobody").end == .exit(1))
  }

  @Test func `What was removed is shown again`() throws {
    let mount = try MountedCatalogue()
    let path = try mount.episode(2)
    #expect(unlink(path) == 0)
    let result = try mount.run("unhide", "Harbour Lights")
    #expect(result.output == "Harbour Lights: 1 episode shown again\n")
    #expect(eventually { access(path, F_OK) == 0 })
    #expect(try mount.run("unhide", "Harbour Lights").output == "Harbour Lights: 0 episodes shown again\n")
  }

  @Test func `Info shows notes, chapters and links of an episode`() throws {
    let mount = try MountedCatalogue()
    mount.origin.serve(
      "/chapters.json",
      OriginResource(
        #"{"version":"1.2.0","chapters":[{"startTime":0,"title":"Start"},{"startTime":61.5,"title":"Fog"}]}"#,
        mediaType: "application/json+chapters"))
    var feed = TestFeed(MountedCatalogue.podcast)
    var item = TestFeed.Item(
      "Part 1", url: mount.origin.url("/1.mp3"), guid: "guid-1", published: 1_704_067_200, length: 300_000)
    item.duration = "1:02:03"
    item.more = """
      <description>&lt;p&gt;High &lt;b&gt;water&lt;/b&gt;.&lt;/p&gt;&lt;a href="http://tide.example/x"&gt;Tides&lt;/a&gt;</description>
      <podcast:chapters url="\(mount.origin.url("/chapters.json"))" type="application/json+chapters"/>
      """
    feed.items = [item]
    mount.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try mount.run("refresh").end == .exit(0))
    let path = try mount.episode(1)
    let text = try mount.run("info", path)
    #expect(text.end == .exit(0), "\(text.errors)")
    let wanted = [
      "Part 1\nHarbour Lights, 2024-01-01 (", "1:02:03\n", "not downloaded (293 KiB), unplayed\n",
      "\nHigh water.\n", "Tides <http://tide.example/x>", "Chapters\n  0:00  Start\n  1:01  Fog\n",
    ]
    for words in wanted { #expect(text.output.contains(words), "\(words): \(text.output)") }
    let document = try json(mount.run("info", "--json", path).output)
    #expect(document["links"]?.elements.map(\.text) == ["http://tide.example/x"])
    #expect(document["chapters"]?.elements.map { $0["start"]?.decimal } == [0, 61.5])
    #expect(document["duration"]?.wholeNumber == 3723 && document["state"]?.text == "remote")
    #expect(try mount.run("info", mount.root + "/nothing").end == .exit(1))
    // Those in the feed itself need no request.
    let asked = mount.origin.requests("/chapters.json").count
    feed.items[0].more += """
      <psc:chapters xmlns:psc="http://podlove.org/simple-chapters">
      <psc:chapter start="0" title="Tide"/><psc:chapter start="01:02:03.250" title="End"/></psc:chapters>
      """
    mount.origin.serve("/feed.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try mount.run("refresh").end == .exit(0))
    #expect(try mount.run("info", path).output.hasSuffix("\nChapters\n     0:00  Tide\n  1:02:03  End\n"))
    #expect(mount.origin.requests("/chapters.json").count == asked)
  }

  @Test func `Info and list show what a podcast has, and why its feed is broken`() throws {
    let mount = try MountedCatalogue()
    try mount.set("played", "1", try mount.episode(1))
    #expect(try mount.run("get", "--newest", "1", "Harbour Lights").end == .exit(0))
    let list = try mount.run("list").output
    #expect(list.hasPrefix("Harbour Lights         2           1  "), "\(list)")
    #expect(list.hasSuffix(" ago    Part 3\n"), "\(list)")
    var broken = OriginResource("", mediaType: "text/plain")
    broken.behaviour.status = 500
    mount.origin.serve("/feed.xml", broken)
    #expect(try mount.run("refresh").end == .exit(1))
    #expect(try mount.run("list").output.contains("\n    "))
    let info = try mount.run("info", "harbour lights").output
    #expect(info.contains("followed as \"Harbour Lights\", 3 episodes, 2 unplayed, 1 downloaded (293 KiB)\n"))
    #expect(info.contains("HTTP 500") && info.contains(": Part 3\n"), "\(info)")
    let document = try json(mount.run("info", "--json", "Harbour Lights").output)
    #expect(document["newest"]?["title"]?.text == "Part 3" && document["downloaded_count"]?.wholeNumber == 1)
    let listed = try json(mount.run("list", "--json").output).elements.first
    #expect(listed?["unplayed_count"]?.wholeNumber == 2 && listed?["error"]?.text?.contains("500") == true)
    let screen = try screen(mount.environment, "list")
    #expect(screen.allSatisfy { $0.count < 80 }, "\(screen)")
    #expect(screen.first?.hasPrefix("PODCAST         UNPLAYED  DOWNLOADED  NEWEST") == true, "\(screen)")
  }

  @Test func `Of a directory some episodes are chosen`() throws {
    let mount = try MountedCatalogue()
    let folder = "\(mount.root)/Subscriptions"
    func states() throws -> [String?] { try (1...3).map { try mount.attribute("state", mount.episode($0)) } }
    let get = try mount.run("get", "--since", "2024-01-02", "--newest", "1", folder)
    #expect(get.end == .exit(0) && get.output.contains("2024-01-03 - Part 3.mp3"), "\(get.errors)")
    #expect(try states() == ["remote", "remote", "cached"])
    let queued = try mount.run(
      "get", "--queue", "--since", "2024-01-02", "\(folder)/\(MountedCatalogue.podcast)")
    #expect(
      queued.end == .exit(0) && queued.output.contains(" downloaded"), "\(queued.output)")
    #expect(try eventually { try states() == ["remote", "cached", "cached"] })
    #expect(try mount.run("get", "--since", "1d", folder).output == "no episodes to download\n")
    #expect(try mount.run("get", "--since", "soon", folder).end == .exit(64))
  }
}
