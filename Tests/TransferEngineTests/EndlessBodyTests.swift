import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// A body without an end takes neither the disk nor the cache.
@Suite struct EndlessBodyTests {
  private static let mebi: Int64 = 1 << 20

  /// A host that sends for as long as it is let.
  private func received(cache: Int64, told: Int64?) -> (world: EngineWorld, received: Int64) {
    let world = EngineWorld(1, hosts: 1) { $0.cacheSize = cache }
    var request = world.requests[0]
    request.expectedLength = told
    world.say { .order(id: $0, .start(request)) }
    world.answer(nil)
    var last: Int64 = 0
    while !world.running.isEmpty && last < 40 << 30 {
      for _ in 0..<8 { world.bring(1 << 20) }
      world.wait(1)
      last = max(last, world.engine.status(of: request.key)?.received ?? 0)
    }
    return (world, last)
  }

  /// Half of the cache, but 64 MiB at the least and 4 GiB at the most, whatever the feed says.
  @Test(
    arguments: [
      (256 * mebi, nil, 128 * mebi), (100 * mebi, nil, 64 * mebi), (64 << 30, nil, 4 << 30),
      (256 * mebi, 100 * mebi, 128 * mebi), (256 * mebi, .max, 128 * mebi),
    ] as [(Int64, Int64?, Int64)])
  func itIsEnded(cache: Int64, told: Int64?, bound: Int64) {
    let (world, received) = received(cache: cache, told: told)
    #expect(world.running.isEmpty)
    #expect(received > bound - 64 * Self.mebi && received <= bound + 32 * Self.mebi, "\(received)")
    #expect(world.state(0) == .failed)
    #expect(world.engine.status(of: world.requests[0].key)?.error == "h0.test does not stop sending")
    // Nor is it asked for again.
    world.wait(3600)
    #expect(world.asked == 1)
  }
}
