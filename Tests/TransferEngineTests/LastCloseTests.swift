import PodcastModel
import PosixKit
import Testing
import TransferEngine
import TransferProtocol

/// What is dropped at its last close, whichever client has it open.
@Suite struct LastCloseTests {
  private let first = ClientID(7)
  private let second = ClientID(8)

  /// An episode of which the first client has read a part, and which the second one drops.
  private func world() -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    for client in [first, second] { world.handle(.joined(client, answersAddresses: false)) }
    open(world, by: first)
    world.answer(300_000)
    world.bring(100_000)
    world.handle(.said(second, .order(id: 1, .dropAtClose(world.requests[0].key))))
    #expect(world.sent.last?.message == .answer(1))
    return world
  }

  private func open(_ world: EngineWorld, by client: ClientID, generation: UInt32? = nil) {
    world.handle(.said(client, .open(id: 1, world.requests[0], .download, generation: generation)))
  }

  private func status(_ world: EngineWorld) -> TransferStatus? {
    world.engine.status(of: world.requests[0].key)
  }

  private func isDropped(_ world: EngineWorld) -> Bool {
    let row = world.records[world.requests[0].key]
    return world.files.isEmpty && status(world)?.state == .remote && status(world)?.received == 0
      && status(world)?.dropsAtClose == false && row?.dropsAtClose != true
  }

  @Test func aReaderOfAnotherClientGoesOnToTheEndOfTheEpisode() {
    let world = world()
    #expect(status(world)?.stage == .absent && status(world)?.state == .downloading)
    #expect(world.records[world.requests[0].key]?.dropsAtClose == true)
    world.handle(.said(first, .wait(id: 2, open: 1, offset: 200_000, count: 100_000)))
    world.bring(200_000)
    world.end(nil)
    world.wait(1)
    #expect(world.sent.contains { $0.client == first && $0.message == .answer(2) })
    #expect(!world.files.isEmpty)
    world.handle(.said(first, .close(id: 1)))
    #expect(isDropped(world))
  }

  /// Nobody reads it any more, and another download may have its slot by then.
  @Test func itsResponseEndsBeforeTheDropIsStored() {
    let world = world()
    world.savesAtOnce = false
    #expect(world.running.count == 1)
    world.handle(.said(first, .close(id: 1)))
    #expect(world.running.isEmpty && !isDropped(world))
    for _ in 0..<3 { world.save() }
    #expect(isDropped(world))
  }

  @Test func eachDropThatTheDiskRefusesIsRefused() {
    let world = EngineWorld(1, hosts: 1)
    world.handle(.joined(first, answersAddresses: false))
    open(world, by: first)
    world.answer(300_000)
    world.bring(100_000)
    world.handle(.said(first, .close(id: 1)))
    world.removesAtOnce = false
    let (key, refusal) = (world.requests[0].key, TransferFailure(.EROFS, "read-only"))
    for id: UInt64 in [2, 3] {
      let files = world.files
      world.handle(.said(first, .order(id: id, .dropAtClose(key))))
      world.files = files
      world.handle(.removed(key, refusal))
      #expect(world.sent.contains { $0.message == .answer(id, refusal) })
    }
  }

  /// It was ordered anew just before the last close, and the store has not confirmed that yet.
  @Test func whatIsBeingOrderedAnewIsNotDropped() {
    let world = world()
    world.savesAtOnce = false
    world.handle(.said(second, .order(id: 2, .start(world.requests[0]))))
    world.handle(.said(first, .close(id: 1)))
    for _ in 0..<3 { world.save() }
    world.answer(300_000)
    world.bring(300_000)
    world.end(nil)
    for _ in 0..<3 { world.save() }
    #expect(world.removed.isEmpty && status(world)?.state == .cached)
    #expect(world.records[world.requests[0].key]?.state == .cached)
  }

  @Test func whatNobodyHasOpenIsDroppedBeforeTheAnswer() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(300_000)
    world.bring(100_000)
    world.say { .order(id: $0, .dropAtClose(world.requests[0].key)) }
    #expect(isDropped(world) && world.sent.last?.message == .answer(2))
  }

  /// The second one waits for its first bytes when the first one closes.
  @Test func anOpenThatIsNotAnsweredYetCounts() {
    let world = world()
    world.handle(.said(second, .open(id: 1, world.requests[0], .download, generation: nil)))
    world.handle(.said(first, .close(id: 1)))
    #expect(status(world)?.state == .downloading)
    world.handle(.said(second, .close(id: 1)))
    #expect(isDropped(world))
  }

  /// The mount's process has died: the next one opens what was open.
  @Test func aClientThatDiesHasTimeToComeBack() {
    for comesBack in [true, false] {
      let world = world()
      let generation = status(world)?.generation
      world.handle(.left(first))
      world.wait(3)
      #expect(status(world)?.dropsAtClose == true && !world.files.isEmpty)
      if comesBack {
        world.handle(.joined(first, answersAddresses: false))
        open(world, by: first, generation: generation)
        world.wait(30)
        #expect(status(world)?.dropsAtClose == true && !world.files.isEmpty)
        world.handle(.said(first, .close(id: 1)))
      }
      world.wait(30)
      #expect(isDropped(world), "comes back: \(comesBack)")
    }
  }

  @Test(arguments: [true, false]) func theNextDaemonDropsItToo(_ isRead: Bool) {
    let old = world()
    old.stop()
    let world = EngineWorld(1, hosts: 1, now: old.now + 1, records: old.records, files: old.files)
    #expect(status(world)?.dropsAtClose == true)
    if isRead {
      world.handle(.joined(first, answersAddresses: false))
      open(world, by: first, generation: status(world)?.generation)
      world.wait(60)
      #expect(status(world)?.dropsAtClose == true)
      world.handle(.said(first, .close(id: 1)))
    }
    let asked = world.asked
    world.wait(60)
    #expect(asked == (isRead ? 1 : 0) && world.asked == asked)
    #expect(isDropped(world))
  }

  @Test func whoOrdersPausesOrKeepsItHasChangedTheirMind() {
    let request = EngineWorld(1, hosts: 1).requests[0]
    for order in [TransferOrder.start(request), .pause(request), .setKept(request, true)] {
      let world = world()
      world.handle(.said(second, .order(id: 2, order)))
      world.handle(.said(first, .close(id: 1)))
      world.wait(60)
      #expect(status(world)?.dropsAtClose == false && !world.files.isEmpty, "\(order)")
    }
  }

  /// Who finds damaged bytes of it wants others for the readers, not for ever.
  @Test func aDamagedCopyIsReplacedUntilTheLastCloseOnly() {
    let world = world()
    world.bring(200_000)
    world.end(nil)
    world.wait(1)
    #expect(status(world)?.state == .cached)
    let copy = world.copy(0)
    world.handle(.said(second, .order(id: 2, .replace(copy.key, generation: copy.generation))))
    #expect(world.sent.last?.message == .answer(2) && status(world)?.dropsAtClose == true)
    world.handle(.said(first, .close(id: 1)))
    world.wait(60)
    #expect(isDropped(world))
  }

  @Test func aStoreThatRefusesIsAskedAgainAndNotAllTheTime() {
    let world = world()
    world.refusesRows = true
    world.handle(.said(first, .close(id: 1)))
    let commits = world.commits
    world.wait(30)
    #expect(status(world)?.dropsAtClose == true && world.commits < commits + 20)
    world.refusesRows = false
    world.wait(30)
    #expect(isDropped(world))
  }

  @Test func aDiskThatRefusesIsAskedAgain() {
    let world = world()
    world.removesAtOnce = false
    world.handle(.said(first, .close(id: 1)))
    world.handle(.removed(world.requests[0].key, .lasting("read-only")))
    #expect(status(world)?.dropsAtClose == true)
    world.removesAtOnce = true
    world.removeFiles()
    world.wait(30)
    #expect(isDropped(world))
  }
}
