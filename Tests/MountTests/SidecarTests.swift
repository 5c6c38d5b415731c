import Glibc
import PosixKit
import TestSupport
import Testing

/// Covers, transcripts and chapters on a real mount.
@Suite struct SidecarTests {
  private static let transcript = Array("WEBVTT\n\n00:00.000 --> 00:02.000\nGood evening.\n".utf8)
  private static let cover = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  private static let stem = "2024-01-01 - Part 1"

  private static let options = "min_free=0,sidecars=cover:transcript:chapters"

  private func fixture() throws -> MountFixture {
    let fixture = try MountFixture()
    fixture.origin.serve("/art.jpg", OriginResource(Self.cover, mediaType: "image/jpeg"))
    fixture.origin.serve("/1.vtt", OriginResource(Self.transcript, mediaType: "text/vtt"))
    fixture.publish(count: 3) { feed, origin in
      feed.imageURL = origin.url("/art.jpg")
      feed.items[0].more = """
        <podcast:transcript url="\(origin.url("/1.vtt"))" type="text/vtt"/>
        <podcast:chapters url="\(origin.url("/gone.json"))" type="application/json+chapters"/>
        """
    }
    try fixture.mount(options: Self.options)
    try fixture.makeSearch()
    return fixture
  }

  @Test func sidecarsAreListedAtOnceAndFetchedWhenTheyAreOpened() throws {
    let fixture = try fixture()
    let podcast = fixture.podcastPath
    #expect(
      try fixture.list(podcast) == [Self.stem + ".chapters.json"] + [MountFixture.names[0]]
        + [Self.stem + ".vtt"] + MountFixture.names[1...] + ["cover.jpg"])
    #expect(try fixture.status(podcast + "/cover.jpg").st_size > 0)
    #expect(fixture.origin.requests("/art.jpg").isEmpty && fixture.origin.requests("/1.vtt").isEmpty)

    for _ in 0..<2 {
      let file = try FileDescriptor(opening: podcast + "/cover.jpg", O_RDONLY)
      #expect(try file.status().st_size == 70_000)
      #expect(try Directories.read(podcast + "/cover.jpg") == Self.cover)
    }
    #expect(try fixture.status(podcast + "/cover.jpg").st_size == 70_000)
    #expect(fixture.origin.requests("/art.jpg").count == 1)
    #expect(try Directories.read("\(podcast)/\(Self.stem).vtt") == Self.transcript)
    #expect(open(podcast + "/cover.jpg", O_RDWR) == -1 && Errno.current == .EROFS)
  }

  /// One that is missing does not make each copy of its podcast fail.
  @Test func whatItsHostDoesNotHaveIsNotListedAnyMore() throws {
    let fixture = try fixture()
    let podcast = fixture.podcastPath
    let chapters = Self.stem + ".chapters.json"
    #expect(try fixture.list(podcast).contains(chapters))
    #expect(open("\(podcast)/\(chapters)", O_RDONLY) == -1 && Errno.current == .EIO)
    #expect(try eventually { try !fixture.list(podcast).contains(chapters) })
    #expect(eventually { errnoOf { access("\(podcast)/\(chapters)", F_OK) } == .ENOENT })
    let copying = try RunningProcess(
      "cp", ["-r", podcast, fixture.environment.home.path("copy")], environment: fixture.environment.variables
    )
    #expect(copying.wait() == .exit(0), "\(copying.errors)")
  }

  @Test func timesAreTheSameInEveryMount() throws {
    let fixture = try fixture()
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(options: Self.options, at: second)
    let folder = fixture.podcastPath.dropFirst(fixture.root.utf8.count)
    func times(_ root: String) throws -> [[Int]] {
      try ["cover.jpg", Self.stem + ".vtt", Self.stem + ".chapters.json"].map { name in
        let time = try fixture.status("\(root)\(folder)/\(name)").st_mtim
        return [time.tv_sec, time.tv_nsec]
      }
    }
    let before = try times(fixture.root)
    #expect(try times(second) == before)
    #expect(try Directories.read("\(second)\(folder)/cover.jpg") == Self.cover)
    #expect(try eventually { try times(fixture.root) == times(second) })
    let after = try times(second)
    try fixture.unmount()
    try fixture.mount(options: Self.options)
    #expect(try times(fixture.root) == after)
    #expect(try times(second) == after)
  }

  /// `cp` fills a copy up to the size that it was shown.
  @Test func whatAnotherMountHasFetchedIsShownAsItIs() throws {
    let fixture = try fixture()
    let second = fixture.root + "2"
    mkdir(second, 0o755)
    try fixture.mount(options: Self.options, at: second)
    let names = ["cover.jpg", Self.stem + ".vtt"]
    let bytes = [Self.cover, Self.transcript]
    let folder = fixture.podcastPath
    let other = second + folder.dropFirst(fixture.root.count)
    _ = try fixture.list(folder)
    for name in names { #expect(try fixture.status("\(folder)/\(name)").st_size > 0) }
    for name in names { _ = try Directories.read("\(other)/\(name)") }
    for (name, bytes) in zip(names, bytes) {
      let copy = fixture.environment.home.path("copy of \(name)")
      let copying = try RunningProcess(
        "cp", ["\(folder)/\(name)", copy], environment: fixture.environment.variables)
      #expect(copying.wait() == .exit(0))
      #expect(try Directories.read(copy) == bytes, "\(name)")
      #expect(try eventually { try fixture.status("\(folder)/\(name)").st_size == bytes.count })
    }
  }

  @Test func aForgottenPodcastLeavesNothingInTheCache() throws {
    let fixture = try fixture()
    let podcast = fixture.podcastPath
    _ = try Directories.read(podcast + "/cover.jpg")
    _ = try Directories.read("\(podcast)/\(Self.stem).vtt")
    #expect(try fixture.isWhole(fixture.episode(1), 1))
    let cache = fixture.environment.home.path("cache") + "/podcastfs"
    let before = try files(in: cache)
    #expect(before.contains { $0.contains("sidecars/") } && before.count >= 4, "\(before)")
    let result = try fixture.run("forget", fixture.origin.url("/feed.xml"), seconds: 120)
    #expect(result.end == .exit(0), "\(result.errors)")
    #expect(try fixture.list(fixture.searchPath) == [])
    // Empty folders and what belongs to the cache as a whole.
    #expect(
      eventually { (try? files(in: cache))?.allSatisfy { $0.hasSuffix("CACHEDIR.TAG") } == true },
      "\((try? files(in: cache)) ?? [])")
  }

  /// The paths of all files below a directory.
  private func files(in directory: String) throws -> [String] {
    let search = try RunningProcess(
      "find", [directory, "-type", "f"], environment: ["PATH": "/usr/bin:/bin"])
    #expect(search.wait() == .exit(0), "\(search.errors)")
    return search.output.split(separator: "\n").map(String.init)
  }

  @Test func aSubscriptionWithSidecarsIsRemovedAsAWhole() throws {
    let fixture = try fixture()
    _ = try fixture.list(fixture.podcastPath)
    let subscription = fixture.root + "/Subscriptions/Harbour Lights"
    #expect(rename(fixture.podcastPath, subscription) == 0)
    #expect(try fixture.list(subscription).contains("cover.jpg"))
    let cover = try Directories.read(subscription + "/cover.jpg")
    #expect(cover == Self.cover, "\(cover.count)")
    let removal = try RunningProcess(
      "rm", ["-r", subscription], environment: fixture.environment.variables)
    #expect(removal.wait() == .exit(0), "\(removal.errors)")
    #expect(try fixture.list(fixture.root + "/Subscriptions") == ["subscriptions.opml"])
  }

  @Test func downloadedEpisodesHaveBesideThemWhatIsHere() throws {
    let fixture = try fixture()
    _ = try fixture.list(fixture.podcastPath)
    #expect(try fixture.run("get", fixture.episode(1)).end == .exit(0))
    let folder = fixture.root + "/Downloaded/Harbour Lights"
    #expect(eventually { (try? fixture.list(folder)) == [MountFixture.names[0]] })
    _ = try Directories.read("\(fixture.podcastPath)/\(Self.stem).vtt")
    #expect(try eventually { try fixture.list(folder) == [MountFixture.names[0], Self.stem + ".vtt"] })
    #expect(try Directories.read("\(folder)/\(Self.stem).vtt") == Self.transcript)
    let removal = try RunningProcess("rm", ["-r", folder], environment: fixture.environment.variables)
    #expect(removal.wait() == .exit(0), "\(removal.errors)")
    #expect(try eventually { try fixture.list(fixture.root + "/Downloaded").isEmpty })
  }
}
