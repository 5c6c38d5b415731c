import Testing
import TransferEngine
import TransferProtocol

/// What is worth a commit of the store: each is a flush of the disk.
@Suite struct CommitTests {
  /// Of a hundred MiB, in pieces, over a hundred seconds: the store is told when it begins and when it is whole.
  @Test func aMereCountOfBytesMakesNoCommit() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(100 << 20)
    let begun = world.commits
    for _ in 0..<99 {
      world.bring(1 << 20)
      world.wait(1)
    }
    #expect(world.engine.status(of: world.requests[0].key)?.received == 99 << 20)
    #expect(world.commits == begun)
    world.bring(1 << 20)
    #expect(world.state(0) == .cached)
    #expect(world.commits > begun)
    #expect(world.records[world.requests[0].key]?.received == 100 << 20)
  }
}
