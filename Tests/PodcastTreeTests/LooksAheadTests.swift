import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing

/// Programs that look into one result of a search after the other.
@Suite struct LooksAheadTests {
  /// A search that finds twelve podcasts, each on a host of its own unless `host` says otherwise.
  private func search(_ fixture: TreeFixture, host: String? = nil) throws -> [NodeID] {
    fixture.catalog.state.withLock { state in
      state.directory = Array(1...12)
      for number in Int64(1)...12 {
        state.podcasts[number] = Podcast(
          id: number, feedURL: "https://\(host ?? "host\(number).example")/feed\(number)",
          title: "P\(number + 10)", name: "P\(number + 10)")
      }
    }
    let search = try wait(fixture.tree.makeDirectory("harbour", in: .search, for: fixture.me))
    return try (11...22).map {
      try wait(fixture.tree.lookup("P\($0)", in: search.node, for: fixture.me)).node
    }
  }

  private func refreshes(_ fixture: TreeFixture) -> [Int64] {
    // What the loader has been given before has been done.
    let search = fixture.catalog.state.withLock { $0.searches.first?.id ?? 0 }
    _ = try? wait(
      fixture.tree.extendedAttribute("user.podcastfs.query", of: NodeID(.search, search), for: fixture.me))
    return fixture.catalog.state.withLock { $0.refreshes.map(\.podcast) }
  }

  @Test func whoCountsResultsFindsTheNextFeedsUnderWay() throws {
    let fixture = try TreeFixture()
    let results = try search(fixture)
    let counter = Caller(user: 1000, thread: 10)
    for result in results.prefix(2) { _ = try fixture.list(result, for: counter) }
    #expect(refreshes(fixture) == [1, 2])
    fixture.catalog.state.withLock { $0.slow = Set(4...12) }
    _ = try fixture.list(results[2], for: counter)
    // Four, and no more before one of them has come.
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5, 6, 7])
    _ = try fixture.list(results[0], for: counter)
    #expect(refreshes(fixture).count == 7)
    for body in fixture.catalog.state.withLock({ $0.held }) { body() }
    #expect(try fixture.list(results[3], for: counter) == [])
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  }

  @Test func whoOpensAFewDoesNot() throws {
    let fixture = try TreeFixture()
    let results = try search(fixture)
    // A shell's programs, each with one folder; and one program that goes through the names in one folder.
    for (index, result) in results.prefix(4).enumerated() {
      _ = try fixture.list(result, for: Caller(user: 1000, thread: Int32(20 + index)))
    }
    let reader = Caller(user: 1000, thread: 30)
    for _ in 0..<5 { #expect(failure(fixture.tree.lookup("x", in: results[4], for: reader)) == .ENOENT) }
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5])
  }

  @Test func nothingIsFetchedAheadWhileSomebodyElseWaits() throws {
    let fixture = try TreeFixture()
    let results = try search(fixture)
    let counter = Caller(user: 1000, thread: 10)
    for result in results.prefix(2) { _ = try fixture.list(result, for: counter) }
    fixture.catalog.state.withLock { $0.slow = [12] }
    guard case .pending(let start) = fixture.tree.openDirectory(results[11], for: fixture.me) else {
      Issue.record("a feed that was never fetched must be waited for")
      return
    }
    let isOpen = Monitor(false)
    _ = start { _ in isOpen.withLockNotifying { $0 = true } }
    _ = try fixture.list(results[2], for: counter)
    #expect(refreshes(fixture) == [1, 2, 12, 3])
    for body in fixture.catalog.state.withLock({ $0.held }) { body() }
    #expect(isOpen.wait(until: .after(patience)) { $0 ? true : nil } == true)
  }

  @Test func atMostTwoComeFromOneHostAndNoneFromOneThatFails() throws {
    let fixture = try TreeFixture()
    let results = try search(fixture, host: "one.example")
    let counter = Caller(user: 1000, thread: 10)
    fixture.catalog.state.withLock { $0.slow = Set(4...12) }
    for result in results.prefix(3) { _ = try fixture.list(result, for: counter) }
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5])
    fixture.catalog.state.withLock {
      $0.slow = []
      $0.refreshFailure = CatalogError(.EAGAIN, "asked too often")
    }
    for body in fixture.catalog.state.withLock({ $0.held }) { body() }
    // The failure is told, not asked for again.
    #expect(failure(fixture.tree.openDirectory(results[3], for: counter)) == .EAGAIN)
    fixture.catalog.state.withLock { $0.refreshFailure = nil }
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5])
    _ = try fixture.list(results[5], for: counter)
    #expect(refreshes(fixture) == [1, 2, 3, 4, 5, 6])
  }
}
