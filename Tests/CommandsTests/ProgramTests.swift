import Configuration
import PodcastModel
import SQLiteKit
import TestSupport
import Testing

/// The built program, by its calls alone.
@Suite struct ProgramTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  @Test func helpListsEveryCommandAndExplainsEach() throws {
    let overview = try run("help")
    #expect(overview.end == .exit(0))
    #expect(try run("--help").output == overview.output)
    let names = overview.output.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    #expect(names.contains("status") && names.contains("get") && names.contains("doctor"))
    for name in names {
      let help = try run("help", name)
      #expect(help.end == .exit(0))
      #expect(help.output.contains("podcastfs \(name)"))
      #expect(try run(name, "--help").output == help.output)
    }
  }

  @Test func theVersionIsTold() throws {
    #expect(try run("--version").output == "podcastfs \(podcastfsVersion)\n")
  }

  @Test(arguments: [
    ["nonsense"], ["help", "nonsense"], ["help", "a", "b"], ["get"], ["pause"], ["status", "x"],
    ["status", "--nonsense"], ["doctor", "x"],
  ])
  func wrongUsageIsOneLineAndStatus64(_ arguments: [String]) throws {
    let result = try Products.run("podcastfs", arguments, in: environment)
    #expect(result.end == .exit(64))
    #expect(result.output.isEmpty)
    #expect(result.errors.hasPrefix("podcastfs: ") && result.errors.split(separator: "\n").count == 1)
  }

  @Test func withoutACommandTheUsageIsShown() throws {
    let bare = try run()
    #expect(bare.end == .exit(64) && bare.output.isEmpty)
    #expect(bare.errors == (try run("help").output))
  }

  @Test(arguments: [
    ("moutn", "mount"), ("serach", "search"), ("subcribe", "subscribe"), ("statsu", "status"),
  ])
  func aMistypedCommandIsGuessed(word: String, meant: String) throws {
    #expect(
      try run(word).errors
        == "podcastfs: unknown command \"\(word)\": did you mean \(meant)? (see podcastfs help)\n")
  }

  @Test func everyCommandTakesDashHAndTheHelpNamesTheOptions() throws {
    #expect(try run("status", "-h").output == run("help", "status").output)
    let options = try run("help", "--all", "options").output
    for key in Settings.keys + ["uid", "umask", "setuid", "allow_other"] {
      #expect(options.contains("  \(key)"), "\(key)")
    }
  }

  @Test func theDoctorTellsMachinesToo() throws {
    let result = try run("doctor", "--json")
    let json = try JSONValue(parsing: Array(result.output.utf8))
    #expect(
      json.elements.contains {
        $0["status"]?.text == "ok" && $0["message"]?.text?.contains("libfuse") == true
      })
  }

  @Test(.enabled(if: Products.isInstalled("mandoc") || Products.isInstalled("man")))
  func theManualPageIsWellFormed() throws {
    let file = try environment.home.write("podcastfs.1", try run("help", "--manual").output)
    let lint = try RunningProcess(
      Products.isInstalled("mandoc") ? "mandoc" : "man",
      Products.isInstalled("mandoc") ? ["-T", "lint", "-W", "error", file] : ["-l", file],
      environment: environment.variables)
    #expect(lint.wait() == .exit(0), "\(lint.output)\(lint.errors)")
  }

  @Test(
    .enabled(if: Products.isInstalled("bash")),
    arguments: [
      ("podcastfs refresh Bet", "Beta\\ Show|"), ("podcastfs forget It", "It\\'s\\ \\$5|"),
      ("podcastfs unsub", "unsubscribe|"), ("podcastfs status --w", "--watch|"),
      ("podcastfs mount -o tri", "trigger=|"),
    ])
  func bashCompletesCommandsOptionsAndNames(_ typed: String, _ expected: String) throws {
    let feeds = ["Alpha", "Beta Show", "It's $5"].map {
      "<outline type='rss' text=\"\($0)\" xmlUrl='http://h.example/\($0.utf8.count)'/>"
    }
    try environment.home.write(
      "list.opml", "<opml version='2.0'><body>\(feeds.joined())</body></opml>")
    #expect(try run("import", environment.home.path("list.opml")).end == .exit(0))
    let file = #filePath.replacing(
      "Tests/CommandsTests/ProgramTests.swift", with: "mount-helper/files/podcastfs.bash")
    let script = """
      source "$1"
      podcastfs() { "\(Products.path("podcastfs"))" "$@"; }
      read -ra COMP_WORDS <<< "$2"
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _podcastfs
      printf '%s|' "${COMPREPLY[@]}"
      """
    let shell = try RunningProcess(
      "bash", ["-c", script, "bash", file, typed], environment: environment.variables)
    #expect(shell.wait() == .exit(0) && shell.output == expected, "\(shell.output)\(shell.errors)")
  }

  /// An archive whose second page fails: what is missing is told, and asked for as soon as somebody asks.
  @Test func pagesThatAreMissingAreTold() throws {
    let origin = try OriginServer()
    let item = { TestFeed.Item($0, url: origin.url("/\($0).mp3"), guid: $0, published: 1_604_067_200) }
    var feed = TestFeed("Harbour Lights", items: [item("new")])
    feed.more =
      "<atom:link xmlns:atom=\"http://www.w3.org/2005/Atom\" rel=\"next\" href=\"\(origin.url("/old"))\"/>"
    let address = origin.serve("/feed", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    feed = TestFeed("Harbour Lights", items: [item("old")])
    var page = OriginResource(feed.xml, mediaType: "application/rss+xml")
    page.behaviour.status = 500
    origin.serve("/old", page)
    for words in [["subscribe", address], ["refresh"], ["refresh", address]] {
      let result = try Products.run("podcastfs", words, in: environment)
      #expect(result.end == .exit(0))
      #expect(
        result.errors.contains("older episodes could not be fetched yet")
          && result.errors.split(separator: "\n").count == 1, "\(words): \(result.errors)")
    }
    #expect(origin.requests("/old").count == 3)
    origin.change("/old") { $0.behaviour.status = nil }
    #expect(try run("refresh").errors == "")
    #expect(try run("list", "--json").output.contains("\"episode_count\": 2"))
    #expect(try run("refresh").errors == "")
  }

  /// As on a full disk.
  @Test func aFeedThatCouldNotBeKeptWholeIsTold() throws {
    let origin = try OriginServer()
    let feed = TestFeed("Lights", items: [TestFeed.Item("One", url: origin.url("/1.mp3"), guid: "1")])
    let address = origin.serve("/feed", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    #expect(try run("list").end == .exit(0))
    let file = try Database(path: environment.home.path("data/podcastfs/catalog.sqlite"))
    try file.run("CREATE TRIGGER full BEFORE INSERT ON episode BEGIN SELECT RAISE(ABORT, 'full'); END")
    let result = try run("subscribe", address)
    #expect(result.end == .exit(1))
    #expect(result.errors.contains("subscribed to Lights, but not all of its episodes"), "\(result.errors)")
    #expect(try run("list", "--json").output.contains("full"))
  }

  @Test func theStatusOfNothingIsEmptyAndStartsNoDaemon() throws {
    let text = try run("status")
    #expect(text.end == .exit(0))
    #expect(text.output == "0 episodes downloaded (0 B in the cache)\n")
    let json = try run("status", "--json")
    #expect(json.output.contains("\"transfers\": []"))
  }

  @Test func withoutAHomeTheVariableToSetIsNamed() throws {
    let bare = try TestEnvironment()
    var variables = bare.variables.filter { !$0.key.hasPrefix("XDG") }
    variables["HOME"] = nil
    let process = try RunningProcess(Products.path("podcastfs"), ["status"], environment: variables)
    #expect(process.wait() == .exit(1))
    #expect(process.errors.contains("HOME"))
  }

  @Test func theDoctorNamesEachProblemAndCountsThem() throws {
    try environment.home.write("config/podcastfs/config", "downlods = 3\n")
    let result = try run("doctor")
    #expect(result.end == .exit(1))
    #expect(result.output.contains("unknown key: downlods"))
    #expect(result.errors.hasPrefix("podcastfs: "))
    #expect(result.errors.contains("found"))
  }
}
