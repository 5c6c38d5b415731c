import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// One tree through a hundred thousand changes, and through folders of ten thousand.
@Suite struct LongLifeTests {
  /// Bytes that this process has for itself.
  private var memory: Int {
    let text = (try? Directories.read("/proc/self/statm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let fields = text.split(separator: " ").compactMap { Int($0) }
    return fields.count > 2 ? (fields[1] - fields[2]) * 4096 : 0
  }

  @Test(.enabled(if: !Sanitizer.isOn, "a sanitizer takes memory of its own"))
  func aHundredThousandChangesLeaveNothingBehind() throws {
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
        let search = try wait(tree.makeDirectory("search \(round)", in: .search, for: me)).node
        _ = try fixture.list(try wait(tree.lookup("Harbour Lights", in: search, for: me)).node)
        try wait(tree.removeDirectory("search \(round)", in: .search, for: me))
      case 98:
        fixture.transfers.state.withLock { $0.outcome = .success(FakeEpisode(generation: 1, size: 1000)) }
        if let file = try? wait(tree.open(nodes[number - 1], writes: false, for: me)) { file.close() }
      default: _ = try fixture.list(round % 200 < 100 ? .downloading : .downloaded)
      }
      if round % 1000 == 0 { _ = fixture.kernel.take() }
    }
    for round in 0..<20_000 { try change(round) }
    let before = memory
    for round in 20_000..<100_000 { try change(round) }
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
      // What its feed or a refresh says of it then is of nobody's interest.
      fixture.catalog.announce(.podcast(TreeFixture.podcast))
      try tree.awaitIdle()
    }
    #expect(count("podcasts in memory") == before)
  }

  /// What a verb reads and tells does not depend on how large the folder is.
  @Test func aVerbCostsWhatItChanges() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let count = 10_000
    fixture.catalog.state.withLock { state in
      state.feeds[TreeFixture.podcast] = (1...count).map { number in
        let address = WebAddress("http://media.example/\(number).mp3")
        return Episode(
          id: TreeFixture.podcast << 20 | Int64(number), podcastID: TreeFixture.podcast,
          mediaKey: MediaKey(address: address), stem: "2024-01-01 - Part \(number)", fileExtension: ".mp3",
          title: "Part \(number)", published: 1_704_067_200 + Int64(number), enclosureURL: address)
      }
    }
    _ = try fixture.searched()
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    try wait(tree.rename("Harbour Lights", in: search, to: "Lights", in: .subscriptions, flags: 0, for: me))
    let folder = try wait(tree.lookup("Lights", in: .subscriptions, for: me)).node
    #expect(try fixture.list(folder).count == count)
    #expect(try fixture.list(.latest).count == 100)
    let open = try wait(tree.openDirectory(folder, for: me))
    _ = fixture.kernel.take()
    fixture.catalog.rowsRead.withLock { $0 = 0 }
    let removed = 200
    for number in 1...removed {
      try wait(tree.remove("2024-01-01 - Part \(number * 7).mp3", in: folder, for: me))
    }
    #expect(fixture.catalog.rowsRead.withLock { $0 } <= removed * 8)
    let told = fixture.kernel.take()
    #expect(told.names.filter { $0.directory == folder }.count == removed)
    #expect(told.names.count + told.attributes.count + told.listings.count <= removed * 10)
    #expect(try fixture.list(folder).count == count - removed)
    // Who lists the folder as it was goes on with that.
    #expect(open.names.count == count && !open.isCurrent)
    // The newest are filled up from those behind them, without a look at the catalogue for each.
    for number in stride(from: count, to: count - 50, by: -1) {
      try wait(tree.remove("2024-01-01 - Harbour Lights - Part \(number).mp3", in: .latest, for: me))
    }
    #expect(try fixture.list(.latest).count == 100)
    #expect(fixture.catalog.selections.withLock { $0 } <= 3)
  }

  /// Whoever opens it gets the value that is there, until something in it changes.
  @Test func aFolderThatHasNotChangedIsNotMadeAgain() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let podcast = try fixture.searched()
    let first = try wait(tree.openDirectory(podcast, for: me))
    fixture.catalog.rowsRead.withLock { $0 = 0 }
    for _ in 0..<10 {
      guard case .ready(.success(let again)) = tree.openDirectory(podcast, for: me) else {
        Issue.record("it is made anew, or read")
        return
      }
      #expect(again.names == first.names && first.isCurrent)
    }
    #expect(fixture.catalog.rowsRead.withLock { $0 } == 0)
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
    fixture.catalog.state.withLock { state in
      state.feeds[TreeFixture.podcast] = (1...count).map { number in
        let address = WebAddress("http://media.example/\(number).mp3")
        var episode = Episode(
          id: TreeFixture.podcast << 20 | Int64(number), podcastID: TreeFixture.podcast,
          mediaKey: MediaKey(address: address), stem: "\(1000 + number)", fileExtension: ".mp3",
          title: "Part \(number)", published: 1_704_067_200 + Int64(number), enclosureURL: address)
        episode.guid = "guid-\(number)"
        return episode
      }
    }
    let folder = try fixture.searched()
    let names = try fixture.list(folder)
    let nodes = try names.map { try wait(tree.lookup($0, in: folder, for: me)).node }
    fixture.catalog.rowsRead.withLock { $0 = 0 }
    let places =
      switch order {
      case .oldestFirst: Array(nodes.indices)
      case .newestFirst: Array(nodes.indices.reversed())
      case .withinEachDay: nodes.indices.map { $0 ^ 3 }
      }
    for place in places {
      let node = nodes[place]
      let listed = try wait(tree.extendedAttributeNames(of: node, for: me))
      #expect(String(decoding: listed, as: UTF8.self).contains("user.podcastfs.guid"))
      #expect(try fixture.attribute("user.podcastfs.guid", node) == "guid-\(place + 1)")
    }
    #expect(fixture.catalog.rowsRead.withLock { $0 } <= count / 8)
    // What has changed is read again.
    try wait(tree.setExtendedAttribute("user.podcastfs.played", to: Array("1".utf8), of: nodes[50], for: me))
    #expect(try fixture.attribute("user.podcastfs.played", nodes[50]) == "1")
  }

  /// More folders than are kept in memory, of which the kernel still has the listings.
  @Test func aFolderWhoseListingHadToMakeRoomIsOpenedUnread() throws {
    let fixture = try TreeFixture()
    let (tree, me) = (fixture.tree, fixture.me)
    let other: Int64 = 8
    fixture.catalog.state.withLock { state in
      state.podcasts[other] = Podcast(
        id: other, feedURL: "http://feeds.example/b.xml", title: "Other", name: "Other")
      state.directory.append(other)
      for podcast in [TreeFixture.podcast, other] {
        state.feeds[podcast] = (1...15_000).map { number in
          let address = WebAddress("http://media.example/\(podcast)-\(number).mp3")
          return Episode(
            id: podcast << 20 | Int64(number), podcastID: podcast, mediaKey: MediaKey(address: address),
            stem: "2024-01-01 - Part \(number)", fileExtension: ".mp3", title: "Part \(number)",
            published: 1_704_067_200 + Int64(number), enclosureURL: address)
        }
      }
    }
    let first = try fixture.searched()
    let search = try wait(tree.lookup("harbour", in: .search, for: me)).node
    let second = try wait(tree.lookup("Other", in: search, for: me)).node
    let names = try fixture.list(first)
    #expect(try fixture.list(second).count == 15_000)
    fixture.catalog.rowsRead.withLock { $0 = 0 }
    guard case .ready(.success(let again)) = tree.openDirectory(first, for: me, isKept: true) else {
      Issue.record("it is made anew, or read")
      return
    }
    #expect(!again.isRead && again.isCacheable && again.isCurrent)
    #expect(fixture.catalog.rowsRead.withLock { $0 } == 0)
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
    fixture.catalog.state.withLock { state in
      state.feeds[TreeFixture.podcast] = (1...count).map { number in
        let address = WebAddress("http://media.example/\(number).mp3")
        return Episode(
          id: TreeFixture.podcast << 20 | Int64(number), podcastID: TreeFixture.podcast,
          mediaKey: MediaKey(address: address), stem: "2024-01-01 - Part \(number)", fileExtension: ".mp3",
          title: "Part \(number)", published: 1_704_067_200, enclosureURL: address)
      }
    }
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
    let other = try TreeFixture()
    let statuses = fixture.transfers.allStatuses()
    other.catalog.state.withLock { state in
      let feed = fixture.catalog.state.withLock { $0.feeds }
      state.feeds = feed
      state.episodes = feed
    }
    for status in statuses.shuffled() { other.transfers.set(status) }
    #expect(try listed(other) == names)
    for name in names { try wait(tree.remove(name, in: .downloading, for: me)) }
    #expect(try listed(fixture).isEmpty)
    #expect(fixture.transfers.state.withLock { $0.dropped.count } == count)
  }
}
