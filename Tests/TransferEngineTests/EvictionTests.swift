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

  /// `min_free=0`, or a quota: only the disk knows that there is no more.
  @Test func whereTheDiskRefusesWhatMayGoGoesFirst() {
    let world = EngineWorld(2, hosts: 2)
    world.letsGo = true
    world.capacity = 1_000_000
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    #expect(world.state(0) == .cached)
    var opening: UInt64 = 0
    world.say {
      opening = $0
      return .open(id: $0, world.requests[1], .download, generation: nil)
    }
    world.answer(600_000)
    world.say { .wait(id: $0, open: opening, offset: 0, count: 600_000) }
    world.bring(400_000)
    world.wait(1)
    #expect(world.state(0) == .remote)
    world.answer(600_000)
    world.bring(600_000)
    world.end(nil)
    #expect(world.state(1) == .cached)
    let answers = world.sent.map(\.message)
    #expect(answers.contains { if case .available = $0 { true } else { false } })
    #expect(!answers.contains { if case .unavailable = $0 { true } else { false } })
    // What is left may not go: the second is open.
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(700_000)
    world.bring(700_000)
    #expect(world.state(0) == .paused)
    #expect(world.engine.status(of: world.requests[0].key)?.error == Engine.noSpaceLeft)
    let asked = world.asked
    world.wait(0.3)
    #expect(world.asked == asked)
  }
}
