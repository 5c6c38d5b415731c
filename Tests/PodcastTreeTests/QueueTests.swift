import Catalog
import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

@Suite struct QueueTests {
  @Test func `The queue is downloaded ahead in its order`() throws {
    let fixture = try TreeFixture()
    _ = try fixture.list(try fixture.searched())
    try fixture.catalog.appendToQueue([3, 1, 2].map(TreeFixture.episode))
    try fixture.settle()
    let addresses = [3, 1, 2].map { MediaKey(address: WebAddress("http://media.example/\($0).mp3")) }
    #expect(fixture.transfers.state.withLock { $0.started } == addresses)
  }

  /// Programs that watch it have heard of it by the process before.
  @Test func theQueueOfBeforeIsNotToldToWatchers() throws {
    let fixture = try TreeFixture()
    _ = try fixture.list(try fixture.searched())
    try fixture.catalog.appendToQueue([1, 2].map(TreeFixture.episode))
    let next = try TreeFixture(after: fixture)
    try next.tree.awaitIdle()
    #expect(try next.list(.queue).count == 2)
    #expect(next.kernel.take().names.filter { $0.directory == .queue } == [])
  }

  @Test func whatIsDroppedIsNotDownloadedAheadAgainWhileItIsQueued() throws {
    let fixture = try TreeFixture()
    _ = try fixture.list(try fixture.searched())
    let episodes = [1, 2].map(TreeFixture.episode)
    func starts() -> Int { fixture.transfers.state.withLock { $0.started.count } }
    try fixture.catalog.appendToQueue(episodes)
    try fixture.settle()
    try fixture.tree.awaitIdle()
    #expect(starts() == 2)
    _ = fixture.transfers.order(.drop(TreeFixture.key)) { _ in }
    try fixture.catalog.moveInQueue(episodes[0], to: 2)
    try fixture.settle()
    let next = try TreeFixture(after: fixture)
    try next.tree.awaitIdle()
    #expect(starts() == 2)
    try fixture.catalog.removeFromQueue([episodes[0]])
    try fixture.catalog.appendToQueue([episodes[0]])
    try next.settle()
    // Both mounts order it.
    #expect(starts() > 2)
  }
}
