import Catalog
import Configuration
import Glibc
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct SidecarTests {
  private static let stem = "2024-01-01 - Part 1"
  private static let cover: WebAddress = "http://ann:secret@feeds.example/art.PNG?size=3000"

  /// A podcast whose feed names all there is for its first episode.
  private func fixture(
    _ directory: TemporaryDirectory, sidecars: Set<Settings.Sidecar> = [.cover, .transcript, .chapters],
    after before: TreeFixture? = nil
  ) throws -> TreeFixture {
    var settings = Settings()
    settings.sidecars = sidecars
    let fixture = try TreeFixture(settings: settings, cache: directory.path, after: before)
    fixture.fetcher.state.withLock { state in
      state.files = [Self.cover: [1, 2, 3], "http://media.example/de": Array("WEBVTT".utf8)]
    }
    if before != nil { return fixture }
    fixture.feed.imageURL = Self.cover.forRequest
    fixture.feed.more += "<language>de-AT</language>"
    fixture.feed.items[0].more += """
      <podcast:transcript url="http://media.example/en" type="text/vtt" language="en"/>
      <podcast:transcript url="http://media.example/de" type="text/vtt" language="de"/>
      <podcast:transcript url="http://media.example/bad" type="text/vtt" language="../x"/>
      <podcast:transcript url="http://media.example/page" type="text/html" language="de"/>
      <podcast:transcript url="http://media.example/en.srt" language="en"/>
      <podcast:transcript url="file:///etc/passwd" type="text/vtt" language="fr"/>
      <podcast:chapters url="http://media.example/chapters" type="application/json+chapters"/>
      """
    return fixture
  }

  private func bytes(_ file: any OpenFile) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBytes { try file.read(at: 0, into: $0)?.get() ?? -1 }
    return Array(buffer.prefix(count))
  }

  @Test func aPodcastListsWhatItsFeedNamesAndFetchesNothingForIt() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    #expect(
      try fixture.list(podcast) == [
        Self.stem + ".chapters.json", Self.stem + ".mp3", Self.stem + ".srt",
        Self.stem + ".vtt", "2024-01-02 - Part 2.mp3", "2024-01-03 - Part 3.mp3", "cover.png",
      ])
    for item in try wait(fixture.tree.openDirectory(podcast, for: fixture.me)).items(from: 0, count: 100) {
      let found = try wait(fixture.tree.lookup(item.name, in: podcast, for: fixture.me))
      #expect(found == item.attributes && found.size > 0 && found.permissions == 0o644)
      #expect(try wait(fixture.tree.attributes(of: found.node)) == found)
    }
    #expect(fixture.fetcher.state.withLock { $0.asked.isEmpty })
  }

  @Test func theCoverThatASearchNamesIsThereBeforeTheFeedIsFetched() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched(cover: Self.cover.forRequest)
    #expect(failure(fixture.tree.lookup(".hidden", in: podcast, for: fixture.me)) == .ENOENT)
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    let file = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
    #expect(try bytes(file) == [1, 2, 3])
    #expect(fixture.fetches == 0)
    #expect(try fixture.list(podcast).contains("cover.png"))
    #expect(fixture.fetches == 1)
  }

  @Test func theCoverOnAPrivateHostWaitsForTheFeed() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched(cover: "http://127.0.0.1/art.png")
    _ = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    #expect(fixture.fetches == 1)
  }

  @Test func theOptionSaysWhichAreListed() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory, sidecars: [.notes])
    let podcast = try fixture.searched()
    #expect(try fixture.list(podcast).filter { !$0.hasSuffix(".mp3") } == [Self.stem + ".txt"])
    #expect(failure(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me)) == .ENOENT)
    let notes = try wait(fixture.tree.lookup(Self.stem + ".txt", in: podcast, for: fixture.me))
    let file = try wait(fixture.tree.open(notes.node, writes: false, for: fixture.indexer))
    #expect(try bytes(file) == Array("Notes of part 1\n".utf8))
    #expect(try wait(fixture.tree.attributes(of: notes.node)).size == 16)
    #expect(fixture.fetcher.state.withLock { $0.asked.isEmpty })
  }

  @Test func openingFetchesOnceAndTheSizeIsExactFromThenOn() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    #expect(failure(fixture.tree.open(cover.node, writes: true, for: fixture.me)) == .EROFS)
    for _ in 0..<2 {
      let file = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
      // The kernel has its estimate at first: it is read past its pages, and told to ask anew, also where another
      // process may have brought it.
      #expect(try bytes(file) == [1, 2, 3] && file.size == 3)
      #expect(file.isDirect && file.changesAttributes)
    }
    #expect(try wait(fixture.tree.attributes(of: cover.node)).size == 3)
    let asked = fixture.fetcher.state.withLock { $0.asked }
    #expect(asked.map(\.url) == [Self.cover] && asked.allSatisfy(\.allowsPrivateHosts))
    // Its copy is there for the next mount, and may be deleted under this one.
    let next = try self.fixture(directory, after: fixture)
    let again = try wait(next.tree.lookup("cover.png", in: podcast, for: next.me))
    #expect(again.size == 3)
    for name in try Directories.names(in: directory.path("sidecars")) {
      unlink(directory.path("sidecars/" + name))
    }
    let file = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
    #expect(try bytes(file) == [1, 2, 3])
    #expect(fixture.fetcher.state.withLock { $0.asked.count } == 2)
  }

  /// Another mount has fetched it, or this one without anybody having opened it: the kernel is told that what it was
  /// shown is no more so.
  @Test func aCopyThatComesByItselfIsShownWithItsSize() throws {
    let directory = try TemporaryDirectory()
    let first = try fixture(directory)
    let second = try fixture(directory, after: first)
    let podcast = try first.searched()
    _ = try first.list(podcast)
    let cover = try wait(first.tree.lookup("cover.png", in: podcast, for: first.me))
    #expect(cover.size == 200_000)
    _ = first.kernel.take()
    let same = try wait(second.tree.lookup("cover.png", in: podcast, for: second.me))
    _ = try wait(second.tree.open(same.node, writes: false, for: second.me))
    #expect(second.kernel.await { $0.attributes.contains(same.node) })
    #expect(first.kernel.await { $0.attributes.contains(cover.node) })
    #expect(try wait(first.tree.attributes(of: cover.node)).size == 3)
  }

  @Test func anotherAddressIsAnotherFile() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    _ = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
    fixture.fetcher.state.withLock { $0.files["http://new.example/a.png"] = [9] }
    try fixture.tree.awaitIdle()
    _ = fixture.kernel.take()
    fixture.feed.imageURL = "http://new.example/a.png"
    try fixture.refresh()
    #expect(fixture.awaitListing(podcast))
    let file = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
    #expect(try bytes(file) == [9])
  }

  @Test func aBarredProgramGetsOnlyWhatIsCachedButCovers() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    let transcript = try wait(fixture.tree.lookup(Self.stem + ".vtt", in: podcast, for: fixture.me))
    #expect(failure(fixture.tree.open(transcript.node, writes: false, for: fixture.indexer)) == .EIO)
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    #expect(failure(fixture.tree.open(cover.node, writes: false, for: fixture.stranger)) == .EIO)
    #expect(fixture.fetcher.state.withLock { $0.asked.isEmpty })
    let picture = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.indexer))
    #expect(try bytes(picture) == [1, 2, 3])
    _ = try wait(fixture.tree.open(transcript.node, writes: false, for: fixture.me))
    let file = try wait(fixture.tree.open(transcript.node, writes: false, for: fixture.indexer))
    #expect(try bytes(file) == Array("WEBVTT".utf8))
  }

  @Test func aFailureIsTheOpenersAndAnInterruptEndsTheWaiting() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    let chapters = try wait(
      fixture.tree.lookup(Self.stem + ".chapters.json", in: podcast, for: fixture.me))
    #expect(failure(fixture.tree.open(chapters.node, writes: false, for: fixture.me)) == .ETIMEDOUT)
    #expect(try wait(fixture.tree.attributes(of: chapters.node)) == chapters)
    fixture.fetcher.state.withLock { $0.keepsWaiting = true }
    guard case .pending(let start) = fixture.tree.open(chapters.node, writes: false, for: fixture.me) else {
      Issue.record("opened at once")
      return
    }
    let result = Monitor<Errno?>(nil)
    let cancellation = Cancellation()
    start(cancellation) { outcome in
      if case .failure(let errno) = outcome { result.withLockNotifying { $0 = errno } }
    }
    cancellation.cancel()
    #expect(result.wait(until: .after(patience)) { $0 } == .EINTR)
  }

  @Test func whatItsHostDoesNotHaveIsNotListedForAWeek() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let chapters = Self.stem + ".chapters.json"
    let all = try fixture.list(podcast)
    fixture.fetcher.state.withLock { $0.gone = ["http://media.example/chapters", Self.cover] }
    for name in [chapters, "cover.png"] {
      let node = try wait(tree.lookup(name, in: podcast, for: me)).node
      // The name was listed: it is not ENOENT.
      #expect(failure(tree.open(node, writes: false, for: me)) == .EIO)
      #expect(fixture.awaitName(name, in: podcast))
      #expect(failure(tree.lookup(name, in: podcast, for: me)) == .ENOENT)
      #expect(failure(tree.open(node, writes: false, for: me)) == .EIO)
    }
    #expect(fixture.fetcher.state.withLock { $0.asked.count } == 2)
    let shown = all.filter { $0 != chapters && $0 != "cover.png" }
    #expect(try fixture.list(podcast) == shown)
    // In the next mount, too.
    let next = try self.fixture(directory, after: fixture)
    #expect(try next.list(podcast) == shown)
    let copies = directory.path("sidecars")
    for copy in try Directories.names(in: copies) {
      var times = [timespec](
        repeating: timespec(tv_sec: Int(wallClockSeconds()) - 8 * 86_400, tv_nsec: 0), count: 2)
      utimensat(AT_FDCWD, copies + "/" + copy, &times, 0)
    }
    let last = try self.fixture(directory, after: next)
    last.fetcher.state.withLock { $0.files["http://media.example/chapters"] = [7] }
    #expect(try last.list(podcast) == all)
    let node = try wait(last.tree.lookup(chapters, in: podcast, for: me)).node
    #expect(try bytes(wait(last.tree.open(node, writes: false, for: me))) == [7])
  }

  @Test func removingDropsTheCopyAndTheNameStays() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    _ = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
    #expect(try Directories.names(in: directory.path("sidecars")).count == 1)
    try wait(fixture.tree.remove("cover.png", in: podcast, for: fixture.me))
    #expect(try Directories.names(in: directory.path("sidecars")).isEmpty)
    #expect(try fixture.list(podcast).contains("cover.png"))
    #expect(failure(fixture.tree.remove("cover.png", in: podcast, for: fixture.stranger)) == .EACCES)
  }

  @Test func downloadedShowsOnlyWhatIsWhollyHere() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    _ = try fixture.list(podcast)
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 10, received: 10))
    let folder = NodeID(.downloadedPodcast, TreeFixture.podcast)
    #expect(fixture.awaitListing(folder))
    #expect(try fixture.list(folder) == [Self.stem + ".mp3"])
    let transcript = try wait(fixture.tree.lookup(Self.stem + ".vtt", in: podcast, for: fixture.me))
    _ = try wait(fixture.tree.open(transcript.node, writes: false, for: fixture.me))
    #expect(fixture.awaitName(Self.stem + ".vtt", in: folder))
    #expect(try fixture.list(folder) == [Self.stem + ".mp3", Self.stem + ".vtt"])
    // As `rm -r` does it: the episode first, then what was listed beside it, then the folder.
    try wait(fixture.tree.remove(Self.stem + ".mp3", in: folder, for: fixture.me))
    try wait(fixture.tree.remove(Self.stem + ".vtt", in: folder, for: fixture.me))
    try wait(fixture.tree.removeDirectory("Harbour Lights", in: .downloaded, for: fixture.me))
  }

  @Test func downloadedShowsTheCoverInEveryMountAndAfterARemount() throws {
    let directory = try TemporaryDirectory()
    let first = try fixture(directory)
    let podcast = try first.searched()
    _ = try first.list(podcast)
    let cover = try wait(first.tree.lookup("cover.png", in: podcast, for: first.me))
    first.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 10, received: 10))
    let folder = NodeID(.downloadedPodcast, TreeFixture.podcast)
    #expect(first.awaitListing(folder))
    // Another mount, which lists the podcast nowhere else.
    let second = try fixture(directory, after: first)
    #expect(try second.list(folder) == [Self.stem + ".mp3"])
    let before = try wait(second.tree.attributes(of: folder)).modified
    _ = try wait(first.tree.open(cover.node, writes: false, for: first.me))
    for fixture in [first, second] {
      #expect(fixture.awaitName("cover.png", in: folder))
      #expect(try fixture.list(folder) == [Self.stem + ".mp3", "cover.png"])
    }
    #expect(second.kernel.told.withLock { $0.listings.contains(folder) })
    #expect(try wait(second.tree.attributes(of: folder)).modified.sinceEpoch > before.sinceEpoch)

    let next = try fixture(directory, after: second)
    #expect(try next.list(folder) == [Self.stem + ".mp3", "cover.png"])
    #expect(try wait(next.tree.lookup("cover.png", in: folder, for: next.me)).size == 3)
    // Its feed names another, which is not here.
    next.feed.imageURL = "http://new.example/a.png"
    try next.refresh()
    #expect(next.awaitName("cover.png", in: folder))
    #expect(try next.list(folder) == [Self.stem + ".mp3"])
  }

  /// Also with the folder itself.
  @Test func theCoverInDownloadedComesAndGoesWithTheEpisodes() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    let podcast = try fixture.searched()
    _ = try fixture.list(podcast)
    let cover = try wait(fixture.tree.lookup("cover.png", in: podcast, for: fixture.me))
    let folder = NodeID(.downloadedPodcast, TreeFixture.podcast)
    for _ in 0..<2 {
      _ = try wait(fixture.tree.open(cover.node, writes: false, for: fixture.me))
      fixture.transfers.set(
        TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 10, received: 10))
      #expect(fixture.awaitName("cover.png", in: folder))
      #expect(try fixture.list(folder) == [Self.stem + ".mp3", "cover.png"])
      _ = fixture.kernel.take()
      // As `rm -r` does it.
      try wait(fixture.tree.remove(Self.stem + ".mp3", in: folder, for: fixture.me))
      try wait(fixture.tree.remove("cover.png", in: folder, for: fixture.me))
      try wait(fixture.tree.removeDirectory("Harbour Lights", in: .downloaded, for: fixture.me))
      #expect(try fixture.list(folder) == [])
      _ = fixture.kernel.take()
    }
  }

  @Test func namesOfOneEpisodesSidecarsAreNeverAnothers() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    fixture.feed.items[1].more = "<podcast:transcript url='http://media.example/2' type='text/vtt'/>"
    let podcast = try fixture.searched()
    try fixture.refresh()
    // Its own transcript has the name that the English one of the first would get.
    try fixture.world.poke("UPDATE episode SET stem = '\(Self.stem).en' WHERE title = 'Part 2'")
    try fixture.settle()
    let items = try wait(fixture.tree.openDirectory(podcast, for: fixture.me)).items(from: 0, count: 100)
    #expect(Set(items.map(\.name)).count == items.count)
    let found = try wait(fixture.tree.lookup(Self.stem + ".en.vtt", in: podcast, for: fixture.me))
    #expect(found.node.kind == .transcript && found.node.row == TreeFixture.episode(2))
  }

  @Test func aSubscriptionsCoverIsFetchedAsSoonAsItsFeedNamesIt() throws {
    let directory = try TemporaryDirectory()
    let fixture = try fixture(directory)
    // Followed by its address alone: nothing is known of it.
    fixture.feed.imageURL = nil
    try fixture.follow(fixture.searched())
    try fixture.refresh()
    fixture.feed.imageURL = Self.cover.forRequest
    try fixture.refresh()
    #expect(eventually { fixture.fetcher.state.withLock { $0.asked.map(\.url) } == [Self.cover] })
    #expect(eventually { (try? Directories.names(in: directory.path("sidecars")).count) == 1 })
    // It is here: told of again, it is not fetched again.
    fixture.feed.more += "<copyright>2024</copyright>"
    try fixture.refresh()
    let folder = try #require(try fixture.catalog.subscriptions().first.map { NodeID(.subscription, $0.id) })
    #expect(try fixture.list(folder).contains("cover.png"))
    #expect(fixture.fetcher.state.withLock { $0.asked.count } == 1)
  }
}
