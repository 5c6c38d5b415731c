import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Somebody deletes what is in the cache.
@Suite struct DeletedFilesTests {
  /// An episode that is here and open, and whose file is being looked for.
  private func world() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(30_000)
    world.bring(30_000)
    world.end(nil)
    world.say { .open(id: $0, world.requests[0], .downloadAtRead, generation: nil) }
    world.looksAtOnce = false
    world.handle(.vanished([world.requests[0].key]))
    return world
  }

  /// The order comes before the answer to the look.
  @Test func whatIsOrderedAfterItsFileWasDeletedComesAgain() {
    let world = world()
    #expect(world.state(0) == .cached && world.asked == 1)
    let name = world.copy(0)
    world.files = [:]
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.handle(.missing([name]))
    world.wait(1)
    #expect(world.state(0) == .downloading)
    #expect(world.asked == 2)
  }

  /// The file was there after all; when it goes a day later it is gone.
  @Test func anOrderIsForWhatWasLookedForThen() {
    let world = world()
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.handle(.missing([]))
    world.wait(86_400)
    world.files = [:]
    world.handle(.vanished([world.requests[0].key]))
    world.handle(.missing([world.copy(0)]))
    world.wait(1)
    #expect(world.state(0) == .remote)
    #expect(world.asked == 1)
  }

  /// A part of an episode is here and read; somebody looks for its file.
  private func worldOfAPart() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 12_288) }
    world.answer(30_000)
    world.bring(12_288)
    world.looksAtOnce = false
    world.handle(.vanished([world.requests[0].key]))
    return world
  }

  /// Those who read the deleted file are not the only ones who get what is ordered.
  @Test func whatIsOrderedWhileItsPartIsLookedForComesForAll() {
    let world = worldOfAPart()
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.handle(.missing([world.copy(0)]))
    // First for those who read on in the deleted file.
    for _ in 0..<2 {
      world.wait(1)
      world.answer(30_000)
      world.bring(30_000)
      world.end(nil)
    }
    #expect(world.state(0) == .cached)
  }

  /// Who orders it, and thinks better of it at once.
  @Test(arguments: [TransferState.paused, .remote])
  func whatIsNotWantedAnyMoreDoesNotCome(_ state: TransferState) {
    let world = worldOfAPart()
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.say {
      state == .paused
        ? .order(id: $0, .pause(world.requests[0])) : .order(id: $0, .drop(world.requests[0].key))
    }
    world.handle(.missing([world.copy(0)]))
    world.wait(1)
    #expect(world.state(0) == state && world.running.isEmpty)
  }

  /// Its reader goes while its file is looked for, and another one has the only slot.
  @Test func whatHasNoSlotEndsAlsoWhileItsFileIsLookedFor() {
    let world = EngineWorld(2, hosts: 2) { $0.downloads = 1 }
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.say { .order(id: $0, .start(world.requests[1])) }
    world.answer(5_000_000)
    world.bring(100_000)
    #expect(world.running.count == 2)
    world.looksAtOnce = false
    world.handle(.vanished(Set(world.requests.map(\.key))))
    world.say { _ in .close(id: 1) }
    #expect(world.running.count == 1)
  }

  /// Who reads a deleted file to its end has it all; the order is for the cache, and goes on there.
  @Test(arguments: [true, false]) func anOrderGoesOnWhenTheReadersOfWhatWasDeletedHaveItAll(_ isKept: Bool) {
    let world = EngineWorld(1, hosts: 1)
    if isKept { world.say { .order(id: $0, .setKept(world.requests[0], true)) } }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(30_000)
    world.bring(12_288)
    world.say { .wait(id: $0, open: isKept ? 3 : 2, offset: 20_000, count: 10_000) }
    world.looksAtOnce = false
    world.handle(.vanished(nil))
    world.files = [:]
    world.handle(.missing([world.copy(0)]))
    world.bring(30_000 - 12_288)
    world.end(nil)
    world.wait(1)
    #expect(world.state(0) == .downloading)
    let ends = world.sent.map(\.message).filter { message in
      switch message {
      case .available, .unavailable: true
      default: false
      }
    }
    #expect(ends == [.available(wait: isKept ? 4 : 3)])
    world.answer(30_000)
    world.bring(30_000)
    world.end(nil)
    #expect(world.state(0) == .cached)
    #expect(world.files[world.requests[0].key]?.present.ranges == [0..<30_000])
    #expect(world.asked == 2)
  }

  /// Its last bytes have come, and are not on the disk.
  @Test func anOrderWhoseFileGoesBeforeItIsOnTheDiskIsNotDone() {
    let world = EngineWorld(1, hosts: 1)
    world.flushesAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(30_000)
    world.bring(30_000)
    world.end(nil)
    #expect(world.state(0) == .cached)
    world.looksAtOnce = false
    world.handle(.vanished([world.requests[0].key]))
    world.files = [:]
    world.handle(.missing([world.copy(0)]))
    world.wait(1)
    #expect(world.state(0) == .downloading && world.asked == 2)
  }
}
