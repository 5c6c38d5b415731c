import Catalog
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
}
