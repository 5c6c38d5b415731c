import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// A slot is for who makes progress.
@Suite struct SlotTests {
  /// Hosts whose number is below `slow` send a byte a second, the others all at once.
  private func run(_ world: EngineWorld, slow: Int, seconds: Int) {
    let isSlow: (String) -> Bool = { url in
      (0..<slow).contains { url.hasPrefix("http://h\($0).test/") }
    }
    for _ in 0..<seconds {
      world.answer(10_000_000, where: isSlow)
      world.answer(100_000) { !isSlow($0) }
      world.bring(1, where: isSlow)
      world.bring(100_000) { !isSlow($0) }
      world.end(nil) { !isSlow($0) }
      world.wait(1)
    }
  }

  @Test func hostsThatSendAlmostNothingKeepNobodyFromComing() {
    let world = EngineWorld(4, hosts: 4)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    run(world, slow: 3, seconds: 60)
    #expect(world.state(3) == .cached)
    // They are tried again, and nothing is said to have failed.
    #expect(world.asked > 4)
    run(world, slow: 3, seconds: 600)
    #expect((0..<3).allSatisfy { [.queued, .downloading].contains(world.state($0)) })
  }

  /// The host that hangs may send only for moments: the other one uses the rate up.
  @Test(arguments: [5_000, 20_000, 50_000, 200_000])
  func aHostThatHangsGivesItsSlotUpUnderALimit(_ rate: Int64) {
    let world = EngineWorld(3, hosts: 3) { ($0.limitRate, $0.downloads) = (rate, 2) }
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    world.answer(100 << 20)
    world.bring(8192)
    let hanging = world.running.keys.min()
    func run(_ seconds: Double) {
      let end = world.now + seconds
      while world.now < end {
        for flow in world.running.keys.sorted() where flow != hanging && !world.held.contains(flow) {
          world.handle(.came(flow, 16_384))
        }
        world.wait(0.03)
      }
    }
    run(10)
    #expect(world.states() == [.downloading: 2, .queued: 1])
    run(rate < 20_000 ? 300 : 60)
    #expect(world.state(0) == .queued && world.state(1) == .downloading && world.state(2) == .downloading)
  }

  @Test func soManyOfThemThatOneIsAlwaysDueKeepNobodyFromComing() {
    let world = EngineWorld(202, hosts: 101)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    // The last two hosts', behind all others.
    run(world, slow: 100, seconds: 3600)
    #expect(world.state(100) == .cached && world.state(201) == .cached)
  }

  @Test func whereNobodyElseWaitsSlowHostsGoOn() {
    let world = EngineWorld(3, hosts: 3)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    run(world, slow: 3, seconds: 600)
    #expect(world.asked == 3)
    #expect(world.states() == [.downloading: 3])
  }

  /// Each new answer would begin at the start.
  @Test func aReaderOfASlowHostWithoutRangesGetsTheWholeFile() {
    let world = EngineWorld(1, hosts: 1)
    func answerWhole() {
      world.answer(6000, where: { _ in true }) {
        $0.status = 200
        $0.part = nil
        $0.partTotal = nil
        $0.length = 6000
        $0.entityTag = nil
        $0.acceptsRanges = false
      }
    }
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    answerWhole()
    world.say { .wait(id: $0, open: 1, offset: 0, count: 6000) }
    for _ in 0..<90 {
      answerWhole()
      world.bring(100)
      world.wait(1)
    }
    world.end(nil)
    world.wait(1)
    #expect(world.asked == 1)
    #expect(world.state(0) == .cached)
  }

  /// A sweep's episode is opened again before its download has left the queue.
  @Test func aReaderGetsItsBytesFromAHostWhoseSlotsAreTaken() {
    let world = EngineWorld(3, hosts: 1)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    let isThird: (String) -> Bool = { $0.hasSuffix("/2.mp3") }
    world.answer(10_000_000) { !isThird($0) }
    world.bring(100_000)
    world.say { .open(id: $0, world.requests[2], .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 4, offset: 0, count: 1) }
    #expect(world.asked == 3)
    world.answer(10_000_000, where: isThird)
    world.bring(2000, where: isThird)
    world.bring(2096, where: isThird)
    world.wait(1)
    #expect(world.sent.contains { if case .answer(5, nil, _) = $0.message { true } else { false } })
    // It keeps to the slots again.
    #expect(world.asked == 3 && world.running.count == 2 && world.state(2) == .queued)
  }
}
