import Glibc
import PosixKit
import TestSupport
import Testing

@Suite struct BrowsingTests {
  /// As macOS writes them through Samba. One that leads to the same file under another spelling would stay in the
  /// kernel's cache under that spelling.
  @Test func aNameIsTheSameOnlyByteByByte() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 1) { feed, _ in feed.items[0].title = "Caf\u{e9}" }
    try fixture.mount()
    try fixture.makeSearch()
    let (composed, decomposed) = ("2024-01-01 - Caf\u{e9}.mp3", "2024-01-01 - Cafe\u{301}.mp3")
    #expect(try fixture.list(fixture.podcastPath).map { Array($0.utf8) } == [Array(composed.utf8)])
    #expect(access("\(fixture.podcastPath)/\(composed)", F_OK) == 0)
    #expect(errnoOf { access("\(fixture.podcastPath)/\(decomposed)", F_OK) } == .ENOENT)
  }

  @Test func episodesHaveTheNamesSizesAndTimesOfTheFeedAlsoOfflineAndAfterARemount() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
    let before = try fixture.status(fixture.episode(2))
    #expect(before.st_size == 300_000 && before.st_mtim.tv_sec == 1_704_153_600)
    #expect(before.st_mode == S_IFREG | 0o644 && before.st_uid == getuid() && before.st_blocks > 0)
    try fixture.unmount()
    fixture.origin.stop()
    try fixture.mount()
    #expect(try fixture.list(fixture.podcastPath) == MountFixture.names)
    let after = try fixture.status(fixture.episode(2))
    #expect(after.st_ino == before.st_ino && after.st_size == before.st_size)
  }

  @Test func aFeedThatCannotBeFetchedFailsTheListingAndIsTriedAgain() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    fixture.origin.change("/feed.xml") { $0.behaviour.status = 500 }
    #expect(throws: PosixError.self) { try fixture.list(fixture.podcastPath) }
    fixture.origin.change("/feed.xml") { $0.behaviour.status = nil }
    #expect(eventually { (try? fixture.list(fixture.podcastPath)) == MountFixture.names })
  }

  @Test func aRefreshShowsNewEpisodesInTheKernelsListing() throws {
    let fixture = try MountFixture()
    fixture.publish(count: 2)
    try fixture.mount()
    try fixture.makeSearch()
    #expect(try fixture.list(fixture.podcastPath).count == 2)
    fixture.publish(count: 3)
    let result = try fixture.run("refresh", fixture.podcastPath)
    #expect(result.end == .exit(0) && result.output.contains("1 new"), "\(result.errors)")
    #expect(try eventually { try fixture.list(fixture.podcastPath) == MountFixture.names })
  }

  @Test func whatIsUsedIsWhatIsCached() throws {
    let fixture = try MountFixture()
    try fixture.mount(options: "min_free=0,cache_size=1G")
    try fixture.makeSearch()
    func statistics() throws -> statvfs {
      var found = statvfs()
      try retrying("inspect", fixture.root) { statvfs(fixture.root, &found) }
      return found
    }
    let before = try statistics()
    #expect(before.f_blocks * before.f_frsize == 1 << 30 && before.f_bfree == before.f_blocks)
    // `df -i` takes a file system without free inodes for full.
    #expect(before.f_files == 0 || before.f_ffree > 0)
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    #expect(try eventually { try fixture.attribute("state", fixture.episode(1)) == "cached" })
    // The tree's own thread takes it in.
    let isCounted = try eventually {
      let after = try statistics()
      return (after.f_blocks - after.f_bfree) * after.f_frsize >= UInt(fixture.bodies[0].size)
    }
    #expect(isCounted)
  }

  /// `tar` says "file changed as we read it" where they move.
  @Test func theTimesOfAnEpisodeStayAsTheyAreWhateverItsState() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    let before = try fixture.status(episode)
    #expect(try fixture.isWhole(episode, 1))
    #expect(try eventually { try fixture.attribute("state", episode) == "cached" })
    let after = try fixture.status(episode)
    #expect(after.st_blocks > before.st_blocks)
    for (time, old) in [(after.st_ctim, before.st_ctim), (after.st_mtim, before.st_mtim)] {
      #expect(time.tv_sec == old.tv_sec && time.tv_nsec == old.tv_nsec)
    }
  }

  @Test func attributesSayWhatTheFeedAndTheTransferSay() throws {
    let fixture = try MountFixture()
    try fixture.mount()
    try fixture.makeSearch()
    let episode = fixture.episode(1)
    #expect(try fixture.attribute("state", episode) == "remote")
    #expect(try fixture.attribute("progress", episode) == "0.0")
    #expect(try fixture.attribute("size_source", episode) == "feed")
    #expect(try fixture.attribute("guid", episode) == "guid-1")
    #expect(try fixture.attribute("published", episode) == "2024-01-01T00:00:00Z")
    #expect(try fixture.attribute("title", fixture.podcastPath) == "Harbour Lights")
    #expect(try fixture.attribute("episode_count", fixture.podcastPath) == "3")
    #expect(try fixture.attribute("version", fixture.root) != nil)
    let listing = try RunningProcess(
      "getfattr", ["--absolute-names", "-d", episode], environment: fixture.environment.variables)
    #expect(listing.wait() == .exit(0))
    #expect(listing.output.contains("user.podcastfs.state=\"remote\""))
    #expect(listing.output.contains("user.mime_type=\"audio/mpeg\""))
    for value in ["cached", "", "x"] {
      #expect(throws: PosixError(.EINVAL, "set user.podcastfs.state of", episode)) {
        try fixture.set("state", value, episode)
      }
    }
  }
}
