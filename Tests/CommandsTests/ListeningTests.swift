import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// `find`, `new` and `queue`.
@Suite struct ListeningTests {
  private func mounted() throws -> MountedCatalogue {
    let mounted = try MountedCatalogue(options: "min_free=0,latest_days=0,queue_ahead=0")
    let places = mounted.environment.home.path("config/podcastfs")
    try Directories.create(mounted.environment.home.path("config"))
    try Directories.create(places)
    try Directories.replace(places + "/config", with: Array("latest_days=0\nqueue_ahead=0\n".utf8))
    return mounted
  }

  private func titles(_ json: String) throws -> [String] {
    try JSONValue(parsing: Array(json.utf8)).elements.compactMap { $0["title"]?.text }
  }

  @Test func `Episodes are found by queries, with their paths`() throws {
    let mounted = try mounted()
    let found = try mounted.run("find", "part", "sort:oldest", "limit:2")
    #expect(found.end == .exit(0), "\(found.errors)")
    #expect(try found.output == "\(mounted.episode(1))\n\(mounted.episode(2))\n")
    #expect(try mounted.run("get", "--quiet", mounted.episode(2)).end == .exit(0))
    try mounted.set("played", "1", mounted.episode(3))
    #expect(try titles(mounted.run("find", "--json", "is:cached").output) == ["Part 2"])
    #expect(try titles(mounted.run("find", "--json", "-is:cached", "is:unplayed").output) == ["Part 1"])
    #expect(
      try titles(mounted.run("find", "--json", "show:harbour lights", "is:played").output) == ["Part 3"])
    #expect(try mounted.run("find", "show:nobody").end == .exit(1))
    let wrong = try mounted.run("find", "newer:soon")
    #expect(wrong.end == .exit(64) && wrong.errors.contains("newer:soon: an age like 7d"), "\(wrong.errors)")
  }

  @Test func `A renamed subscription is found by both names, and steered by them`() throws {
    let mounted = try mounted()
    let folder = mounted.root + "/Subscriptions/My Shore"
    #expect(rename(mounted.root + "/Subscriptions/Harbour Lights", folder) == 0)
    for show in ["my shore", "harbour lights"] {
      let found = try mounted.run("find", "show:\(show)", "sort:oldest", "limit:1")
      #expect(found.output == "\(folder)/2024-01-01 - Part 1.mp3\n")
    }
    #expect(mkdir(mounted.root + "/Search/show:shore", 0o755) == 0)
    #expect(try Directories.names(in: mounted.root + "/Search/show:shore").count == 3)
    #expect(rename(folder, mounted.root + "/Subscriptions/Coast") == 0)
    #expect(try eventually { try Directories.names(in: mounted.root + "/Search/show:shore").isEmpty })
    #expect(try mounted.run("queue", "add", "Coast").end == .exit(0))
    #expect(try titles(mounted.run("queue", "--json").output) == ["Part 3", "Part 2", "Part 1"])
    #expect(try mounted.run("queue", "remove", "harbour lights").end == .exit(0))
    #expect(try mounted.run("queue", "--json").output == "[]\n")
    #expect(try mounted.run("get", "--quiet", "Coast").end == .exit(0))
    #expect(try mounted.run("verify", "Coast").output.hasPrefix("3 episodes checked"))
    #expect(try mounted.run("cancel", "Coast").end == .exit(0))
    #expect(try titles(mounted.run("find", "--json", "is:cached").output).isEmpty)
  }

  @Test func `An episode that no folder shows is found without a path`() throws {
    let mounted = try mounted()
    #expect(rmdir(mounted.root + "/Subscriptions/Harbour Lights") == 0)
    for name in try Directories.names(in: mounted.root + "/Search") {
      rmdir("\(mounted.root)/Search/\(name)")
    }
    let lines = try mounted.run("find", "part", "sort:oldest")
    #expect(lines.end == .exit(0) && lines.output.hasPrefix("2024-01-01  Harbour Lights"), "\(lines)")
    let json = try JSONValue(parsing: Array(mounted.run("find", "--json", "part", "sort:oldest").output.utf8))
    #expect(json.elements.count == 3 && json.elements.allSatisfy { $0["path"]?.text == nil })
  }

  @Test func `What is new has a star until it has been shown`() throws {
    let mounted = try mounted()
    let first = try mounted.run("new")
    #expect(
      first.output.split(separator: "\n").map { $0.prefix(14) } == [
        "* 2024-01-03  ", "* 2024-01-02  ", "* 2024-01-01  ",
      ])
    #expect(try mounted.run("new").output.hasPrefix("  2024-01-03  Harbour Lights — Part 3"))
    try mounted.set("played", "1", mounted.episode(3))
    let json = try JSONValue(parsing: Array(mounted.run("new", "--json").output.utf8)).elements
    #expect(json.compactMap { $0["title"]?.text } == ["Part 2", "Part 1"])
    #expect(try json.first?["path"]?.text == mounted.episode(2))
  }

  @Test func `The queue is filled, reordered and cleared`() throws {
    let mounted = try mounted()
    #expect(try mounted.run("queue", "add", mounted.episode(1), mounted.episode(2)).end == .exit(0))
    #expect(try mounted.run("queue", "first", mounted.episode(3)).end == .exit(0))
    let listed = try mounted.run("queue").output.split(separator: "\n").map { $0.prefix(3) + $0.suffix(6) }
    #expect(listed == ["001Part 3", "002Part 1", "003Part 2"])
    #expect(
      try eventually {
        try Directories.names(in: mounted.root + "/Queue").sorted().first
          == "001 - Harbour Lights - Part 3.mp3"
      })
    #expect(try mounted.run("queue", "remove", mounted.episode(1)).end == .exit(0))
    #expect(try titles(mounted.run("queue", "--json").output) == ["Part 3", "Part 2"])
    #expect(try mounted.run("queue", "clear").end == .exit(0))
    #expect(try mounted.run("queue", "--json").output == "[]\n")
    #expect(try mounted.run("queue", "add").end == .exit(64))
  }
}
