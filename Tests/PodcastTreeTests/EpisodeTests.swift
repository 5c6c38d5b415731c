import Catalog
import Configuration
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct EpisodeTests {
  @Test func aFeedIsFetchedWhenItsDirectoryIsFirstLookedInto() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    #expect(
      try fixture.list(podcast) == [
        "2024-01-01 - Part 1.mp3", "2024-01-02 - Part 2.mp3", "2024-01-03 - Part 3.mp3",
      ])
    _ = try fixture.list(podcast)
    #expect(fixture.fetches == 1)
  }

  @Test func aFeedThatFailsGivesItsErrnoAndIsTriedAgain() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    fixture.world.origin.change("/a.xml") { $0.behaviour.status = 401 }
    #expect(failure(fixture.tree.openDirectory(podcast, for: fixture.me)) == .EACCES)
    fixture.world.origin.change("/a.xml") { $0.behaviour.status = nil }
    #expect(try fixture.list(podcast).count == 3)
  }

  @Test func anIndexerStartsNoFetchAndItsEmptyListingIsNotKept() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let snapshot = try wait(fixture.tree.openDirectory(podcast, for: fixture.indexer))
    #expect(snapshot.names.isEmpty && !snapshot.isCacheable)
    #expect(fixture.fetches == 0)
  }

  @Test func filesThatFileManagersLookForEverywhereFetchNothing() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    #expect(failure(fixture.tree.lookup(".hidden", in: podcast, for: fixture.me)) == .ENOENT)
    #expect(fixture.fetches == 0)
  }

  @Test func sizesAreTheFeedsWherePlausibleElseAnEstimateAndExactOnceKnown() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let (tree, me) = (fixture.tree, fixture.me)
    let first = try wait(tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: me))
    #expect(first.size == 1_000_000 && first.blocks == 1 && first.permissions == 0o644)
    #expect(first.modified == FileTime(1_704_067_200))
    #expect(try fixture.attribute("user.podcastfs.size_source", first.node) == "feed")
    let second = try wait(tree.lookup("2024-01-02 - Part 2.mp3", in: podcast, for: me))
    #expect(second.size == 60 * 16_000)
    #expect(try fixture.attribute("user.podcastfs.size_source", second.node) == "estimate")
    #expect(failure(tree.extendedAttribute("user.podcastfs.progress", of: second.node)) == .ENODATA)
    #expect(
      failure(tree.extendedAttribute("user.podcastfs.bytes_total", of: second.node)) == .ENODATA)

    fixture.transfers.set(
      TransferStatus(
        key: TreeFixture.key, state: .downloading, generation: 1, total: 900_000, received: 450_000,
        rate: 1000,
        eta: 450))
    let known = try wait(tree.attributes(of: first.node))
    #expect(known.size == 900_000 && known.blocks == 879 && known.timeout == 1)
    #expect(try fixture.attribute("user.podcastfs.progress", first.node) == "50.0")
    #expect(try fixture.attribute("user.podcastfs.rate", first.node) == "1000")
    #expect(try fixture.attribute("user.podcastfs.size_source", first.node) == "exact")
  }

  /// That the size is no longer known is heard later than the answer to the open.
  @Test func whatMayBeThereIsNotRefusedForASizeOfBefore() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .remote, generation: 1, total: 9_000_000, received: 0))
    #expect(fixture.kernel.await { $0.attributes.contains(node) })
    fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 3, size: nil)) }
    let file = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBytes { try file.read(at: 8_500_000, into: $0)?.get() }
    #expect(count == 0)
    file.close()
  }

  /// The second episode is shown with 60 s at 128 kbit/s, twice, and 16 MiB.
  @Test func aReadOfBytesThatAreHereSucceedsBehindTheSizeThatIsShown() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-02 - Part 2.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.state.withLock {
      $0.outcome = .success(FakeEpisode(generation: 1, size: nil, told: 60 << 20, cached: 60 << 20))
    }
    let file = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    #expect(try wait(fixture.tree.attributes(of: node)).size < 20 << 20)
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBytes { try file.read(at: 50 << 20, into: $0)?.get() }
    #expect(count == 4096)
    // Only the shown size promises what is far behind all that has come.
    let result = buffer.withUnsafeMutableBytes { file.read(at: 80 << 20, into: $0) }
    #expect(throws: Errno.EIO) { try result?.get() }
    let error = try wait(fixture.tree.extendedAttribute("user.podcastfs.error", of: node))
    #expect(
      String(decoding: error, as: UTF8.self) == "the server tells no length, and the end is not known yet")
    // Once the end is known, nothing is behind it.
    _ = try wait(file.whenReadable(at: 80 << 20, count: 1))
    #expect(try buffer.withUnsafeMutableBytes { try file.read(at: 80 << 20, into: $0)?.get() } == 0)
    file.close()
  }

  /// `trigger=read`: an open asks the server for nothing.
  @Test func aReadBehindTheShownSizeWaitsWhereTheServerHasToldNothingYet() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-02 - Part 2.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.state.withLock {
      $0.outcome = .success(FakeEpisode(generation: 0, size: nil, told: 60 << 20, cached: 1))
    }
    let file = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    var buffer = [UInt8](repeating: 0, count: 4096)
    #expect(buffer.withUnsafeMutableBytes { file.read(at: 80 << 20, into: $0) } == nil)
    _ = try wait(file.whenReadable(at: 80 << 20, count: 1))
    #expect(try buffer.withUnsafeMutableBytes { try file.read(at: 80 << 20, into: $0)?.get() } == 0)
    file.close()
  }

  @Test func attributesAreListedWithinThreeKiBAndHoldNoCredentials() throws {
    let fixture = try TreeFixture()
    fixture.feed.items[0].more =
      "<description>\(String(repeating: "Löng nötes. ", count: 2000))</description>"
    fixture.feed.items[0].guid = String(repeating: "g", count: 3000)
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    let names = try wait(fixture.tree.extendedAttributeNames(of: node))
    let list = String(decoding: names, as: UTF8.self).split(separator: "\0").map(String.init)
    var total = names.count
    for name in list {
      let value = try fixture.attribute(name, node)
      #expect(!value.contains("secret"), "\(name)")
      total += value.utf8.count
    }
    #expect(total < 3072)
    #expect(list.contains("user.podcastfs.state") && list.contains("user.xdg.origin.url"))
    #expect(try fixture.attribute("user.dublincore.title", node) == "Part 1")
    #expect(try fixture.attribute("user.podcastfs.feed_url", podcast) == fixture.world.origin.url("/a.xml"))
  }

  @Test func oneEpisodeIsOneInodeWithALinkForEachViewThatShowsIt() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let name = "2024-01-01 - Part 1.mp3"
    let alone = try wait(tree.lookup(name, in: podcast, for: me))
    #expect(alone.links == 1)
    let second = try wait(tree.makeDirectory("again", in: .search, for: me))
    let other = try wait(tree.lookup("Harbour Lights", in: second.node, for: me)).node
    #expect(try wait(tree.lookup(name, in: other, for: me)).links == 2)
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 10, received: 10))
    #expect(fixture.awaitListing(.downloaded))
    let folder = try wait(tree.lookup("Harbour Lights", in: .downloaded, for: me)).node
    let there = try wait(tree.lookup(name, in: folder, for: me))
    #expect(there.links == 3 && there.node.inode == alone.node.inode)
  }

  /// `Latest/` counts before anybody has looked into it.
  @Test func theLinksAreRightFromTheFirstLook() throws {
    let fixture = try TreeFixture()
    let (podcast, me) = (try fixture.searched(), fixture.me)
    _ = try fixture.list(podcast)
    let folder = try fixture.follow(podcast)
    let name = "2024-01-01 - Part 1.mp3"
    let first = try TreeFixture(after: fixture)
    #expect(try wait(first.tree.lookup(name, in: folder, for: me)).links == 2)
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 10, received: 10))
    let downloaded = NodeID(.downloadedPodcast, TreeFixture.podcast)
    let second = try TreeFixture(after: fixture)
    let directory = try wait(second.tree.openDirectory(downloaded, for: me))
    #expect(directory.items(from: 0, count: 1).map(\.attributes.links) == [3])
    // By its number, as a kernel asks that has been shown it by the process before.
    let node = try #require(directory.items(from: 0, count: 1).first?.attributes.node)
    let third = try TreeFixture(after: fixture)
    #expect(try wait(third.tree.attributes(of: node)).links == 3)
  }

  @Test func aLinkIsCountedForLatest() throws {
    var settings = TreeFixture.settings
    settings.latest = 1
    let fixture = try TreeFixture(settings: settings)
    let (podcast, me) = (try fixture.searched(), fixture.me)
    _ = try fixture.list(podcast)
    let folder = try fixture.follow(podcast)
    func links(_ number: Int) throws -> UInt32 {
      try wait(fixture.tree.lookup("2024-01-0\(number) - Part \(number).mp3", in: folder, for: me)).links
    }
    #expect(try eventually { try links(2) == 1 && links(3) == 2 })
    try fixture.catalog.setHidden(true, episode: TreeFixture.episode(3))
    #expect(try eventually { try links(2) == 2 })
  }

  @Test func aSubscriptionsTimeIsItsNewestEpisodesDate() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    _ = try fixture.list(podcast)
    let folder = try fixture.follow(podcast)
    func time() throws -> FileTime { try wait(fixture.tree.attributes(of: folder)).modified }
    #expect(try eventually { try time() == FileTime(1_704_067_200 + 2 * 86_400) })
    try fixture.catalog.setHidden(true, episode: TreeFixture.episode(3))
    #expect(try eventually { try time() == FileTime(1_704_067_200 + 86_400) })
  }

  /// In every mount: the daemon says when it was.
  @Test func aViewsTimeIsThatOfItsNewestChange() throws {
    let fixture = try TreeFixture()
    _ = try fixture.list(fixture.searched())
    func time(_ view: NodeID, _ fixture: TreeFixture) throws -> Int64 {
      try fixture.tree.awaitIdle()
      return try wait(fixture.tree.attributes(of: view)).modified.sinceEpoch
    }
    var status = TransferStatus(key: TreeFixture.key, state: .paused)
    status.changed = wallClockNanoseconds()
    let changes: [(TransferState, NodeID)] = [
      (.paused, .paused), (.cached, .downloaded), (.remote, .downloaded), (.queued, .downloading),
      (.failed, .failed),
    ]
    for (state, view) in changes {
      status.state = state
      status.changed += 1_000_000
      fixture.transfers.set(status)
      #expect(try time(view, fixture) == status.changed)
    }
    #expect(try time(.failed, TreeFixture(after: fixture)) == status.changed)
  }

  @Test func aNewRepresentationIsANewNodeOfTheSameInode() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let name = "2024-01-01 - Part 1.mp3"
    let before = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me)).node
    func begin(_ generation: UInt32) {
      fixture.transfers.set(
        TransferStatus(
          key: TreeFixture.key, state: .downloading, generation: generation, total: 1_000_000))
    }
    begin(1)
    #expect(try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me)).node == before)
    begin(2)
    #expect(fixture.awaitName(name, in: podcast))
    let after = try wait(fixture.tree.lookup(name, in: podcast, for: fixture.me)).node
    #expect(after != before && after.inode == before.inode)
  }

  @Test func whoOpensDecidesWhatTheOpenStarts() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 1_000_000)) }
    let file = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    #expect(file.size == 1_000_000 && !file.isDirect)
    // Nothing of it is here: an error rather than a file that can't be read.
    #expect(failure(fixture.tree.open(node, writes: false, for: fixture.indexer)) == .EIO)
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .downloading, generation: 1, total: 1_000_000, received: 9))
    #expect(fixture.kernel.await { $0.attributes.contains(node) })
    for caller in [fixture.indexer, fixture.stranger, Caller(user: 1000, thread: 1, sniffs: true)] {
      _ = try wait(fixture.tree.open(node, writes: false, for: caller))
    }
    #expect(
      fixture.transfers.state.withLock { $0.opened.map(\.intent) } == [
        .download, .cachedOnly, .cachedOnly, .cachedOnly,
      ])
    #expect(failure(fixture.tree.open(node, writes: true, for: fixture.me)) == .EROFS)
  }

  /// A node's number holds a part of the generation's number only, so two generations may share a node.
  @Test func theKernelKeepsItsPagesOnlyWhereTheyWereReadInTheSameGeneration() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    func keepsPages(generation: UInt32, reads: Bool) throws -> Bool {
      fixture.transfers.state.withLock {
        $0.outcome = .success(FakeEpisode(generation: generation, size: 1_000_000))
      }
      let file = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
      if reads {
        withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { _ = file.read(at: 0, into: $0) }
      }
      file.close()
      return file.keepsCache
    }
    #expect(
      try !keepsPages(generation: 1, reads: false), "of what another process has served, nothing is known")
    #expect(
      try !keepsPages(generation: 1, reads: true), "it is not known that the kernel has dropped its pages")
    #expect(try keepsPages(generation: 1, reads: false))
    let other: UInt32 = 1 + 1 << 9
    #expect(try !keepsPages(generation: other, reads: false))
    #expect(try !keepsPages(generation: other, reads: true))
    #expect(try keepsPages(generation: other, reads: true))
    #expect(try !keepsPages(generation: 1, reads: true))
    // Also while the first reader still has it open: else the kernel would wait for the pages that come.
    fixture.transfers.state.withLock {
      $0.outcome = .success(FakeEpisode(generation: 1 + 2 << 9, size: 1_000_000))
    }
    let first = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { _ = first.read(at: 0, into: $0) }
    let second = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    #expect(!first.keepsCache && second.keepsCache)
    for file in [first, second] { file.close() }
  }

  /// open(2) looks a name up once more after ESTALE, and not a third time.
  @Test func anOpenIsStaleOnceAtMostWhateverOthersOpen() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    func open(_ generation: UInt32, thread: Int32) throws -> any OpenFile {
      fixture.transfers.state.withLock {
        $0.outcome = .success(FakeEpisode(generation: generation, size: 1_000_000))
      }
      return try wait(fixture.tree.open(node, writes: false, for: Caller(user: 1000, thread: thread)))
    }
    var files = [try open(1, thread: 10)]
    for thread in [Int32(11), 12] {
      #expect(throws: Errno.ESTALE) { try open(2, thread: thread) }
    }
    for thread in [Int32(11), 12] { files.append(try open(2, thread: thread)) }
    for file in files { file.close() }
    #expect(throws: Never.self) { try open(2, thread: 11).close() }
  }

  /// Once its row has been read.
  @Test func anEpisodeThatIsWhollyHereOpensWithoutWaiting() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 1_000_000)) }
    // The first open is noted in the row, which is read again.
    for _ in 0..<2 {
      try wait(fixture.tree.open(node, writes: false, for: fixture.me)).close()
      try fixture.tree.awaitIdle()
    }
    guard case .ready(.success(let file)) = fixture.tree.open(node, writes: false, for: fixture.me) else {
      Issue.record("it waits")
      return
    }
    file.close()
  }

  @Test func anOrderToDownloadWhatIsDownloadedCountsAsByHand() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    fixture.transfers.set(
      TransferStatus(
        key: TreeFixture.key, state: .cached, generation: 1, total: 1_000_000, received: 1_000_000))
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    let catalog = fixture.catalog
    try fixture.follow(podcast)
    try catalog.setRuleMark(.ordered, episode: node.row)
    func mark() throws -> RuleMark? {
      let ruled = try catalog.ruledPodcast(TreeFixture.podcast, isForPeople: true)
      return ruled?.episodes.first { $0.key == TreeFixture.key }?.mark
    }
    #expect(try mark() == .ordered)
    let name = "user.podcastfs.state"
    try wait(
      fixture.tree.setExtendedAttribute(name, to: Array("downloading".utf8), of: node, for: fixture.me))
    try fixture.tree.awaitIdle()
    #expect(try mark() == .byHand)
    #expect(try fixture.attribute(name, node) == "cached")
  }

  @Test func theStateCanBeSetToThreeValuesOnly() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let node = try wait(tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: me)).node
    func set(_ name: String, _ value: String) -> Errno? {
      failure(tree.setExtendedAttribute("user.podcastfs.\(name)", to: Array(value.utf8), of: node, for: me))
    }
    #expect(set("state", "downloading") == nil)
    #expect(try fixture.attribute("user.podcastfs.state", node) == "queued")
    #expect(set("state", "paused") == nil)
    #expect(try fixture.attribute("user.podcastfs.state", node) == "paused")
    #expect(try fixture.list(.downloading) == ["Failed", "Paused"])
    #expect(try fixture.list(.paused) == ["2024-01-01 - Harbour Lights - Part 1.mp3"])
    #expect(set("state", "remote") == nil)
    #expect(try fixture.list(.paused) == [])
    for value in ["cached", "queued", "", "paused\n", "x"] { #expect(set("state", value) == .EINVAL) }
    #expect(set("progress", "1") == .EPERM)
    #expect(set("keep", "1") == nil)
    #expect(try fixture.attribute("user.podcastfs.keep", node) == "1")
    #expect(set("played", "1") == nil)
    #expect(try fixture.attribute("user.podcastfs.played", node) == "1")
    #expect(set("played", "2") == .EINVAL)
  }

  /// setxattr(2): XATTR_CREATE is 1, XATTR_REPLACE 2.
  @Test func anAttributeIsMadeOrReplacedAsTheCallerSays() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let node = try wait(tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: me)).node
    func set(_ name: String, _ value: String, _ flags: Int32) -> Errno? {
      failure(
        tree.setExtendedAttribute(
          "user.podcastfs.\(name)", to: Array(value.utf8), of: node, flags: flags, for: me))
    }
    #expect(set("played", "1", 1) == .EEXIST && set("position", "7", 2) == .ENODATA)
    #expect(
      set("played", "0", 2) == nil && set("position", "7", 1) == nil && set("position", "8.5", 2) == nil)
    #expect(try fixture.attribute("user.podcastfs.position", node) == "8.5")
  }

  @Test func aPositionIsKeptUntilTheEpisodeIsPlayed() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let node = try wait(tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: me)).node
    func set(_ name: String, _ value: String) -> Errno? {
      failure(tree.setExtendedAttribute(name, to: Array(value.utf8), of: node, for: me))
    }
    func value(_ name: String) -> String? { try? fixture.attribute(name, node) }
    #expect(value("user.podcastfs.position") == nil && value("user.podcastfs.last_played") == nil)
    #expect(value("user.xdg.tags") == "unplayed")
    #expect(set("user.podcastfs.position", "0:12.5") == nil)
    #expect(value("user.podcastfs.position") == "12.5" && value("user.podcastfs.last_played") != nil)
    #expect(value("user.xdg.tags") == "unplayed,started")
    for wrong in ["", "-1", "1:60", "soon"] { #expect(set("user.podcastfs.position", wrong) == .EINVAL) }
    #expect(failure(tree.removeExtendedAttribute("user.podcastfs.position", of: node, for: me)) == nil)
    #expect(value("user.podcastfs.position") == nil)
    #expect(set("user.xdg.tags", "unplayed, kept") == nil)
    #expect(value("user.xdg.tags") == "unplayed,kept")
    #expect(set("user.xdg.tags", "played") == nil)
    #expect(value("user.podcastfs.played") == "1" && value("user.podcastfs.keep") == "1")
    #expect(value("user.xdg.tags") == "kept")
  }

  /// A feed has given its address to another episode.
  @Test func anEpisodeWhoseAddressIsAnothersNowIsNotFetched() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    _ = try fixture.list(podcast)
    try fixture.world.poke("UPDATE episode SET is_replaced = 1 WHERE title = 'Part 1'")
    let node = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 1_000_000)) }
    #expect(failure(fixture.tree.open(node, writes: false, for: fixture.me)) == .EIO)
    let state = "user.podcastfs.state"
    #expect(
      failure(
        fixture.tree.setExtendedAttribute(state, to: Array("downloading".utf8), of: node, for: fixture.me))
        == .EIO)
    fixture.transfers.set(
      TransferStatus(
        key: TreeFixture.key, state: .cached, generation: 1, total: 1_000_000, received: 1_000_000))
    _ = try wait(fixture.tree.open(node, writes: false, for: fixture.me))
    #expect(fixture.transfers.state.withLock { $0.opened.map(\.intent) } == [.cachedOnly])
  }

  @Test func aFileManagerThatOpensAllThatItShowsStartsADownloadByReading() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    fixture.transfers.state.withLock {
      $0.outcome = .success(FakeEpisode(generation: 1, size: 1_000_000))
    }
    let episode = try wait(fixture.tree.lookup("2024-01-01 - Part 1.mp3", in: podcast, for: fixture.me)).node
    for thread: Int32 in [5, 1] {
      try wait(fixture.tree.open(episode, writes: false, for: Caller(user: 1000, thread: thread))).close()
    }
    #expect(fixture.transfers.state.withLock { $0.opened.map(\.intent) } == [.downloadAtRead, .download])
  }
}
