import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Readers wait at more places than an episode may have responses.
@Suite struct ManySeeksTests {
  /// A response was given up amid a block, and another one brings the rest of that block.
  @Test func theRestOfABlockOfWhichAReaderWaitsForAPartGoesOn() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 1) }
    world.answer(50_000_000)
    world.bring(2000)
    world.wait(0.5)
    world.end(Fault(.passing, "reset"))
    world.wait(10)
    let rest = try #require(world.running.first)
    #expect(rest.value.range?.lowerBound == 2000)
    world.answer(50_000_000)
    for place in 1...4 {
      world.say { .wait(id: $0, open: 1, offset: Int64(place) * 10_000_000, count: 4096) }
      world.answer(50_000_000)
    }
    #expect(world.running[rest.key] != nil && world.running.count == 4)
  }
}
