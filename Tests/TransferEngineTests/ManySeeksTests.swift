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

  /// The file has changed: asked for a part, its host gives the whole, and parts for the seeks beside it.
  @Test func aNewFileIsNotReadOnThroughWhatASeekHasBrought() throws {
    let world = EngineWorld(1, hosts: 1)
    let length: Int64 = 49_000_000
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(50_000_000)
    world.bring(3_000_000)
    world.end(Fault(.passing, "reset"))
    world.wait(2)
    world.answer(length, where: { _ in true }) { head in
      (head.status, head.part, head.partTotal, head.length) = (200, nil, nil, length)
      head.entityTag = "\"new\""
    }
    let first = try #require(world.running.keys.first)
    world.handle(.came(first, 1_000_000))
    var open: UInt64 = 0
    world.say {
      open = $0
      return .open(id: $0, world.requests[0], .download, generation: nil)
    }
    world.say { .wait(id: $0, open: open, offset: 30_000_000, count: 4096) }
    let (second, request) = try #require(world.running.first { $0.key != first })
    let range = try #require(request.range)
    world.answer(length, where: { _ in true }) { $0.entityTag = "\"new\"" }
    world.handle(.came(second, range.count))
    world.handle(.ended(second, nil))
    world.handle(.came(first, 40_000_000))
    #expect(world.running[first] == nil)
    #expect(world.running.values.map(\.range?.lowerBound) == [range.upperBound])
  }
}
