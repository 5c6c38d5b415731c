import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What has come while the disk was slow is not asked for again.
@Suite struct HeldBytesTests {
  /// The host has another file of the same size by now, which begins as the stored one does.
  @Test(arguments: [true, false]) func whatIsHeldBehindADifferenceIsNotWritten(_ isRead: Bool) {
    let world = EngineWorld(1, hosts: 1)
    let key = world.requests[0].key
    if isRead { world.say { .open(id: $0, world.requests[0], .download, generation: nil) } }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(3_000_000)
    world.bring(1_500_000)
    world.end(Fault(.passing, "the connection was cut"))
    world.wait(2)
    let generation = world.generations[key]
    world.sameUpTo = 1_400_000
    world.answer(3_000_000, where: { _ in true }) { head in
      (head.status, head.part, head.partTotal, head.length) = (200, nil, nil, 3_000_000)
      head.entityTag = "\"other\""
    }
    world.bring(3_000_000)
    #expect(world.generations[key] == generation && world.files[key]?.present.ranges == [0..<1_500_000])
    world.wait(2)
    world.answer(3_000_000, where: { _ in true }) { $0.entityTag = "\"other\"" }
    world.bring(3_000_000)
    world.end(nil)
    #expect(world.generations[key] != generation && world.state(0) == .cached)
  }

  /// A download whose first bytes have come before its files are made.
  private func world() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    world.createsAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(5_000_000)
    world.bring(1_000_000)
    return world
  }

  /// Who opens an episode reads its beginning next: it is written before it is asked for, also what comes while who
  /// opened it has yet to read.
  @Test func theBeginningIsWrittenAsItComesForWhoHasOpenedIt() {
    let world = EngineWorld(1, hosts: 1)
    world.createsAtOnce = false
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(5_000_000)
    world.bring(16_384)
    world.createFiles()
    let key = world.requests[0].key
    #expect(world.files[key]?.present == ByteRanges([0..<16_384]))
    world.bring(49_152)
    #expect(world.files[key]?.present == ByteRanges([0..<65_536]))
    // What comes later is of no use to anybody before it is asked for, and goes in large pieces.
    world.bring(100_000)
    world.bring(50_000)
    #expect(world.files[key]?.present == ByteRanges([0..<163_840]))
  }

  /// Else the same would come again every other second.
  @Test func aDiskThatDoesNotKeepWhatHasComeIsTriedLessAndLess() {
    let world = EngineWorld(1, hosts: 1)
    world.flushesAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    var flushes = 0
    for _ in 0..<600 {
      world.answer(20_000)
      world.bring(20_000)
      world.end(nil)
      if world.flushes > flushes, let (store, key) = world.open.first {
        flushes = world.flushes
        world.files[key]?.present = ByteRanges()
        world.handle(.disk(store, .notFlushed(Fault(.lasting, "I/O error"), present: ByteRanges())))
      }
      world.wait(1)
    }
    #expect(flushes > 3 && world.asked < 20)
  }

  /// They share one link.
  @Test func whatNobodyWaitsForGivesWayToASeek() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(60_000_000)
    world.bring(100_000)
    let first = world.running.keys.sorted()
    world.say { .wait(id: $0, open: 1, offset: 54_001_664, count: 65_536) }
    #expect(world.asked == 2 && world.held == Set(first))
    world.answer(60_000_000)
    world.bring(100_000) { _ in true }
    #expect(world.held.isEmpty)
    // The one goes on to the end, the other to where that began.
    world.bring(6_000_000)
    world.bring(60_000_000)
    #expect(world.state(0) == .cached && world.asked == 2)
  }

  /// Wanted again before the files are made: it waits for those.
  @Test func whatIsWantedAgainBeforeItsFilesWereMadeIsAskedForWhenTheyAre() {
    let world = world()
    world.say { .order(id: $0, .pause(world.requests[0])) }
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.asked == 1)
    world.createFiles()
    world.wait(0.3)
    #expect(world.asked == 2)
  }

  @Test func whatIsDroppedBeforeItsFilesWereMadeIsGone() {
    let world = world()
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    world.createFiles()
    #expect(world.running.isEmpty && world.state(0) == .remote)
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.requested.last?.range == nil)
  }

  /// What came while the disk was busy with what came before.
  @Test func nothingIsHeldForLongBehindABusyDisk() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(50_000_000)
    world.writesAtOnce = false
    world.bring(1 << 20)
    world.bring(10_000)
    world.writePieces()
    world.wait(1.1)
    world.writePieces()
    #expect(world.files[world.requests[0].key]?.present.count == 1_058_576)
  }

  /// A head is no byte: who gives up meanwhile is to know why.
  @Test func whyNothingCameIsToldUntilSomethingComes() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(5_000_000)
    world.bring(300_000)
    world.say { .wait(id: $0, open: 1, offset: 2_000_000, count: 4096) }
    world.end(Fault(.passing, "nothing came"))
    let key = world.requests[0].key
    let why = world.engine.status(of: key)?.error
    #expect(why?.contains("nothing came") == true)
    world.wait(1)
    world.answer(5_000_000)
    #expect(!world.running.isEmpty)
    #expect(world.engine.status(of: key)?.error == why)
    world.bring(65_536)
    #expect(world.engine.status(of: key)?.error == nil)
  }
}
