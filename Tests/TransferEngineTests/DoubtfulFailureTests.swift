import PosixKit
import Testing
import TransferEngine
import TransferProtocol

/// Failures that may be the network's fault, or the clock's: a login page, a certificate that is not valid yet.
@Suite struct DoubtfulFailureTests {
  private let page = Fault(.doubtful, "TLS: certificate of h0.test is not valid", host: "h0.test")

  /// The next request, as soon as one comes, fails so.
  private func fail(_ world: EngineWorld) {
    let asked = world.asked
    while world.running.isEmpty && world.asked == asked { world.wait(60) }
    world.end(page)
  }

  @Test func aQueueThatMeetsALoginPageGoesOnWhenTheNetworkChanges() {
    let world = EngineWorld(20, hosts: 20)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    for _ in 0..<60 {
      world.end(page)
      world.wait(2)
    }
    #expect(world.states() == [.queued: 20] || world.states()[.failed] == nil)
    world.handle(.networkChanged)
    world.wait(2)
    for _ in 0..<20 {
      world.answer(1000)
      world.bring(1000)
      world.end(nil)
    }
    #expect(world.states() == [.cached: 20])
  }

  @Test func oneNetworkAloneFailsNothing() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    let end = world.now + 20 * 3600
    while world.now < end { fail(world) }
    #expect(world.state(0) != .failed)
    // Later and later.
    #expect(world.asked < 300)
  }

  @Test func severalNetworksDo() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    for _ in 0..<3 {
      #expect(world.state(0) != .failed)
      fail(world)
      // A machine joins a network step by step.
      for _ in 0..<4 { world.handle(.networkChanged) }
      world.wait(100)
    }
    #expect(world.state(0) == .failed)
  }

  @Test func severalDaysDoAlsoOfSeveralDaemons() {
    var world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    for day in 0..<3 {
      #expect(world.state(0) != .failed)
      fail(world)
      if day < 2 {
        world.stop()
        world = EngineWorld(1, hosts: 1, now: world.now + 90_000, records: world.records)
      }
    }
    #expect(world.state(0) == .failed)
  }

  /// Readers who have nothing hear of it at once, and for ten seconds.
  @Test func anotherOpenWithinTenSecondsAsksNobody() {
    let world = EngineWorld(1, hosts: 1)
    let open = { world.say { .open(id: $0, world.requests[0], .download, generation: nil) } }
    let failures = {
      world.sent.count {
        if case .answer(_, let failure?, _) = $0.message { failure.errno == .EIO } else { false }
      }
    }
    open()
    world.end(page)
    #expect(failures() == 1)
    open()
    #expect(failures() == 2)
    // By then it is being tried again, or is at once: that is waited for.
    world.wait(11)
    open()
    #expect(!world.running.isEmpty && failures() == 2)
    world.end(page)
    #expect(failures() == 3)
  }

  /// What a client says without sense must not end the daemon, nor the next one.
  @Test func aReadFarBehindAllFilesIsBorne() {
    let world = EngineWorld(1, hosts: 1)
    var id: UInt64 = 0
    world.say {
      id = $0
      return .open(id: $0, world.requests[0], .fetchOnly, generation: nil)
    }
    world.say { .wait(id: $0, open: id, offset: 0, count: 1) }
    world.answer(nil)
    let offsets: [Int64] = [.max, .max - 4096, .max - (1 << 20)]
    for offset in offsets {
      world.say { .wait(id: $0, open: id, offset: offset, count: .max) }
      world.say { .wait(id: $0, open: id, offset: offset, count: 1) }
    }
    world.bring(100_000)
    world.wait(5)
    #expect(world.asked >= 1)
  }
}
