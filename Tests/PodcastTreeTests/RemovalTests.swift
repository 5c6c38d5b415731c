import Catalog
import Configuration
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct RemovalTests {
  private let name = "2024-01-01 - Part 1.mp3"

  @Test func removingInASearchOnlyHidesThere() throws {
    let fixture = try TreeFixture()
    let podcast = try fixture.searched()
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 1, received: 1))
    _ = try fixture.list(podcast)
    try wait(fixture.tree.remove(name, in: podcast, for: fixture.me))
    #expect(try fixture.list(podcast).count == 2)
    #expect(fixture.transfers.state.withLock { $0.dropped.isEmpty })
  }

  @Test func removingUnderASubscriptionHidesAndDrops() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    _ = try fixture.list(try fixture.searched())
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    try wait(tree.rename("Harbour Lights", in: search, to: "Lights", in: .subscriptions, flags: 0, for: me))
    #expect(try fixture.list(search) == [])
    #expect(try fixture.list(.subscriptions) == ["Lights", "subscriptions.opml"])
    #expect(try fixture.list(.latest).count == 3)
    let podcast = try wait(tree.lookup("Lights", in: .subscriptions, for: me)).node
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 1, received: 1))
    try wait(tree.remove(name, in: podcast, for: me))
    #expect(try fixture.list(podcast).count == 2)
    #expect(try fixture.list(.latest).count == 2)
    #expect(fixture.transfers.state.withLock { $0.dropped } == [TreeFixture.key])
    #expect(try fixture.attribute("user.podcastfs.hidden", podcast) == "1")
    try wait(tree.setExtendedAttribute("user.podcastfs.hidden", to: Array("0".utf8), of: podcast, for: me))
    #expect(try fixture.list(podcast).count == 3)
    try wait(tree.removeDirectory("Lights", in: .subscriptions, for: me))
    #expect(try fixture.list(.subscriptions) == ["subscriptions.opml"])
  }

  @Test func removingInLatestMarksAsPlayedAndDrops() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let result = try fixture.searched()
    _ = try fixture.list(result)
    let folder = try fixture.follow(result)
    #expect(try eventually { try fixture.list(.latest).count == 3 })
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 1, received: 1))
    for name in try fixture.list(.latest) { try wait(tree.remove(name, in: .latest, for: me)) }
    #expect(try fixture.list(.latest).isEmpty)
    #expect(fixture.transfers.state.withLock { $0.dropped } == [TreeFixture.key])
    #expect(try fixture.list(folder).count == 3)
    let node = try wait(tree.lookup(name, in: folder, for: me)).node
    #expect(try fixture.attribute("user.podcastfs.played", node) == "1")
    // What is unplayed again is in the inbox again.
    try wait(tree.setExtendedAttribute("user.podcastfs.played", to: Array("0".utf8), of: node, for: me))
    #expect(try eventually { try fixture.list(.latest).count == 1 })
  }

  @Test func latestShowsAPodcastWhoseFeedCameAfterItWasRead() throws {
    let fixture = try TreeFixture()
    try fixture.follow(try fixture.searched())
    #expect(try fixture.list(.latest).isEmpty)
    try fixture.refresh()
    #expect(try fixture.list(.latest).count == 3)
  }

  @Test func latestShowsNoOldEpisodes() throws {
    let fixture = try TreeFixture(settings: Settings())
    let day = FileTime.now.seconds / 86_400
    for (place, age) in [(1, Int64(61)), (2, 59)] {
      fixture.feed.items[place].published = (day - age) * 86_400
    }
    let result = try fixture.searched()
    _ = try fixture.list(result)
    try fixture.follow(result)
    #expect(
      try eventually { try fixture.list(.latest).map { $0.dropFirst(13) } == ["Harbour Lights - Part 3.mp3"] }
    )
  }

  /// Two podcasts have become one while the directory of the one that went was open: what is here is shown where it
  /// belongs now, or, where no episode has it any more, not at all.
  @Test func whatIsHereOfAPodcastThatHasBecomeOneWithAnotherIsShownInThatOnesFolder() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let keys = ["x", "y"].map { MediaKey(address: "http://again.example/\($0).mp3") }
    var feed = TestFeed("Again", items: [.part(11, day: 11), .part(12, day: 12)])
    for place in 0..<2 { feed.items[place].url = "http://again.example/\(["x", "y"][place]).mp3" }
    fixture.world.origin.serve("/b.xml", OriginResource(feed.xml, mediaType: "application/rss+xml"))
    fixture.world.list("Again", at: "/b.xml")
    let first = try fixture.searched()
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    _ = try fixture.list(first)
    #expect(try fixture.list(try wait(tree.lookup("Again", in: search, for: me)).node).count == 2)
    for key in keys {
      fixture.transfers.set(
        TransferStatus(key: key, state: .cached, generation: 1, total: 10, received: 10))
    }
    #expect(try eventually { try fixture.list(.downloaded) == ["Again"] })
    try fixture.world.poke(
      "UPDATE episode SET media_key = (SELECT media_key FROM episode WHERE enclosure_url LIKE '%x.mp3') WHERE id = \(TreeFixture.episode(2))",
      "DELETE FROM podcast WHERE title = 'Again'")
    #expect(try eventually { try fixture.list(.downloaded) == ["Harbour Lights"] })
    let folder = try wait(tree.lookup("Harbour Lights", in: .downloaded, for: me)).node
    #expect(try fixture.list(folder) == ["2024-01-02 - Part 2.mp3"])
    // What is told of it later brings no old name back.
    _ = fixture.kernel.take()
    for key in keys {
      fixture.transfers.set(
        TransferStatus(key: key, state: .cached, generation: 2, total: 10, received: 10))
    }
    #expect(fixture.kernel.await { !$0.attributes.isEmpty })
    #expect(try fixture.list(.downloaded) == ["Harbour Lights"])
  }

  @Test func whatIsReadThroughAnotherNodeIsDroppedByItsName() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let before = try wait(tree.lookup(name, in: podcast, for: me)).node
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 9, received: 9))
    #expect(fixture.awaitListing(.downloaded))
    fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 9)) }
    // Its size has turned out to be another than it was shown with: that is another node. Who still opens the old
    // one reads past the kernel's pages, and the kernel asks anew for its size.
    let direct = try wait(tree.open(before, writes: false, for: me))
    #expect(direct.isDirect && direct.changesAttributes && direct.size == 9)
    #expect(try wait(tree.attributes(of: before)).size == 9)
    direct.close()
    let node = try wait(tree.lookup(name, in: podcast, for: me)).node
    #expect(node != before && node.inode == before.inode)
    let file = try wait(tree.open(node, writes: false, for: me))
    let folder = try wait(tree.lookup("Harbour Lights", in: .downloaded, for: me)).node
    try wait(tree.remove(name, in: folder, for: me))
    #expect(try fixture.list(folder) == [])
    #expect(!file.isDirect && !file.changesAttributes && file.size == 9)
    file.close()
    #expect(fixture.transfers.state.withLock { $0.dropped } == [TreeFixture.key])
  }

  @Test func subscriptionsHaveNamesThatTheTreeCouldHaveGiven() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    _ = try fixture.list(try fixture.searched())
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    func move(_ name: String) -> Errno? {
      failure(tree.rename("Harbour Lights", in: search, to: name, in: .subscriptions, flags: 0, for: me))
    }
    #expect(move(String(repeating: "x", count: 201)) == .ENAMETOOLONG)
    // Never EINVAL: mv(1) takes that for a directory that is to be moved into itself.
    for name in ["a:b", "a?", "a\u{202e}b", "a\nb"] { #expect(move(name) == .EILSEQ, "\(name)") }
    for name in ["-a", "a.", "a ", "NUL", "list.opml", "List.OPML", ".a"] {
      #expect(move(name) == .EPERM, "\(name)")
    }
    #expect(move("A & B's [best] (2)") == nil)
  }

  @Test func aPodcastThatIsFollowedIsNotFollowedOnceMore() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let first = try wait(tree.makeDirectory("a", in: .search, for: me)).node
    let second = try wait(tree.makeDirectory("b", in: .search, for: me)).node
    func move(from search: NodeID, to name: String) -> Errno? {
      failure(tree.rename("Harbour Lights", in: search, to: name, in: .subscriptions, flags: 0, for: me))
    }
    #expect(move(from: first, to: "Lights") == nil)
    _ = fixture.kernel.take()
    for name in ["Lights", "Harbour Lights", "Other"] { #expect(move(from: second, to: name) == nil) }
    #expect(try fixture.list(.subscriptions) == ["Lights", "subscriptions.opml"])
    #expect(try fixture.list(second) == ["Harbour Lights"])
    // The kernel has moved the name.
    let told = fixture.kernel.take().names.filter { $0.event == .replaced }
    #expect(told.contains { $0.name == "Other" && $0.directory == .subscriptions })
    #expect(told.contains { $0.name == "Harbour Lights" && $0.directory == second })
  }

  @Test func anEmptiedFolderOfDownloadsCanBeRemovedAsRmDoes() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    _ = try fixture.list(try fixture.searched())
    fixture.transfers.set(
      TransferStatus(key: TreeFixture.key, state: .cached, generation: 1, total: 9, received: 9))
    #expect(fixture.awaitListing(.downloaded))
    let folder = try wait(tree.lookup("Harbour Lights", in: .downloaded, for: me)).node
    #expect(failure(tree.removeDirectory("Harbour Lights", in: .downloaded, for: me)) == .ENOTEMPTY)
    try wait(tree.remove(name, in: folder, for: me))
    #expect(try fixture.list(.downloaded) == ["Harbour Lights"] && fixture.list(folder) == [])
    try wait(tree.removeDirectory("Harbour Lights", in: .downloaded, for: me))
    #expect(failure(tree.lookup("Harbour Lights", in: .downloaded, for: me)) == .ENOENT)
  }

  /// The transfers may know a file of which a lost catalogue hears again much later.
  @Test func anEpisodeThatIsKnownAgainIsDownloadedAtOnce() throws {
    let fixture = try TreeFixture()
    let tree = fixture.tree
    for number in [1, 4] {
      let key = MediaKey(address: WebAddress("http://media.example/\(number).mp3"))
      fixture.transfers.set(TransferStatus(key: key, state: .cached, total: 1000, received: 1000))
    }
    try tree.awaitIdle()
    #expect(try fixture.list(.downloaded) == [])
    #expect(try fixture.list(fixture.searched()).count == 3)
    #expect(try fixture.list(.downloaded) == ["Harbour Lights"])
    let folder = try wait(tree.lookup("Harbour Lights", in: .downloaded, for: fixture.me)).node
    #expect(try fixture.list(folder) == ["2024-01-01 - Part 1.mp3"])
    fixture.feed.items.append(.part(4, day: 4))
    try fixture.refresh()
    #expect(try fixture.list(folder) == ["2024-01-01 - Part 1.mp3", "2024-01-04 - Part 4.mp3"])
  }

  /// A list of one feed.
  private func list(_ address: String) -> String {
    "<opml version='2.0'><body><outline type='rss' text='B' xmlUrl='\(address)'/></body></opml>"
  }

  @Test func anOPMLFileIsImportedAtCloseAndRefusedWhereItIsNone() throws {
    let fixture = try TreeFixture()
    let created = try wait(fixture.tree.create("list.opml", in: .subscriptions, for: fixture.me))
    let good = Array(list("http://b.example/").utf8)
    #expect(good.withUnsafeBytes { try? created.file.write(at: 0, $0).get() } == good.count)
    #expect(failure(created.file.flush()) == nil)
    created.file.close()
    #expect(try fixture.list(.subscriptions).contains("list.opml"))
    let bad = try wait(fixture.tree.create("bad.opml", in: .subscriptions, for: fixture.me))
    _ = [UInt8(65)].withUnsafeBytes { bad.file.write(at: 0, $0) }
    #expect(failure(bad.file.flush()) == .EINVAL)
  }

  @Test func `What is copied to the subscriptions is taken by its content under any name`() throws {
    let fixture = try TreeFixture()
    func copy(_ name: String, _ content: String) throws -> Errno? {
      let created = try wait(fixture.tree.create(name, in: .subscriptions, for: fixture.me))
      _ = Array(content.utf8).withUnsafeBytes { created.file.write(at: 0, $0) }
      defer { created.file.close() }
      return failure(created.file.flush())
    }
    let origin = fixture.world.origin
    origin.serve("/page", OriginResource("<html><body>None</body></html>", mediaType: "text/html"))
    func link(_ path: String) -> String { "[InternetShortcut]\nURL=\(origin.url(path))\n" }
    #expect(try copy("podcasts_opml.xml", list("http://b.example/")) == nil)
    #expect(try copy("list.txt", list("ftp://x")) == .EINVAL)
    #expect(try copy("none.opml", "<opml version='2.0'><body/></opml>") == .EINVAL)
    #expect(try copy("a.url", link("/page")) == .EINVAL)
    #expect(try copy("a.desktop", link("/a.xml")) == nil)
    #expect(try fixture.list(.subscriptions).contains("Harbour Lights"))
    #expect(try copy("again.webloc", link("/a.xml")) == nil)
    let me = fixture.me
    #expect(failure(fixture.tree.create(".directory", in: .subscriptions, for: me)) == .EPERM)
    #expect(failure(fixture.tree.create("Harbour Lights", in: .subscriptions, for: me)) == .EEXIST)
  }

  /// Also when the name goes by itself.
  @Test func aListThatComesAndGoesMovesTheTimeOfItsDirectory() throws {
    let fixture = try TreeFixture()
    let tree = fixture.tree
    func time() throws -> FileTime { try wait(tree.attributes(of: .subscriptions)).modified }
    let first = try time()
    let latest = try wait(tree.attributes(of: .latest)).modified
    let created = try wait(tree.create("list.opml", in: .subscriptions, for: fixture.me))
    let second = try time()
    #expect(second > first)
    _ = [UInt8(65)].withUnsafeBytes { created.file.write(at: 0, $0) }
    #expect(failure(created.file.flush()) == .EINVAL)
    _ = fixture.kernel.take()
    created.file.close()
    #expect(fixture.kernel.await { $0.names.contains { $0.name == "list.opml" && $0.event == .vanished } })
    let third = try time()
    #expect(third > second)
    let other = try wait(tree.create("other.opml", in: .subscriptions, for: fixture.me))
    let fourth = try time()
    try wait(tree.remove("other.opml", in: .subscriptions, for: fixture.me))
    #expect(try fourth > third && time() > fourth)
    other.file.close()
    #expect(try wait(tree.attributes(of: .latest)).modified == latest)
  }
}
