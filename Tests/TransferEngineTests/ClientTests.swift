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
    world.handle(.joined(first, observes: false, answersAddresses: false))
    world.handle(.said(first, .start(id: 5, world.requests[0])))
    world.handle(.said(first, .open(id: 6, world.requests[1], .download, generation: nil)))
    world.handle(.said(first, .wait(id: 9, open: 6, offset: 0, count: 4096)))
    world.handle(.left(first))
    // With the same numbers of its own.
    world.handle(.joined(second, observes: false, answersAddresses: false))
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
    #expect(world.sent.last?.message == .unavailable(wait: 1, .notOpen))
  }
}
