import PodcastModel
import PodcastTree
import PosixKit
import TestSupport
import Testing
import TransferProtocol

/// A program that opens many episodes and reads little of each.
@Suite struct SweepTests {
  private let fixture: TreeFixture
  private let nodes: [NodeID]

  init() throws {
    let fixture = try TreeFixture()
    fixture.publish(count: 12)
    let podcast = try fixture.searched()
    self.fixture = fixture
    nodes = try fixture.list(podcast).map {
      try wait(fixture.tree.lookup($0, in: podcast, for: fixture.me)).node
    }
    give(FakeEpisode(generation: 1, size: 1_000_000))
  }

  private func give(_ episode: FakeEpisode) {
    fixture.transfers.state.withLock { $0.outcome = .success(episode) }
  }

  private func open(_ node: NodeID) throws -> any OpenFile {
    try wait(fixture.tree.open(node, writes: false, for: fixture.me))
  }

  /// Opens each episode once, and reads nothing.
  private func sweep(_ nodes: some Sequence<NodeID>) throws {
    for node in nodes { try open(node).close() }
  }

  private var left: Int { fixture.transfers.state.withLock { $0.left.count } }
  private var lastIntent: OpenIntent? { fixture.transfers.state.withLock { $0.opened.last?.intent } }

  @Test func whoOpensOneEpisodeAgainAndAgainIsNoSweep() throws {
    for _ in 0..<20 { try open(nodes[0]).close() }
    #expect(left == 0 && lastIntent == .download)
  }

  @Test func theFirstEightStayHoweverOftenTheyAreOpened() throws {
    try sweep(nodes)
    #expect(left == 4)
    for _ in 0..<3 { try sweep(nodes.prefix(8)) }
    #expect(left == 4 && lastIntent == .download)
    try open(nodes[9]).close()
    #expect(left == 4 && lastIntent == .fetchOnly)
  }

  /// By another mount, or a command: this tree has only heard of it.
  @Test func whatWasPausedElsewhereIsResumedAndStays() throws {
    try sweep(nodes.prefix(9))
    #expect(left == 1)
    try open(nodes[8]).close()
    #expect(lastIntent == .fetchOnly)
    fixture.transfers.set(
      TransferStatus(
        key: MediaKey(address: "http://media.example/9.mp3"), state: .paused, generation: 1, total: 1_000_000)
    )
    try open(nodes[8]).close()
    #expect(lastIntent == .download)
    #expect(left == 1)
  }

  /// As where the store was lost, which had it.
  @Test func anOpenOfWhatWasLetGoWaitsForASizeThatIsNotKnown() throws {
    try sweep(nodes.prefix(9))
    give(FakeEpisode(generation: 1, size: nil, told: 900_000))
    let file = try open(nodes[8])
    #expect(lastIntent == .fetchOnly)
    #expect(file.size == 900_000)
    file.close()
  }
}
