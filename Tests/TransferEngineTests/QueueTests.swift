import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What waits for a slot.
@Suite struct QueueTests {
  @Test func aSlotThatTheUserHasFreedIsTaken() {
    let world = EngineWorld(10, hosts: 10)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    #expect(world.asked == 3)
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    #expect(world.asked == 4)
    #expect(world.engine.status(of: world.requests[3].key)?.state == .downloading)
  }

  /// It is stopped and wanted again before its files are made: it keeps its slot, and frees it twice in a moment.
  @Test func whatIsPausedStartedDroppedAndStartedAtOnceBegins() {
    let world = EngineWorld(1, hosts: 1)
    let request = world.requests[0]
    world.createsAtOnce = false
    world.say { .order(id: $0, .start(request)) }
    world.answer(10_000_000)
    world.bring(20_000)
    world.say { .order(id: $0, .pause(request)) }
    world.say { .order(id: $0, .start(request)) }
    world.wait(0.05)
    world.say { .order(id: $0, .drop(request.key)) }
    world.say { .order(id: $0, .start(request)) }
    world.createsAtOnce = true
    world.wait(1)
    #expect(world.state(0) == .downloading)
  }

  @Test func theQueueGoesByOrderOverAllHosts() {
    let world = EngineWorld(9, hosts: 3)
    for request in world.requests.reversed() { world.say { .order(id: $0, .start(request)) } }
    let running = world.requests.indices.filter {
      world.engine.status(of: world.requests[$0].key)?.state == .downloading
    }
    #expect(running == [6, 7, 8])
  }

  /// The paused one was ordered before the daemon began, the others after that.
  @Test func whatIsOrderedNowComesBehindWhatAnEarlierDaemonWasTold() {
    let paused = EngineWorld(3, hosts: 3).requests[2]
    var record = TransferStatus(paused)
    (record.state, record.order) = (.paused, 900_000)
    let world = EngineWorld(3, hosts: 3, records: [paused.key: record]) { $0.downloads = 1 }
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    #expect(world.state(0) == .downloading)
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    #expect(world.state(2) == .downloading && world.state(1) == .queued)
  }

  @Test func aHostHasTwoSlotsAtTheMost() {
    let world = EngineWorld(8, hosts: 2)
    for request in world.requests.filter({ $0.url.contains("h0") }) {
      world.say { .order(id: $0, .start(request)) }
    }
    #expect(world.asked == 2)
    for request in world.requests.filter({ $0.url.contains("h1") }) {
      world.say { .order(id: $0, .start(request)) }
    }
    #expect(world.asked == 3)
  }

  /// Who hears of it at once, and who hears later, show the same time for the view that it is in.
  @Test func theMomentIsThatAtWhichADownloadCameToBeUnderWay() throws {
    let world = EngineWorld(4, hosts: 4)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    let key = world.requests[3].key
    let queued = try #require(world.engine.status(of: key))
    #expect(queued.state == .queued)
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    world.wait(0.25)
    let begun = try #require(world.engine.status(of: key))
    #expect(begun.state == .downloading)
    #expect(begun.changed == queued.changed)
    world.say { .order(id: $0, .drop(key)) }
    #expect(try #require(world.engine.status(of: key)).changed > queued.changed)
  }
}
