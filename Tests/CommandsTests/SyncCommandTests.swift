import Glibc
import PodcastModel
import PosixKit
import TestSupport
import Testing

/// `podcastfs sync`, and a mount that synchronizes by itself.
@Suite struct SyncCommandTests {
  private func configure(_ home: TestEnvironment, _ server: FakeSyncServer, _ more: String = "") throws {
    try home.home.write(
      "config/podcastfs/config",
      """
      [sync "\(server.address)"]
      user = \(FakeSyncServer.user)
      password = "\(FakeSyncServer.password)"
      \(more)
      """)
  }

  private func run(
    _ home: TestEnvironment, _ arguments: String...
  ) throws -> (end: RunningProcess.End?, output: String, errors: String) {
    try Products.run("podcastfs", arguments, in: home)
  }

  @Test func withoutASectionItSaysWhatToDo() throws {
    let home = try TestEnvironment()
    let result = try run(home, "sync")
    #expect(result.end == .exit(1) && result.errors.contains("podcastfs sync login URL"), "\(result.errors)")
    #expect(try run(home, "sync", "login").end == .exit(64))
    #expect(try run(home, "sync", "x").end == .exit(64))
  }

  @Test func whatItDidIsToldForPeopleAndPrograms() throws {
    let (home, server) = (try TestEnvironment(), try FakeSyncServer(.nextcloud))
    try configure(home, server)
    server.change { $0.feeds["https://b.example/feed?x=1"] = (true, 5) }
    let dry = try run(home, "sync", "--dry-run")
    #expect(
      dry.end == .exit(0) && dry.output.contains("follow https://b.example/feed?x=1\nwould receive"), "\(dry)"
    )
    let json = try run(home, "sync", "--json", "--full")
    let value = try JSONValue(parsing: Array(json.output.utf8))
    #expect(
      value["kind"]?.text == "nextcloud" && value["full"]?.flag == true && value["dry_run"]?.flag == false)
    #expect(value["subscriptions_added"]?.elements.map(\.text) == ["https://b.example/feed?x=1"])
    #expect(value["uploaded"]?["episodes"]?.wholeNumber == 0)
    let quiet = try run(home, "sync", "--quiet")
    #expect(quiet.output.isEmpty && quiet.errors.isEmpty && quiet.end == .exit(0))
  }

  @Test func theDoctorTellsWhatIsWrong() throws {
    let (home, server) = (try TestEnvironment(), try FakeSyncServer(.opodsync))
    try configure(home, server)
    chmod(home.home.path("config/podcastfs/config"), 0o644)
    let before = try run(home, "doctor").output
    #expect(before.contains("not synchronized with 127.0.0.1 yet"))
    #expect(before.contains("other users can read the password"))
    server.fail(403)
    #expect(try run(home, "sync").end == .exit(1))
    let output = try run(home, "doctor").output
    #expect(output.contains("PROBLEM  synchronization: 127.0.0.1 refuses"), "\(output)")
    #expect(!output.contains("p:ä"))
  }

  @Test func aLoginWritesItsPasswordIntoTheConfigurationFile() throws {
    let (home, server) = (try TestEnvironment(), try FakeSyncServer(.nextcloud))
    try home.home.write("config/podcastfs/config", "country = de\n")
    let login = try Products.start("podcastfs", ["sync", "login", server.address], in: home)
    #expect(login.waitForOutput { $0.contains("/index.php/login/v2/flow/abc") })
    server.logIn()
    #expect(login.wait() == .exit(0), "\(login.errors)")
    #expect(!login.output.contains("p:ä"))
    var status = stat()
    #expect(stat(home.home.path("config/podcastfs/config"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try run(home, "sync").end == .exit(0))
    let text = String(
      decoding: try Directories.read(home.home.path("config/podcastfs/config")), as: UTF8.self)
    #expect(text.hasPrefix("country = de\n"))
  }

  @Test func aPasswordThatWouldBeALineOfTheConfigurationIsRefused() throws {
    let (home, server) = (try TestEnvironment(), try FakeSyncServer(.nextcloud))
    let login = try Products.start("podcastfs", ["sync", "login", server.address], in: home)
    #expect(login.waitForOutput { $0.contains("/index.php/login/v2/flow/abc") })
    server.logIn("x\"\npassword_command = \"touch /tmp/owned")
    #expect(login.wait() == .exit(1) && login.errors.contains("cannot be one"), "\(login.errors)")
    #expect(access(home.home.path("config/podcastfs/config"), F_OK) != 0)
  }

  @Test(.enabled(if: canMount)) func aMountSynchronizesByItselfAndShowsIt() throws {
    let server = try FakeSyncServer(.opodsync)
    let mounted = try MountedCatalogue()
    #expect(try mounted.attribute("sync_pending", mounted.root) == nil)
    try configure(mounted.environment, server)
    let events = try RunningProcess(
      "cat", ["\(mounted.root)/.podcastfs/events"], environment: mounted.environment.variables)
    // The mount learns of the new section by it.
    #expect(try mounted.run("sync").end == .exit(0))
    #expect(
      events.waitForOutput {
        $0.contains(#""subscriptions_added":0,"subscriptions_removed":0,"episodes":0"#)
          && $0.contains("synced")
      })
    #expect(try mounted.attribute("sync_last", mounted.root)?.hasPrefix("20") == true)
    #expect(try mounted.attribute("sync_pending", mounted.root) == "0")
    // A change here, and its upload, without a command.
    try mounted.set("position", "12:31", mounted.episode(1))
    #expect(try mounted.attribute("sync_pending", mounted.root) == "1")
    #expect(eventually { server.model.actions.contains { $0.numbers?[1] == 751 } })
    #expect(eventually { (try? mounted.attribute("sync_pending", mounted.root)) == "0" })
    #expect(try mounted.attribute("sync_error", mounted.root) == nil)
  }
}
