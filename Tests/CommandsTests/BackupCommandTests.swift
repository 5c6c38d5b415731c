import PodcastModel
import PosixKit
import SQLiteKit
import TestSupport
import Testing

/// Backups by commands, and by copying them into a mount.
@Suite struct BackupCommandTests {
  /// gPodder's database, with the columns that its oldest versions have.
  private func gPodder(_ path: String, feed: String, media: (Int) -> String) throws {
    let database = try Database(path: path)
    try database.script(
      """
      CREATE TABLE podcast (id INTEGER PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', url TEXT NOT NULL DEFAULT '');
      CREATE TABLE episode (id INTEGER PRIMARY KEY NOT NULL, podcast_id INTEGER NOT NULL, url TEXT NOT NULL,
        guid TEXT NOT NULL, is_new INTEGER NOT NULL DEFAULT 0, archive INTEGER NOT NULL DEFAULT 0,
        total_time INTEGER NOT NULL DEFAULT 0, current_position INTEGER NOT NULL DEFAULT 0,
        last_playback INTEGER NOT NULL DEFAULT 0);
      """)
    try database.run("INSERT INTO podcast (id, title, url) VALUES (1, 'Harbour Lights', ?)", feed)
    for (number, isNew, isKept, position) in [
      (1, false, false, 0), (2, true, true, 0), (3, true, false, 600),
    ] {
      try database.run(
        """
        INSERT INTO episode (podcast_id, url, guid, is_new, archive, current_position, total_time, last_playback)
        VALUES (1, ?, ?, ?, ?, ?, 3600, 1700000000)
        """, media(number), "guid-\(number)", isNew, isKept, position)
    }
    try database.checkpoint()
  }

  @Test(.enabled(if: canMount)) func aBackupCopiedToSubscriptionsIsTakenOverAndExported() throws {
    let mounted = try MountedCatalogue()
    let file = mounted.environment.home.path("Database")
    try gPodder(file, feed: mounted.origin.url("/feed.xml")) { mounted.origin.url("/\($0).mp3") }
    let copy = try RunningProcess(
      "cp", [file, "\(mounted.root)/Subscriptions/"], environment: mounted.environment.variables)
    #expect(copy.wait() == .exit(0), "\(copy.errors)")
    #expect(try mounted.attribute("played", mounted.episode(1)) == "1")
    #expect(try mounted.attribute("position", mounted.episode(3)) == "600")
    // The mount tells the daemon.
    #expect(try eventually { try mounted.attribute("keep", mounted.episode(2)) == "1" })

    let export = try mounted.run("export", "--state")
    let state = try JSONValue(parsing: Array(export.output.utf8))
    #expect(export.end == .exit(0) && state["podcastfs_state"]?.wholeNumber == 1)
    let episodes = state["episodes"]?.elements ?? []
    #expect(episodes.compactMap { $0["guid"]?.text }.sorted() == ["guid-1", "guid-2", "guid-3"])
    #expect(episodes.filter { $0["keep"]?.flag == true }.compactMap { $0["guid"]?.text } == ["guid-2"])

    try mounted.environment.home.write(
      "other", Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 2000))
    let other = try RunningProcess(
      "cp", [mounted.environment.home.path("other"), "\(mounted.root)/Subscriptions/"],
      environment: mounted.environment.variables)
    #expect(other.wait() == .exit(1) && other.errors.contains("Invalid argument"), "\(other.errors)")
  }

  @Test(arguments: [true, false])
  func `Only a backup that a user imports leads to the private network`(isLinked: Bool) throws {
    let (origin, environment) = (try OriginServer(), try TestEnvironment())
    let file = environment.home.path("Database")
    try gPodder(file, feed: origin.url("/feed")) { origin.url("/\($0).mp3") }
    let options = isLinked ? ["--linked"] : []
    #expect(try Products.run("podcastfs", ["import"] + options + [file], in: environment).end == .exit(0))
    _ = try Products.run("podcastfs", ["refresh"], in: environment)
    #expect(origin.requests.isEmpty == isLinked)
  }

  @Test(arguments: [[], ["--json"]])
  func `A state without subscriptions says why it is of no use`(options: [String]) throws {
    let environment = try TestEnvironment()
    let file = environment.home.path("state.json")
    try Directories.replace(file, with: Array(#"{"podcastfs_state": 1, "subscriptions": "x"}"#.utf8))
    let result = try Products.run("podcastfs", ["import"] + options + [file], in: environment)
    #expect(result.end == .exit(1))
    #expect(result.errors == "podcastfs: \(file) has no feed that can be followed\n")
    #expect(result.output.contains("\"added\": 0") != options.isEmpty)
  }

  @Test func aNewMachineGetsAllOfAnExport() throws {
    let (old, new) = (try TestEnvironment(), try TestEnvironment())
    let file = old.home.path("Database")
    try gPodder(file, feed: "http://a.example/feed") { "http://a.example/\($0).mp3" }
    func run(_ home: TestEnvironment, _ arguments: String...) throws -> String {
      let result = try Products.run("podcastfs", arguments, in: home)
      #expect(result.end == .exit(0), "\(arguments): \(result.errors)")
      return result.output
    }
    let dry = try JSONValue(parsing: Array(try run(old, "import", "--dry-run", "--json", file).utf8))
    #expect(dry["added"]?.wholeNumber == 1 && dry["awaited"]?.wholeNumber == 3)
    #expect(try run(old, "list", "--json").contains("[]"))
    #expect(
      try run(old, "import", file).contains(
        "1 added, 0 known already\n3 episodes will follow when their feeds are fetched")
    )
    let state = old.home.path("state.json")
    #expect(try run(old, "export", "--state", state).isEmpty)
    _ = try run(new, "import", state)
    #expect(try run(new, "export", "--state") == String(decoding: try Directories.read(state), as: UTF8.self))
  }
}
