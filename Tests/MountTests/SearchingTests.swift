import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct SearchingTests {
  @Test func aSearchListsThePodcastsFoundAndFetchesNoFeed() throws {
    let fixture = try MountFixture()
    fixture.directory.list([
      DirectoryService.Listing("A/B: \"Harbour\" lights", feedURL: fixture.origin.url("/a.xml"), id: 1),
      DirectoryService.Listing("Harbour lights without a feed", feedURL: nil, id: 2),
      DirectoryService.Listing("Ünïcode harbour lights ✨", feedURL: fixture.origin.url("/b.xml"), id: 3),
    ])
    try fixture.mount()
    try fixture.makeSearch()
    let names = try fixture.list(fixture.searchPath)
    #expect(names.count == 2)
    #expect(names.contains("Ünïcode harbour lights ✨"))
    #expect(names.allSatisfy { !$0.contains(":") && !$0.contains("\"") })
    for name in names { _ = try fixture.status("\(fixture.searchPath)/\(name)") }
    #expect(fixture.origin.requests.allSatisfy { $0.path == "/search" })
    #expect(try fixture.attribute("query", fixture.searchPath) == MountFixture.search)
    #expect(try fixture.attribute("result_count", fixture.searchPath) == "2")
  }

  @Test func aQueryOfAnyScriptReachesTheServiceAndWordsSetItsParameters() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    #expect(mkdir(fixture.root + "/Search/גלגל 日本 🎧 country:de limit:7", 0o755) == 0)
    let query = try #require(fixture.directory.queries.last)
    #expect(query["term"] == "גלגל 日本 🎧" && query["country"] == "de" && query["limit"] == "7")
    #expect(query["media"] == "podcast")
  }

  @Test func searchesSurviveARemountAndAreForgottenByRmdir() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let inode = try fixture.status(fixture.searchPath + "/Harbour Lights").st_ino
    try fixture.unmount()
    try fixture.mount()
    #expect(try fixture.list(fixture.searchPath) == ["Harbour Lights"])
    #expect(try fixture.status(fixture.searchPath + "/Harbour Lights").st_ino == inode)
    #expect(rmdir(fixture.searchPath) == 0)
    #expect(try fixture.list(fixture.root + "/Search") == [])
    #expect(fixture.directory.queries.count == 1)
  }

  @Test func noHitsAreAnEmptyDirectory() throws {
    let fixture = try MountFixture()
    fixture.directory.list([])
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.list(fixture.searchPath) == [])
  }

  @Test func aFailingServiceGivesAFittingErrnoAndLeavesNothing() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    fixture.directory.behave(.with { $0.status = 403 })
    #expect(errnoOf { mkdir(fixture.searchPath, 0o755) } != nil)
    fixture.directory.behave(.with { $0.status = 500 })
    #expect(errnoOf { mkdir(fixture.root + "/Search/other", 0o755) } == .EIO)
    #expect(try fixture.list(fixture.root + "/Search") == [])
    fixture.origin.stop()
    #expect(errnoOf { mkdir(fixture.root + "/Search/third", 0o755) } == .ECONNREFUSED)
    #expect(try fixture.list(fixture.root + "/Search") == [])
  }

  @Test func aMovedSearchSearchesForItsNewName() throws {
    let fixture = try MountFixture()
    fixture.directory.list([])
    try fixture.mount()
    let folder = fixture.root + "/Search/New Folder"
    #expect(mkdir(folder, 0o755) == 0)
    #expect(try fixture.list(folder) == [])
    fixture.directory.list([
      DirectoryService.Listing("Harbour Lights", feedURL: fixture.origin.url("/feed.xml"))
    ])
    #expect(rename(folder, fixture.searchPath) == 0)
    #expect(try fixture.list(fixture.root + "/Search") == [MountFixture.search])
    #expect(try fixture.list(fixture.searchPath) == ["Harbour Lights"])
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
  }

  @Test func aWaitingSearchEndsAtASignal() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    fixture.directory.behave(.with { $0.latency = 600 })
    let process = try RunningProcess(
      "mkdir", [fixture.searchPath], environment: fixture.environment.variables)
    #expect(fixture.origin.wait { !$0.isEmpty })
    process.signal(SIGTERM)
    // Before the service answers.
    #expect(process.wait() == .signal(SIGTERM))
    #expect(try fixture.list(fixture.root + "/Search") == [])
  }

  @Test func anotherMountSeesASearchAtOnce() throws {
    let fixture = try MountFixture()
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount()
    try fixture.mount(at: second)
    #expect(try fixture.list(second + "/Search") == [])
    try fixture.makeSearch()
    #expect(try eventually { try fixture.list(second + "/Search") == [MountFixture.search] })
    #expect(try fixture.list("\(second)/Search/\(MountFixture.search)") == ["Harbour Lights"])
    try fixture.run("unmount", second)
  }

  /// Nothing changes, though the kernel has moved the directory.
  @Test func whatIsFollowedUnderAnotherNameCanBeMovedToTheSubscriptionsOnceMore() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let subscriptions = fixture.root + "/Subscriptions"
    try fixture.makeSearch()
    #expect(rename(fixture.podcastPath, subscriptions + "/Mine") == 0)
    let other = fixture.root + "/Search/harbour"
    #expect(mkdir(other, 0o755) == 0)
    let inode = try fixture.status(subscriptions + "/Mine").st_ino
    for name in [MountFixture.podcast, "Mine"] {
      let moving = try RunningProcess(
        "mv", ["\(other)/\(MountFixture.podcast)", "\(subscriptions)/\(name)", "-T"],
        environment: fixture.environment.variables)
      #expect(moving.wait() == .exit(0), "\(moving.errors)")
      #expect(try eventually { try fixture.list(subscriptions) == ["Mine", "subscriptions.opml"] })
      #expect(try eventually { try fixture.list(other) == [MountFixture.podcast] })
      #expect(try eventually { try fixture.status(subscriptions + "/Mine").st_ino == inode })
      #expect(try fixture.list(subscriptions + "/Mine") == MountFixture.names)
      #expect(try fixture.list("\(other)/\(MountFixture.podcast)") == MountFixture.names)
    }
    #expect(eventually { errnoOf { access("\(subscriptions)/\(MountFixture.podcast)", F_OK) } == .ENOENT })
  }

  /// Without a look in between, which would lead the kernel back to the search.
  @Test func twoMovesOfWhatIsFollowedCanFollowEachOther() throws {
    let fixture = try MountFixture()
    let subscriptions = fixture.root + "/Subscriptions"
    #expect(try fixture.run("subscribe", fixture.origin.url("/feed.xml")).end == .exit(0))
    try fixture.mount()
    try fixture.makeSearch()
    #expect(rename("\(subscriptions)/\(MountFixture.podcast)", subscriptions + "/Mine") == 0)
    for name in ["Mine", "Mine", "Other", "Third", "Mine"] {
      #expect(errnoOf { rename(fixture.podcastPath, "\(subscriptions)/\(name)") } == nil, "\(name)")
    }
    #expect(try eventually { try fixture.list(subscriptions) == ["Mine", "subscriptions.opml"] })
    #expect(try fixture.list(subscriptions + "/Mine") == MountFixture.names)
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
  }

  @Test func aSearchThatWasRenamedIsThereAtOnceUnderItsNewName() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    let (old, new) = (fixture.root + "/Search/harbour", fixture.root + "/Search/lights")
    #expect(mkdir(old, 0o755) == 0)
    #expect(rename(old, new) == 0)
    #expect(try fixture.list(new) == [MountFixture.podcast])
    #expect(try fixture.list(new + "/" + MountFixture.podcast) == MountFixture.names)
    #expect(errnoOf { access(old, F_OK) } == .ENOENT)
    #expect(try fixture.list(fixture.root + "/Search") == ["lights"])
  }
}
