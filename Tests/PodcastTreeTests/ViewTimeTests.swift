import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// When what a view lists last changed, as several mounts say it.
@Suite struct ViewTimeTests {
  /// Another mount may be late to say what it has listed before.
  @Test func aViewTakesOverNoTimeOfWhatItDoesNotList() throws {
    let fixture = try TreeFixture()
    let key = Int64(bitPattern: NodeID.downloading.rawValue)
    func modified() throws -> FileTime { try wait(fixture.tree.attributes(of: .downloading)).modified }
    func change(to state: TransferState) throws -> FileTime {
      var status = TransferStatus(key: TreeFixture.key, state: state)
      status.moment = wallClockNanoseconds()
      fixture.transfers.set(status)
      #expect(try eventually { try modified().sinceEpoch == status.moment })
      return try modified()
    }
    _ = try fixture.list(try fixture.searched())
    let first = try change(to: .paused)
    #expect(try fixture.list(.downloading).count == 1)
    #expect(eventually { fixture.catalog.viewTimes()[key]?.changed == first.sinceEpoch })
    let former = try #require(fixture.catalog.viewTimes()[key])
    let second = try change(to: .remote)
    #expect(eventually { fixture.catalog.viewTimes()[key]?.changed == second.sinceEpoch })
    let settled = try #require(fixture.catalog.viewTimes()[key])
    fixture.catalog.state.withLock { $0.views[key] = former }
    fixture.catalog.announce(.views)
    try fixture.tree.awaitIdle()
    #expect(try modified() == second)
    // Of what it lists the time of who said it first counts.
    var earlier = settled
    earlier.changed -= 1000
    fixture.catalog.state.withLock { [earlier] in $0.views[key] = earlier }
    fixture.catalog.announce(.views)
    try fixture.tree.awaitIdle()
    #expect(try modified().sinceEpoch == earlier.changed)
  }

  /// At once: who begins waits for that, and no longer.
  @Test func whoBeginsIsToldWhatIsNotSettledYet() throws {
    let fixture = try TreeFixture()
    let key = Int64(bitPattern: NodeID.downloading.rawValue)
    _ = try fixture.list(try fixture.searched())
    try fixture.tree.awaitIdle()
    var status = TransferStatus(key: TreeFixture.key, state: .paused)
    for state in [TransferState.paused, .remote, .paused] {
      status.state = state
      status.moment = wallClockNanoseconds()
      fixture.transfers.set(status)
      fixture.catalog.announce(.views)
      try fixture.tree.awaitIdle()
      #expect(fixture.catalog.viewTimes()[key]?.changed == status.moment)
    }
  }

  /// Rows alone say it: a mount that has just begun must not say another time than one that saw how it came about.
  @Test func theNewestEpisodesHaveTheTimeOfTheirRowsInEachMountFromTheStart() throws {
    let fixture = try TreeFixture()
    let result = try fixture.searched()
    _ = try fixture.list(result)
    _ = try fixture.catalog.subscribe(result: result.row, name: nil)
    #expect(try fixture.list(.latest).count == 3)
    func modified(_ fixture: TreeFixture) throws -> Int64 {
      try wait(fixture.tree.attributes(of: .latest)).modified.sinceEpoch
    }
    let first = wallClockNanoseconds()
    for (time, count) in [(first, 3), (first + 1_000_000, 3), (first + 2_000_000, 2)] {
      _ = fixture.kernel.take()
      fixture.catalog.state.withLock { $0.subscriptions[0].changed = time }
      if count == 2 {
        fixture.catalog.hide(episode: TreeFixture.podcast << 20 | 1)
      } else {
        fixture.catalog.announce(.refreshed(podcast: TreeFixture.podcast, newEpisodes: 0))
      }
      try fixture.tree.awaitIdle()
      #expect(fixture.kernel.take().attributes.contains(.latest))
      #expect(try fixture.list(.latest).count == count)
      #expect(try modified(fixture) == time)
      let observer = fixture.catalog.state.withLock { $0.observer }
      #expect(try modified(TreeFixture(after: fixture)) == time)
      fixture.catalog.state.withLock { $0.observer = observer }
    }
  }
}
