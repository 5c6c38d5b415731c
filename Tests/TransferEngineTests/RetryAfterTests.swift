import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// A server that has said for how long it wants to be left alone is, whatever else it said.
@Suite struct RetryAfterTests {
  /// An episode that was opened, and answered so with `Retry-After: 25`.
  private func refused(_ status: Int) -> EngineWorld {
    let world = EngineWorld(1, hosts: 1)
    open(world)
    Self.refuse(status, world)
    return world
  }

  private static func refuse(_ status: Int, _ world: EngineWorld) {
    let change = { (head: inout ResponseHead) in
      head.status = status
      head.retryAfter = 25
    }
    world.answer(nil, where: { _ in true }, change)
  }

  private func open(_ world: EngineWorld) {
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
  }

  @Test(arguments: [400, 403, 404, 410, 451])
  func whatHasFailedForGoodIsNotAskedForBefore(_ status: Int) {
    let world = refused(status)
    #expect(world.state(0) == .failed)
    for _ in 0..<24 {
      world.wait(1)
      open(world)
    }
    #expect(world.asked == 1 && world.state(0) == .failed)
    world.wait(2)
    open(world)
    #expect(world.asked == 2)
  }

  /// As where it may heal.
  @Test(arguments: [404, 503]) func anOrderIsTakenAndWaits(_ status: Int) {
    let world = refused(status)
    world.wait(1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.state(0) == .queued)
    world.wait(23)
    #expect(world.asked == 1)
    world.wait(2)
    #expect(world.asked == 2)
  }

  /// It would wait in vain.
  @Test(arguments: [25, 300]) func aReaderWaitsOnlyWhereThatIsShorterThanItsTime(_ seconds: Int64) {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .downloadAtRead, generation: nil) }
    for _ in 0..<2 {
      world.say { .wait(id: $0, open: 1, offset: 0, count: 1) }
      world.answer(nil, where: { _ in true }, { ($0.status, $0.retryAfter) = (503, seconds) })
    }
    let failures = world.sent.compactMap {
      if case .answer(_, let failure?, _) = $0.message { failure } else { nil }
    }
    let expected = TransferFailure.lasting("HTTP 503 (server error) from h0.test")
    #expect(failures == (seconds == 25 ? [] : [expected, expected]))
    #expect(world.asked == 1 && world.state(0) == .queued)
  }

  @Test func itOutlivesTheDaemon() throws {
    let before = refused(404)
    let world = EngineWorld(1, hosts: 1, now: before.now + 15, records: before.records)
    open(world)
    #expect(world.asked == 0 && world.state(0) == .failed)
    world.wait(11)
    open(world)
    #expect(world.asked == 1)
  }

  /// The episode comes again at the same address.
  @Test func itOutlivesThatTheEpisodeIsForgotten() {
    let world = refused(503)
    let asked = world.asked
    world.say { .order(id: $0, .forget(world.requests[0].key)) }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.wait(23)
    #expect(world.asked == asked)
    world.wait(5)
    #expect(world.asked == asked + 1)
  }

  /// It was said of the address that has expired.
  @Test func aFreshAddressIsAskedAtOnce() {
    let world = EngineWorld(1, hosts: 1)
    let knowing = ClientID(2)
    world.handle(.joined(knowing, answersAddresses: true))
    open(world)
    Self.refuse(403, world)
    world.handle(.said(knowing, .freshAddress(world.requests[0].key, "http://h0.test/fresh.mp3")))
    #expect(world.requested.last?.url == "http://h0.test/fresh.mp3")
  }

  /// It was said of the address that the feed had before.
  @Test(arguments: [404, 503]) func anotherAddressInTheFeedIsAskedAtOnce(_ status: Int) {
    let world = refused(status)
    var moved = world.requests[0]
    moved.url = "http://h1.test/moved.mp3"
    world.wait(12)
    world.say { .open(id: $0, moved, .download, generation: nil) }
    #expect(world.requested.last?.url == moved.url)
  }
}
