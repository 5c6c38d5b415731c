import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What somebody waits for after a seek has the link to itself for a moment.
@Suite struct PrecedenceTests {
  private static let length: Int64 = 50_000_000
  private let world: EngineWorld
  private let first: FlowID

  init() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(Self.length)
    world.bring(1 << 20)
    first = try #require(world.running.keys.first)
    self.world = world
  }

  private func wait(at offset: Int64, _ count: Int64 = 4096) {
    world.say { .wait(id: $0, open: 1, offset: offset, count: count) }
  }

  private var seek: FlowID? { world.running.keys.max() }

  @Test func aRunningResponseMakesRoomForASeek() throws {
    wait(at: 40_000_000)
    #expect(world.held == [first])
    world.answer(Self.length)
    #expect(world.held == [first])
    world.handle(.came(try #require(seek), 65_536))
    #expect(world.held.isEmpty)
  }

  /// A host that does not answer must not stop what comes.
  @Test func itGoesOnAfterASecond() {
    wait(at: 40_000_000)
    world.wait(0.9)
    #expect(world.held == [first])
    world.wait(0.2)
    #expect(world.held.isEmpty)
    wait(at: 30_000_000)
    #expect(world.held.isEmpty)
    world.wait(1.1)
    wait(at: 20_000_000)
    #expect(world.held == [first])
  }

  @Test func whatSomebodyReadsOnIsNotHeldBack() {
    wait(at: 40_000_000)
    wait(at: 1 << 20, 65_536)
    #expect(world.held.isEmpty)
  }

  @Test func itGoesOnWhereTheSeekFails() {
    wait(at: 40_000_000)
    world.end(ResponseFailure("reset"), where: { _ in true })
    #expect(world.held.subtracting(world.running.keys).isEmpty || world.running.isEmpty)
    world.wait(2)
    #expect(world.held.intersection(world.running.keys).isEmpty)
  }

  /// Who reads here and there for long gets half of the time.
  @Test func itGetsAsMuchTimeAsItWasHeldBack() throws {
    for round in 1...3 {
      wait(at: Int64(round) * 9_000_000)
      #expect(world.held.contains(first))
      world.wait(0.4)
      try endSeek()
      wait(at: Int64(round) * 9_000_000 + 4_000_000)
      #expect(!world.held.contains(first))
      try endSeek()
      world.wait(0.5)
    }
  }

  private func endSeek() throws {
    let flow = try #require(seek)
    world.answer(Self.length)
    #expect(!world.held.contains(flow))
    world.handle(.came(flow, 1 << 20))
    world.handle(.ended(flow, nil))
  }

  /// How slow it is, is known long before its rate has been measured.
  @Test(arguments: [false, true])
  func aYoungSlowResponseIsNotWaitedForToComeToASeek(isAskedForFirst: Bool) throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(Self.length)
    if !isAskedForFirst { world.bring(16_384) }
    world.say { .wait(id: $0, open: 1, offset: 800_000, count: 65_536) }
    if isAskedForFirst { world.bring(16_384) }
    #expect(world.asked == 1)
    world.wait(RequestPlanner.playersPatience + 0.01)
    #expect(world.asked == 2)
    #expect(world.requested.last?.range?.start == 798_720)
  }

  /// With as many responses as there may be, what nobody waits for any more makes room for who does.
  @Test func whatNobodyWaitsForAnyMoreMakesRoom() throws {
    for place in 1...3 {
      wait(at: Int64(place) * 10_000_000)
      world.answer(Self.length)
      world.handle(.came(try #require(seek), 8192))
      world.wait(0.5)
    }
    #expect(world.running.count == RequestPlanner.most)
    let asked = world.asked
    wait(at: 45_000_000)
    #expect(world.asked == asked + 1 && world.running.count == RequestPlanner.most)
    #expect(world.running.keys.contains(first))
    #expect(world.requested.last?.range?.start == 44_998_656)
  }

  /// Those that somebody waits for go on, and are followed by who has waited longest.
  @Test func whoeverReadsBeforeItAReaderIsServedInItsTurn() throws {
    for place in 1...3 {
      wait(at: Int64(place) * 9_000_000)
      world.answer(Self.length)
    }
    let asked = world.asked
    wait(at: 45_000_000)
    wait(at: 5_000_000)
    #expect(world.asked == asked)
    let flow = try #require(world.running.keys.filter { $0 != first }.min { $0 < $1 })
    world.handle(.came(flow, 65_536))
    // He may read on.
    world.wait(0.2)
    #expect(world.asked == asked)
    world.wait(0.1)
    #expect(world.requested.last?.range?.start == 44_998_656)
  }
}
