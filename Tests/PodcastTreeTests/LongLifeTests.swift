import Catalog
import Glibc
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// One tree through many changes, and through folders of ten thousand. `PODCASTFS_SOAK_CHANGES` says how many.
@Suite struct LongLifeTests {
  /// Bytes that this process has for itself.
  private var memory: Int {
    let text = (try? Directories.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let fields = text.split(separator: " ").compactMap { Int($0) }
    return fields.count > 2 ? (fields[1] - fields[2]) * 4096 : 0
  }

  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer takes memory of its own"))
  func manyChangesLeaveNothingBehind() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let names = try fixture.list(podcast)
    let nodes = try names.map { try wait(tree.lookup($0, in: podcast, for: me)).node }
    let states: [TransferState] = [.queued, .downloading, .paused, .failed, .cached, .remote]
    func change(_ round: Int) throws {
      let number = round % 3 + 1
      let key = MediaKey(address: WebAddress("http://media.example/\(number).mp3"))
      switch round % 100 {
      case 0..<90:
        fixture.transfers.set(
          TransferStatus(
            key: key, state: states[round % 6], generation: UInt32(round / 100 % 7 + 1),
            total: Int64(round % 5 + 1) * 1000, received: Int64(round % 1000)))
      case 90..<97:
        try wait(
          tree.setExtendedAttribute(
            "user.podcastfs.played", to: [round % 2 == 0 ? 48 : 49], of: nodes[number - 1], for: me))
      case 97:
        let search = try wait(tree.makeDirectory("is:cached \(round)", in: .search, for: me)).node
        _ = try fixture.list(search)
        try wait(tree.removeDirectory("is:cached \(round)", in: .search, for: me))
      case 98:
        fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 1000)) }
        if let file = try? wait(tree.open(nodes[number - 1], writes: false, for: me)) { file.close() }
      default: _ = try fixture.list(round % 200 < 100 ? .downloading : .downloaded)
      }
      if round % 1000 == 0 { _ = fixture.kernel.take() }
    }
    let changes = getenv("PODCASTFS_SOAK_CHANGES").flatMap { Int(String(cString: $0)) } ?? 30_000
    for round in 0..<changes / 5 { try change(round) }
    let before = memory
    for round in changes / 5..<changes { try change(round) }
    _ = fixture.kernel.take()
    // Other tests run beside it in this process: the strict figure is the soak's, of a mount's own process.
    #expect(memory - before < 64 << 20, "\((memory - before) >> 10) KiB more")
    try tree.awaitIdle()
    for gauge in tree.gauges { #expect(gauge.count <= gauge.limit, "\(gauge)") }
    #expect(try fixture.list(podcast) == names)
  }

  @Test func aPodcastThatWasFollowedLeavesNothingBehind() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    func count(_ name: String) -> Int { tree.gauges.first { $0.name == name }?.count ?? -1 }
    _ = try fixture.list(.latest)
    try tree.awaitIdle()
    let before = count("podcasts in memory")
    for _ in 0..<3 {
      let search = try wait(tree.makeDirectory("harbour", in: .search, for: me)).node
      try wait(tree.rename("Harbour Lights", in: search, to: "Lights", in: .subscriptions, flags: 0, for: me))
      let folder = try wait(tree.lookup("Lights", in: .subscriptions, for: me)).node
      #expect(try fixture.list(folder).count == 3)
      #expect(count("podcasts in memory") > before)
      try wait(tree.removeDirectory("harbour", in: .search, for: me))
      try wait(tree.removeDirectory("Lights", in: .subscriptions, for: me))
      // A later refresh brings it back for nobody.
      fixture.feed.items[0].title += "+"
      try fixture.refresh()
    }
    #expect(count("podcasts in memory") == before)
  }

  /// What a verb reads and tells does not depend on how large the folder is.
  @Test func aVerbCostsWhatItChanges() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let count = 10_000
    fixture.publish(count: count)
    _ = try fixture.searched()
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    try wait(tree.rename("Harbour Lights", in: search, to: "Lights", in: .subscriptions, flags: 0, for: me))
    let folder = try wait(tree.lookup("Lights", in: .subscriptions, for: me)).node
    let names = try fixture.list(folder)
    #expect(try names.count == count && fixture.list(.latest).count == 100)
    let open = try wait(tree.openDirectory(folder, for: me))
    _ = fixture.kernel.take()
    let removed = 200
    for number in 1...removed { try wait(tree.remove(names[number * 7], in: folder, for: me)) }
    let told = fixture.kernel.take()
    #expect(told.names.filter { $0.directory == folder }.count == removed)
    #expect(told.names.count + told.attributes.count + told.listings.count <= removed * 10)
    #expect(try fixture.list(folder).count == count - removed)
    // Who lists the folder as it was goes on with that.
    #expect(open.names.count == count && !open.isCurrent)
    // The newest are filled up from those behind them, without a look at the catalogue for each.
    for name in try fixture.list(.latest).suffix(50) { try wait(tree.remove(name, in: .latest, for: me)) }
    #expect(try fixture.list(.latest).count == 100)
  }

  /// Whoever opens it gets the value that is there, until something in it changes.
  @Test func aFolderThatHasNotChangedIsNotMadeAgain() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let first = try wait(tree.openDirectory(podcast, for: me))
    for _ in 0..<10 {
      guard case .ready(.success(let again)) = tree.openDirectory(podcast, for: me) else {
        Issue.record("it is made anew, or read")
        return
      }
      #expect(again.names == first.names && first.isCurrent)
    }
    try wait(tree.remove("2024-01-01 - Part 1.mp3", in: podcast, for: me))
    #expect(!first.isCurrent)
  }

  enum Order { case oldestFirst, newestFirst, withinEachDay }

  /// getfattr asks for one after the other: the catalogue is asked for several at once. In the order of names those of
  /// one day may come otherwise than they were published.
  @Test(arguments: [Order.oldestFirst, .newestFirst, .withinEachDay])
  func whoAsksForOneAfterTheOtherIsReadAhead(_ order: Order) throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let count = 160
    fixture.publish(count: count)
    let folder = try fixture.searched()
    let names = try fixture.list(folder)
    let nodes = try names.map { try wait(tree.lookup($0, in: folder, for: me)).node }
    var reads = 0
    let places =
      switch order {
      case .oldestFirst: Array(nodes.indices)
      case .newestFirst: Array(nodes.indices.reversed())
      case .withinEachDay: nodes.indices.map { $0 ^ 3 }
      }
    for place in places {
      let node = nodes[place]
      let answer = tree.extendedAttributeNames(of: node)
      if case .pending = answer { reads += 1 }
      let listed = try wait(answer)
      #expect(String(decoding: listed, as: UTF8.self).contains("user.podcastfs.guid"))
      #expect(try fixture.attribute("user.podcastfs.guid", node) == "guid-\(place + 1)")
    }
    #expect(reads <= count / 8)
    // What has changed is read again.
    try wait(tree.setExtendedAttribute("user.podcastfs.played", to: Array("1".utf8), of: nodes[50], for: me))
    #expect(try fixture.attribute("user.podcastfs.played", nodes[50]) == "1")
  }

  /// More folders than are kept in memory, of which the kernel still has the listings.
  @Test func aFolderWhoseListingHadToMakeRoomIsOpenedUnread() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    fixture.publish(count: 15_000)
    var other = TestFeed("Other", items: fixture.feed.items)
    for place in other.items.indices {
      other.items[place].url += "?other"
      (other.items[place].guid, other.items[place].title) = ("other-\(place)", "Other \(place)")
    }
    fixture.world.origin.serve("/b.xml", OriginResource(other.xml, mediaType: "application/rss+xml"))
    fixture.world.list("Other", at: "/b.xml")
    let first = try fixture.searched()
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    let second = try wait(tree.lookup("Other", in: search, for: me)).node
    let names = try fixture.list(first)
    #expect(try fixture.list(second).count == 15_000)
    guard case .ready(.success(let again)) = tree.openDirectory(first, for: me, isKept: true) else {
      Issue.record("it is made anew, or read")
      return
    }
    #expect(!again.isRead && again.isCacheable && again.isCurrent)
    // The kernel has lost it.
    try wait(again.read())
    #expect(again.names == names && again.isCurrent)
    // What has changed is read at once.
    #expect(try fixture.list(second).count == 15_000)
    try wait(tree.remove(names[0], in: first, for: me))
    #expect(try fixture.list(first) == Array(names.dropFirst()))
  }

  @Test func aThousandDownloadsAreOrderedAndDroppedOneByOne() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let count = 1000
    fixture.publish(count: count)
    let podcast = try fixture.searched()
    _ = try fixture.list(podcast)
    for number in 1...count {
      let key = MediaKey(address: WebAddress("http://media.example/\(number).mp3"))
      fixture.transfers.set(TransferStatus(key: key, state: .queued))
    }
    try tree.awaitIdle()
    func listed(_ fixture: TreeFixture) throws -> [String] {
      try fixture.list(.downloading).filter { $0.hasSuffix(".mp3") }
    }
    let names = try listed(fixture)
    #expect(names.count == count && Set(names).count == count)
    // The same names after a remount, in whatever order they came.
    #expect(try listed(TreeFixture(after: fixture)) == names)
    for name in names { try wait(tree.remove(name, in: .downloading, for: me)) }
    #expect(try listed(fixture).isEmpty)
    #expect(fixture.transfers.state.withLock { $0.dropped.count } == count)
  }
}
