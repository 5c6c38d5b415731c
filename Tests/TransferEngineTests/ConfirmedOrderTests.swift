import Testing
import TransferEngine
import TransferProtocol

/// What an order has been confirmed to do holds.
@Suite struct ConfirmedOrderTests {
  private func worldWithAnEpisode(_ count: Int = 1) -> EngineWorld {
    let world = EngineWorld(count, hosts: count) { $0.cacheSize = 1_000_000 }
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    return world
  }

  /// The store is full, so that only the missing file tells the next daemon of it: also after a power loss.
  @Test func aDropThatTheStoreHasNoRoomForWaitsUntilTheDiskKnowsIt() {
    let world = worldWithAnEpisode()
    #expect(world.state(0) == .cached)
    world.refusesRows = true
    world.flushesNamesAtOnce = false
    let before = world.sent.count
    world.say { .drop(id: $0, world.requests[0].key) }
    #expect(world.state(0) == .remote)
    #expect(world.sent.count == before)
    world.handle(.removed(world.requests[0].key))
    #expect(world.sent.count == before + 1)
    guard case .done = world.sent.last?.message else {
      Issue.record("\(String(describing: world.sent.last))")
      return
    }
  }

  /// The second is no better off for the first, whose record is on its way to a full disk.
  @Test func ofTwoDropsThatTheStoreCanNotTakeNoneIsConfirmed() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .pause(id: $0, world.requests[0]) }
    let before = world.sent.count
    world.refusesRows = true
    world.savesAtOnce = false
    world.say { .drop(id: $0, world.requests[0].key) }
    world.say { .drop(id: $0, world.requests[0].key) }
    for _ in 0..<4 { world.save() }
    let answers = world.sent.dropFirst(before).map(\.message)
    #expect(answers.count == 2)
    #expect(answers.allSatisfy { if case .refused = $0 { true } else { false } }, "\(answers)")
    #expect(world.state(0) == .paused)
  }

  @Test func whatIsOrderedWhileItIsLetGoOfComesAgain() {
    let world = worldWithAnEpisode(2)
    world.evictsAtOnce = false
    world.say { .open(id: $0, world.requests[1], .download, generation: nil) }
    world.answer(700_000)
    world.bring(100_000)
    world.wait(2)
    world.say { .start(id: $0, world.requests[0]) }
    world.files[world.requests[0].key] = nil
    world.handle(.evicted([GenerationName(key: world.requests[0].key, generation: 1)]))
    #expect(world.state(0) == .downloading)
  }

  /// Who has had rot found reads on at once.
  @Test func whatWasFoundDamagedIsGoneWhenThatIsConfirmed() throws {
    let world = worldWithAnEpisode()
    let key = world.requests[0].key
    world.discardsAtOnce = false
    let before = world.sent.count
    world.say { .damaged(id: $0, key, generation: 1, [100_000..<200_000]) }
    #expect(world.sent.count == before)
    world.discardBytes()
    guard case .done = world.sent.last?.message else {
      Issue.record("\(String(describing: world.sent.last))")
      return
    }
    #expect(world.requested.last?.range?.start == 100_000)
  }
}
