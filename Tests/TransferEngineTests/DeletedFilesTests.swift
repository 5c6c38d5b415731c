import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Somebody deletes what is in the cache.
@Suite struct DeletedFilesTests {
  /// An episode that is here and open, and whose file has been deleted.
  private func world() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(30_000)
    world.bring(30_000)
    world.end(nil)
    world.say { .open(id: $0, world.requests[0], .downloadAtRead, generation: nil) }
    #expect(world.state(0) == .cached && world.asked == 1)
    world.files = [:]
    return world
  }

  @Test func whatIsOrderedAfterItsFileWasDeletedComesAgain() {
    let world = world()
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.state(0) == .downloading && world.asked == 2)
  }

  /// A kill just after the order is confirmed must not leave a row that says that all of it is here.
  @Test func anOrderForAFileThatHasNotBeenLookedAtIsUnfinished() {
    let world = world()
    world.savesAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.save()
    #expect(world.records[world.requests[0].key]?.isUnfinished == true)
  }

  /// A client that cannot open what it was told of says its open again.
  @Test func whoeverOpensWhatWasDeletedHasItComeAgain() {
    let world = world()
    for _ in 0..<2 {
      world.handle(
        .said(ClientID(1), .open(id: 100, world.requests[0], .download, generation: nil)))
    }
    #expect(world.state(0) == .downloading && world.asked == 2)
  }

  /// A part of an episode is here and read, and its file has been deleted.
  private func worldOfAPart() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 12_288) }
    world.answer(30_000)
    world.bring(12_288)
    world.files = [:]
    return world
  }

  /// Those who read the deleted file are not the only ones who get what is ordered.
  @Test func whatIsOrderedOfADeletedPartComesForAll() {
    let world = worldOfAPart()
    world.say { .order(id: $0, .start(world.requests[0])) }
    // First for those who read on in the deleted file.
    for _ in 0..<2 {
      world.wait(1)
      world.answer(30_000)
      world.bring(30_000)
      world.end(nil)
    }
    #expect(world.state(0) == .cached && world.files[world.requests[0].key] != nil)
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
    world.files = [:]
    world.wait(1.5)
    world.bring(30_000 - 12_288)
    world.end(nil)
    world.wait(1)
    #expect(world.state(0) == .downloading)
    let ends = world.sent.map(\.message).filter { message in
      switch message {
      case .answer(3..., _, generation: 0): true
      default: false
      }
    }
    #expect(ends == [.answer(isKept ? 4 : 3)])
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
    world.files = [:]
    world.flushFiles()
    world.wait(1)
    #expect(world.state(0) == .downloading && world.asked == 2)
  }
}
