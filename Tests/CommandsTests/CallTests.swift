import Glibc
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// What calls say of their operands and options, by the built program.
@Suite struct CallTests {
  let environment: TestEnvironment

  init() throws { environment = try TestEnvironment() }

  private func run(_ arguments: String...) throws -> (
    end: RunningProcess.End?, output: String, errors: String
  ) {
    try Products.run("podcastfs", arguments, in: environment)
  }

  @Test func whatIsSaidOfOneOfSeveralFeedsNamesIt() throws {
    let origin = try OriginServer()
    let feed = TestFeed("Lights", items: [TestFeed.Item("One", url: origin.url("/1.mp3"), guid: "1")])
    let good = origin.serve("/feed", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    let token = "0b5e8d5a-7f3c-4f1e-9a53-2f6c1c1f7a10"
    let result = try run("subscribe", good, "notaurl", origin.url("/none?token=\(token)"))
    #expect(result.end == .exit(1) && result.output == "Lights\n")
    let lines = result.errors.split(separator: "\n")
    #expect(lines.first?.hasPrefix("podcastfs: notaurl: not a feed address, ") == true, "\(result.errors)")
    #expect(lines.last?.hasPrefix("podcastfs: \(origin.url("/none"))") == true, "\(result.errors)")
    #expect(lines.last?.contains("HTTP 404") == true && !result.errors.contains(token))
    origin.change("/feed") { $0.behaviour.status = 500 }
    let refresh = try run("refresh", good)
    #expect(refresh.end == .exit(1) && refresh.errors.hasPrefix("podcastfs: \(good): "), "\(refresh.errors)")
  }

  @Test(arguments: [
    ("", "the file is empty"), ("  \n", "the file is empty"),
    (
      "no list",
      "the file is neither a list of subscriptions (OPML, or one address a line) nor a backup of another app: "
        + "line 1 is no address: “no list”"
    ),
    (
      "\u{7F}ELF\u{1}",
      "the file is neither a list of subscriptions (OPML, or one address a line) nor a backup of another app"
    ),
    ("<html><body>Hello</body></html>", "the file is a web page, not a list of subscriptions"),
    ("<rss><channel/></rss>", "the file is a feed, not a list of subscriptions"),
    ("<opml version='2.0'><head><title>Min", "the file is damaged: it breaks off before its first feed"),
    ("SQLite format 3\0", "the file is a database or backup that cannot be used: "),
  ])
  func whatIsSaidOfAFileThatIsNoListIsPlain(text: String, words: String) throws {
    let list = try environment.home.write("list.opml", text)
    let told = try run("import", list).errors
    #expect(told.hasPrefix("podcastfs: \(list): \(words)"), "\(told)")
    // The list beside a lost catalogue.
    try environment.home.write("data/podcastfs/subscriptions.opml", text)
    for suffix in ["", "-wal", "-shm"] {
      unlink(environment.home.path("data/podcastfs/catalog.sqlite") + suffix)
    }
    let restored = try run("list").errors
    #expect(restored.contains("did not come back: \(words)"), "\(restored)")
  }

  @Test func anExportGoesThroughALink() throws {
    let home = environment.home
    try home.write("there/old.opml", "old")
    for (link, target) in [("link", "there/old.opml"), ("there/dangling", "new.opml")] {
      #expect(symlink(target, home.path(link)) == 0)
      #expect(try run("export", home.path(link)).end == .exit(0))
    }
    for file in ["there/old.opml", "there/new.opml"] {
      let text = String(decoding: try Directories.read(home.path(file)), as: UTF8.self)
      #expect(text.contains("<opml"), "\(file)")
    }
    #expect(Directories.linkTarget(home.path("link")) == "there/old.opml")
  }

  @Test func optionsOfEveryCommandMayStandBeforeIt() throws {
    #expect(try run("--help", "list").output == run("help", "list").output)
    let misplaced = try run("--names", "list")
    #expect(misplaced.end == .exit(64))
    #expect(misplaced.errors.contains("--names goes behind the command"), "\(misplaced.errors)")
    #expect(
      try run("status", "--wach").errors.contains(
        "unknown option --wach: did you mean --watch? (see podcastfs help status)"))
  }

  @Test(arguments: [
    ["list", "--json", "--json"], ["refresh", "--quiet", "-q"],
    ["status", "--json", "--json"],
  ])
  func anOptionGivenTwiceMeansTheSameOnceMoreAndTheLastValueCounts(_ words: [String]) throws {
    let result = try Products.run("podcastfs", words, in: environment)
    #expect(result.end == .exit(0) && result.errors.isEmpty, "\(result.errors)")
  }

  /// What is taken for a file's name may be an address with a password, or a whole document.
  @Test(arguments: [
    "import", "export", "get", "pause", "verify", "unmount", "restart", "help", "feed", "refresh",
  ])
  func operandsAreShownWithoutSecretsAndCut(_ command: String) throws {
    let secret = try run(command, "ftp://ann:s3cr3t@h.example/feed")
    #expect(secret.end != .exit(0) && !(secret.output + secret.errors).contains("s3cr3t"), "\(secret.errors)")
    let long = try run(command, String(repeating: "x", count: 9000))
    #expect(long.end != .exit(0) && long.errors.utf8.count < 1000, "\(long.errors)")
  }

  @Test(arguments: [
    "get", "verify", "pause", "resume", "cancel", "mark played", "queue add", "info", "position", "export",
    "search", "find", "unmount", "sync login",
  ])
  func anEmptyOperandIsWrongUsage(_ call: String) throws {
    let words = call.split(separator: " ").map(String.init)
    let result = try Products.run("podcastfs", words + [""], in: environment)
    #expect(result.end == .exit(64), "\(result.errors)")
    #expect(result.errors == "podcastfs: an argument is empty (see podcastfs help \(words[0]))\n")
  }

  @Test func aDirectoryIsNoFeedAndIsNamed() throws {
    let result = try run("feed", "/")
    #expect(result.end == .exit(1) && result.errors.contains("/: Is a directory"), "\(result.errors)")
  }

  @Test func `A damaged catalogue is set aside, which is said`() throws {
    let file = try environment.home.write(
      "data/podcastfs/catalog.sqlite", String(repeating: "no catalogue ", count: 1000))
    let result = try run("list")
    #expect(
      result.end == .exit(0)
        && result.errors.contains("damaged (file is not a database): it was set aside as \(file).damaged"),
      "\(result.errors)")
    #expect(try run("list").errors.isEmpty)
  }

  @Test func `A catalogue of a version that this program does not know is set aside, which is said`() throws {
    #expect(try run("list").end == .exit(0))
    let file = environment.home.path("data/podcastfs/catalog.sqlite")
    try Database(path: file).script("PRAGMA user_version = 31")
    let doctor = try Products.run("podcastfs", ["doctor"], in: environment, seconds: 60).output
    #expect(doctor.contains("the catalogue is of version 31"), "\(doctor)")
    let result = try run("list")
    #expect(
      result.end == .exit(0) && result.errors.contains("set aside as \(file).version-31"), "\(result.errors)")
    #expect(try run("list").errors.isEmpty)
  }
}
