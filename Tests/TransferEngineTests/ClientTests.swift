import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Who is told what.
@Suite struct ClientTests {
  /// A client's name is a number of its own, so that what the last one asked for is no answer to the next.
  @Test func whatOneHasAskedForIsNotToldToWhoComesNext() {
    let world = EngineWorld(3, hosts: 1)
    world.savesAtOnce = false
    let (first, second) = (ClientID(7), ClientID(8))
    world.handle(.joined(first, answersAddresses: false))
    world.handle(.said(first, .order(id: 5, .start(world.requests[0]))))
    world.handle(.said(first, .open(id: 6, world.requests[1], .download, generation: nil)))
    world.handle(.said(first, .wait(id: 9, open: 6, offset: 0, count: 4096)))
    world.handle(.left(first))
    // With the same numbers of its own.
    world.handle(.joined(second, answersAddresses: false))
    world.handle(.said(second, .open(id: 6, world.requests[2], .cachedOnly, generation: nil)))
    let before = world.sent.count
    world.save()
    world.answer(100_000)
    world.bring(100_000)
    world.end(nil)
    world.wait(2)
    world.save()
    let later = world.sent.dropFirst(before)
    #expect(later.allSatisfy { $0.client != first && $0.client != second }, "\(later)")
    // Nor is it opened for anybody any more.
    world.handle(.said(second, .wait(id: 1, open: 9, offset: 0, count: 1)))
    #expect(world.sent.last?.client == second)
    #expect(world.sent.last?.message == .answer(1, .notOpen))
  }

  /// A sweep's download leaves the queue, by the word of its mount, which does not know of the others.
  @Test func whatAnotherClientHasAskedForLeavesTheQueueForNobody() {
    let (first, second) = (ClientID(7), ClientID(8))
    for isOrdered in [false, true] {
      let world = EngineWorld(2, hosts: 1)
      for client in [first, second] {
        world.handle(.joined(client, answersAddresses: false))
      }
      for index in 0..<2 {
        let id = UInt64(index) + 1
        world.handle(.said(first, .open(id: id, world.requests[index], .download, generation: nil)))
      }
      if isOrdered {
        world.handle(.said(second, .order(id: 9, .start(world.requests[0]))))
      } else {
        world.handle(.said(second, .open(id: 9, world.requests[0], .download, generation: nil)))
        world.handle(.said(second, .close(id: 9)))
      }
      for index in 0..<2 {
        world.handle(.said(first, .close(id: UInt64(index) + 1)))
        world.handle(.said(first, .order(id: UInt64(index) + 11, .leave(world.requests[index].key))))
      }
      #expect(world.state(0) == .downloading || world.state(0) == .queued, "ordered: \(isOrdered)")
      #expect(world.state(1) == .remote)
      #expect(world.sent.suffix(1).map(\.message) == [.answer(12)])
      // It is nobody's any more when it was dropped.
      world.handle(.said(second, .order(id: 13, .drop(world.requests[0].key))))
      world.handle(.said(first, .open(id: 3, world.requests[0], .download, generation: nil)))
      world.handle(.said(first, .close(id: 3)))
      world.handle(.said(first, .order(id: 14, .leave(world.requests[0].key))))
      #expect(world.state(0) == .remote)
    }
  }

  /// Who pauses has ordered something: it goes on when somebody opens it.
  @Test func whatWasPausedAndIsResumedByAnOpenStays() {
    let world = EngineWorld(1, hosts: 1)
    let (first, second) = (ClientID(7), ClientID(8))
    for client in [first, second] { world.handle(.joined(client, answersAddresses: false)) }
    world.handle(.said(second, .order(id: 1, .pause(world.requests[0]))))
    world.handle(.said(first, .open(id: 2, world.requests[0], .download, generation: nil)))
    world.handle(.said(first, .close(id: 2)))
    world.handle(.said(first, .order(id: 3, .leave(world.requests[0].key))))
    #expect(world.state(0) == .downloading)
  }
}
