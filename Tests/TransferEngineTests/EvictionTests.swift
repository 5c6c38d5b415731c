import PosixKit
import Testing
import TransferEngine
import TransferProtocol

/// Room in the budget.
@Suite struct EvictionTests {
  /// What was to go is open elsewhere: that is asked later and later, not tried by writing more and more.
  @Test func whatCanNotGoMustHaveGoneBeforeAnythingBeginsInItsPlace() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    for index in 0..<2 {
      world.say { .order(id: $0, .start(world.requests[index])) }
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
    world.handle(.evicted([world.copy(0)]))
    world.wait(10)
    #expect(world.asked == asked + 1)
  }

  /// A slow disk takes its time to let go of an episode: what runs is not asked for again because of that.
  @Test func whatRunsGoesOnWhileRoomIsMadeForIt() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    for index in 0..<2 {
      world.say { .order(id: $0, .start(world.requests[index])) }
      if index == 1 { world.evictsAtOnce = false }
      world.answer(700_000)
      world.bring(700_000 - index * 600_000)
      if index == 0 { world.end(nil) }
    }
    world.wait(2)
    #expect(world.evictions == 1)
    world.handle(.networkChanged)
    #expect(world.state(1) == .downloading)
    world.files[world.requests[0].key] = nil
    world.handle(.evicted([world.copy(0)]))
    world.bring(600_000)
    world.end(nil)
    #expect(world.state(1) == .cached && world.asked == 2)
  }

  /// The dump of the offline directory, for one.
  @Test func aFileThatIsNoEpisodeTakesNoRoomOfTheCache() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    world.letsGo = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    var file = world.requests[1]
    file.isEpisode = false
    world.say { .order(id: $0, .start(file)) }
    world.answer(5_000_000)
    world.bring(5_000_000)
    world.end(nil)
    world.wait(60)
    #expect(world.state(0) == .cached && world.state(1) == .cached && world.evictions == 0)
  }

  @Test func eachThatWaitsForAFullCacheSaysSo() {
    let world = EngineWorld(9, hosts: 9) { $0.cacheSize = 1_000_000 }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(900_000)
    world.bring(900_000)
    world.end(nil)
    world.say { .order(id: $0, .setKept(world.requests[0], true)) }
    for request in world.requests.dropFirst() { world.say { .order(id: $0, .start(request)) } }
    world.answer(900_000)
    world.wait(5)
    let errors = world.requests.dropFirst().map { world.engine.status(of: $0.key)?.error }
    #expect(Set(errors) == ["cache is full"])
    #expect(Set(world.told.suffix(8)).count > 4)
    world.say { _ in .settings(TransferSettings()) }
    world.wait(5)
    #expect(world.engine.status(of: world.requests[8].key)?.error == nil && world.state(1) == .downloading)
  }

  @Test func whatIsInTheQueueOfTheUserIsNotEvicted() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    world.letsGo = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    #expect(world.state(0) == .cached)
    var settings = TransferSettings()
    settings.cacheSize = 1_000_000
    settings.queued = [world.requests[0].key]
    world.say { _ in .settings(settings) }
    // One that says nothing of the queue leaves it as it is.
    settings.queued = nil
    world.say { _ in .settings(settings) }
    world.say { .order(id: $0, .start(world.requests[1])) }
    world.answer(700_000)
    world.wait(60)
    #expect(world.state(0) == .cached && world.state(1) == .queued)
    settings.queued = []
    world.say { _ in .settings(settings) }
    world.wait(60)
    #expect(world.state(0) == .remote)
  }

  /// The store may have committed an order to keep it that is not confirmed yet.
  @Test func whatIsBeingKeptIsNotEvicted() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    world.letsGo = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    world.say { .open(id: $0, world.requests[1], .download, generation: nil) }
    world.answer(700_000)
    world.savesAtOnce = false
    world.say { .order(id: $0, .setKept(world.requests[0], true)) }
    world.bring(100_000)
    world.wait(2)
    #expect(world.evictions == 0)
    world.save()
    #expect(world.state(0) == .cached && world.records[world.requests[0].key]?.isKept == true)
  }

  /// The host had another file while the one before it was let go of.
  @Test func aGenerationThatBeganMeanwhileStays() {
    let world = EngineWorld(2, hosts: 2) { $0.cacheSize = 1_000_000 }
    world.evictsAtOnce = false
    let key = world.requests[0].key
    world.say { .open(id: $0, world.requests[0], .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 1000) }
    world.answer(900_000)
    world.bring(300_000)
    world.say { _ in .close(id: 1) }
    world.wait(1)
    let before = world.copy(0)
    #expect(world.state(0) == .remote && before.generation > 0)
    world.say { .order(id: $0, .start(world.requests[1])) }
    world.answer(900_000)
    world.bring(500_000)
    world.wait(2)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(800_000, where: { $0.contains("h0") }) { head in
      (head.status, head.part, head.partTotal) = (200, nil, nil)
      head.length = 800_000
      head.entityTag = "\"other\""
    }
    let after = world.copy(0)
    #expect(after != before)
    world.bring(200_000, where: { $0.contains("h0") })
    world.handle(.evicted([before]))
    #expect(world.copy(0) == after)
    #expect(world.engine.status(of: key)?.received ?? 0 >= 131_072)
  }

  /// A live map that can't grow is no reason to let go of episodes.
  @Test func aFullRuntimeFolderLetsGoOfNothing() {
    let world = EngineWorld(2, hosts: 2)
    world.letsGo = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    world.runtimeCapacity = 300_000
    world.say { .order(id: $0, .start(world.requests[1])) }
    world.answer(nil)
    world.bring(600_000)
    world.wait(5)
    #expect(world.state(0) == .cached)
    let error = world.engine.status(of: world.requests[1].key)?.error
    #expect(error == "no space left in the runtime folder")
  }

  @Test func whereTheDiskIsFullWhatMayGoGoesFirstAlsoWithoutMinFree() {
    let world = EngineWorld(2, hosts: 2)
    world.letsGo = true
    world.capacity = 1_000_000
    world.say { .order(id: $0, .start(world.requests[0])) }
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
    #expect(answers.contains { if case .answer(_, nil, _) = $0 { true } else { false } })
    #expect(!answers.contains { if case .answer(_, .some, _) = $0 { true } else { false } })
    // What is left may not go: the second is open.
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    #expect(world.state(0) == .queued)
    #expect(world.engine.status(of: world.requests[0].key)?.error == "cache is full")
    let asked = world.asked
    world.wait(0.3)
    #expect(world.asked == asked)
  }

  /// They end within the second after which the engine looks at its room.
  @Test func shortDownloadsMakeRoomToo() {
    let world = EngineWorld(9, hosts: 9) { $0.cacheSize = 1_000_000 }
    world.letsGo = true
    for request in world.requests {
      world.say { .order(id: $0, .start(request)) }
      world.answer(400_000)
      world.bring(400_000)
      world.end(nil)
      world.wait(2)
      #expect(world.states()[.cached, default: 0] <= 2)
    }
    #expect(world.evictions > 1)
  }

  @Test func aSmallerCacheLetsGoAtOnce() {
    let world = EngineWorld(4, hosts: 4) { $0.cacheSize = 4_000_000 }
    world.letsGo = true
    for request in world.requests {
      world.say { .order(id: $0, .start(request)) }
      world.answer(900_000)
      world.bring(900_000)
      world.end(nil)
      world.wait(2)
    }
    #expect(world.states() == [.cached: 4])
    var settings = TransferSettings()
    settings.minimumFree = 0
    settings.cacheSize = 2_000_000
    world.say { _ in .settings(settings) }
    world.wait(1)
    #expect(world.states()[.cached, default: 0] <= 2)
  }

  /// Somebody else has filled the disk with more than the cache has.
  @Test func nothingGoesWhereThatMakesTooLittleRoom() {
    let world = EngineWorld(2, hosts: 2) { $0.minimumFree = 1 << 30 }
    world.letsGo = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    world.wait(60)
    world.room = 1 << 20
    world.say { .open(id: $0, world.requests[1], .downloadAtRead, generation: nil) }
    world.say { .wait(id: $0, open: 2, offset: 0, count: 600_000) }
    world.answer(600_000)
    world.bring(600_000)
    #expect(world.sent.last?.message == .answer(3, TransferFailure(.ENOSPC, TransferCore.noSpaceLeft)))
    world.wait(60)
    #expect(world.evictions == 0 && world.state(0) == .cached)
  }

  /// An episode waits for room on the disk, and what may go for it was open elsewhere.
  @Test func nothingGoesByAnOldLookAtTheDisk() {
    let world = EngineWorld(2, hosts: 2) { $0.minimumFree = 1 << 20 }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    world.wait(70)
    world.room = 1 << 20
    world.say { .order(id: $0, .start(world.requests[1])) }
    world.answer(200_000)
    world.bring(200_000)
    for _ in 0..<200 where world.evictions < 2 { world.wait(0.1) }
    #expect(world.evictions == 2 && world.state(0) == .cached && world.state(1) == .queued)
    world.wait(9.5)
    // Now there is room, and what was open may go.
    (world.room, world.letsGo) = (1 << 40, true)
    world.wait(5)
    #expect(world.evictions == 2 && world.state(0) == .cached && world.state(1) == .downloading)
  }
}
