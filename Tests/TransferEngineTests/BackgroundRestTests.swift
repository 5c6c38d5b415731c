import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Metered networks, batteries, hours and sleep.
@Suite struct BackgroundRestTests {
  private func error(_ world: EngineWorld, _ index: Int) -> String? {
    world.engine.status(of: world.requests[index].key)?.error
  }

  @Test func backgroundDownloadsRestAndSayWhy() {
    let world = EngineWorld(3, hosts: 3)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    world.answer(100_000)
    world.bring(50_000)
    #expect(world.running.count == 3)
    world.handle(.background(.metered))
    #expect(world.running.isEmpty)
    #expect(world.states() == [.queued: 3])
    #expect(error(world, 0) == "waiting for an unmetered network")
    let asked = world.asked
    world.wait(3600)
    #expect(world.asked == asked)
    world.handle(.background(nil))
    #expect(world.running.count == 3)
    #expect(error(world, 0) == nil)
    // What had come is not asked for again.
    #expect(world.requested.suffix(3).allSatisfy { $0.range?.lowerBound ?? 0 > 0 })
  }

  @Test func anOpenByAPersonGoes() {
    let world = EngineWorld(2, hosts: 2)
    world.handle(.background(.battery(below: nil)))
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    #expect(world.asked == 0)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    #expect(world.running.count == 1)
    world.answer(1_000_000)
    world.bring(50_000)
    // When its reader has closed, it rests as others do.
    world.say { _ in .close(id: 3) }
    #expect(world.running.isEmpty && world.states() == [.queued: 2])
    #expect(error(world, 0) == "waiting for mains power")
  }

  @Test func newOnesRestToo() {
    let world = EngineWorld(1, hosts: 1)
    world.handle(.background(.metered))
    world.handle(.background(.paused))
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.asked == 0 && error(world, 0) == "all background downloads are paused")
    world.handle(.background(nil))
    #expect(world.asked == 1)
  }

  @Test func asMuchRunsAfterwardsAsTheLimitsAllow() {
    let world = EngineWorld(10, hosts: 10)
    world.handle(.background(.metered))
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    world.handle(.background(nil))
    #expect(world.running.count == 3)
    #expect((0..<10).allSatisfy { error(world, $0) == nil })
  }

  @Test func afterSleepWhatWasUnderWayIsAskedForAgainAtOnce() {
    let world = EngineWorld(2, hosts: 2)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.say { .open(id: $0, world.requests[1], .download, generation: nil) }
    world.answer(1_000_000)
    world.bring(300_000)
    let before = world.asked
    world.sleep(60)
    #expect(world.asked == before + 2)
    #expect(world.running.count == 2)
    #expect(
      world.running.values.allSatisfy {
        $0.range?.lowerBound == 300_000 || $0.range?.lowerBound ?? 0 >= 262_144
      })
  }
}
