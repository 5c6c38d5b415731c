import Glibc
import PosixKit
import TestSupport
import Testing

/// What happens when a download is complete.
@Suite struct CompletionTests {
  /// Titles that would do harm as part of a command.
  private static let title = "Part $(touch harm) `touch harm`; touch harm \"'"

  private func fixture() throws -> MountFixture {
    let fixture = try MountFixture()
    fixture.publish(count: 3) { feed, _ in
      feed.items[0].title = Self.title
      feed.items[0].url = feed.items[0].url.replacing("http://", with: "http://ann:secret@")
    }
    return fixture
  }

  /// A command that appends its environment to a file, a NUL after each variable.
  private func options(_ file: String) -> String {
    "min_free=0,on_complete=cd \"$HOME\"; env -0 >> \(file)"
  }

  private func variables(_ path: String) -> [String] {
    let bytes = (try? Directories.read(path)) ?? []
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func theCommandRunsOnceWithThePathAndTheFactsInItsEnvironment() throws {
    let fixture = try fixture()
    let file = fixture.environment.home.path("complete")
    try fixture.mount(options: options(file))
    #expect(mkdir(fixture.root + "2", 0o755) == 0)
    try fixture.mount(options: options(file), at: fixture.root + "2")
    try fixture.makeSearch()
    let name = try #require(try fixture.list(fixture.podcastPath).first)
    #expect(try fixture.run("get", "\(fixture.podcastPath)/\(name)").end == .exit(0))
    #expect(eventually { variables(file).contains { $0.hasPrefix("PODCASTFS_PATH=") } })
    let told = variables(file)
    #expect(told.contains("PODCASTFS_TITLE=" + Self.title))
    #expect(told.contains("PODCASTFS_SHOW=Harbour Lights") && told.contains("PODCASTFS_GUID=guid-1"))
    #expect(told.contains("PODCASTFS_URL=" + fixture.origin.url("/1.mp3")))
    #expect(told.contains("PODCASTFS_PUBLISHED=2024-01-01T00:00:00Z"))
    #expect(told.contains("PODCASTFS_SIZE=300000"))
    #expect(!told.contains { $0.contains("secret") })
    #expect(!(try fixture.list(fixture.environment.home.path)).contains("harm"))

    // A second download shows that the first was told once, and by one of the mounts.
    #expect(try fixture.run("get", fixture.episode(2)).end == .exit(0))
    #expect(eventually { variables(file).contains("PODCASTFS_GUID=guid-2") })
    let paths = variables(file).filter { $0.hasPrefix("PODCASTFS_PATH=") }
    #expect(paths.count == 2)
    for (path, number) in zip(paths, 1...) {
      #expect(try fixture.isWhole(String(path.dropFirst("PODCASTFS_PATH=".count)), number))
    }
  }

  @Test func whatWasCompleteBeforeTheMountIsNotTold() throws {
    let fixture = try fixture()
    let file = fixture.environment.home.path("complete")
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.run("get", fixture.episode(2)).end == .exit(0))
    try fixture.unmount()
    try fixture.mount(options: options(file))
    #expect(try eventually { try fixture.list(fixture.root + "/Downloaded") == ["Harbour Lights"] })
    #expect(try fixture.run("get", fixture.episode(3)).end == .exit(0))
    #expect(eventually { variables(file).contains("PODCASTFS_GUID=guid-3") })
    #expect(!variables(file).contains("PODCASTFS_GUID=guid-2"))
  }

  @Test func failedSearchesAndFeedsAreInTheLog() throws {
    let fixture = try MountFixture()
    fixture.origin.remove("/feed.xml")
    try fixture.mount()
    try fixture.makeSearch()
    #expect(throws: PosixError.self) { try fixture.list(fixture.podcastPath) }
    fixture.directory.behave(.with { $0.status = 429 })
    #expect(mkdir(fixture.root + "/Search/other words", 0o755) != 0)
    let log = String(
      decoding: try Directories.read(fixture.environment.home.path("state/podcastfs/podcastfs.log")),
      as: UTF8.self)
    #expect(log.contains("cannot refresh \(fixture.origin.url("/feed.xml")): HTTP 404"), "\(log)")
    #expect(log.contains("cannot search for \"other words\": HTTP 429"), "\(log)")
  }

  @Test func theUsersOwnDropIsNoOtherFileOfTheServer() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    _ = try fixture.list(fixture.podcastPath)
    for round in 0..<2 {
      #expect(try fixture.run("get", fixture.episode(1)).end == .exit(0), "round \(round)")
      #expect(try fixture.run("cancel", fixture.episode(1)).end == .exit(0))
      // The same address gives another representation from now on, all the same.
      fixture.origin.serve("/1.mp3", OriginResource(TestBody(seed: 99 + UInt64(round), size: 300_000)))
    }
    let log = try Directories.read(fixture.environment.home.path("state/podcastfs/podcastfs.log"))
    #expect(!String(decoding: log, as: UTF8.self).contains("another file"))
  }
}
