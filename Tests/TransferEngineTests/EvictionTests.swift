import Testing
import TransferEngine
import TransferProtocol

/// Room in the budget.
@Suite struct EvictionTests {
  /// What was to go is open elsewhere: that is asked later and later, not tried by writing more and more.
  @Test func whatCanNotGoMustHaveGoneBeforeAnythingBeginsInItsPlace() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    for index in 0..<2 {
      world.say { .start(id: $0, world.requests[index]) }
      world.answer(700_000)
      world.bring(700_000 - index * 400_000)
      if index == 0 { world.end(nil) }
    }
    #expect(world.state(0) == .cached)
    // It hears that the first can't go.
    world.wait(2)
    #expect(world.state(1) == .queued)
    let asked = world.asked
    world.wait(3600)
    #expect(world.asked == asked)
    // Until it has been closed.
    world.evictsAtOnce = false
    world.wait(600)
    world.files[world.requests[0].key] = nil
    world.handle(.evicted([world.requests[0].key]))
    world.wait(10)
    #expect(world.asked == asked + 1)
  }
}
