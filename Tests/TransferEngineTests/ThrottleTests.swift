import PosixKit
import Testing
import TransferProtocol

@testable import TransferEngine

/// The account that holds the background to `limit_rate`.
@Suite struct ThrottleTests {
  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  /// At 1,000 bytes a second from second 100 on.
  private static func throttle() -> Throttle {
    var throttle = Throttle()
    throttle.set(rate: 1000, at: at(100))
    return throttle
  }

  private func isOpen(_ throttle: Throttle, at now: Instant) -> Bool {
    var throttle = throttle
    return throttle.opens(at: now) == nil
  }

  @Test func withoutARateThereIsNoBound() {
    var throttle = Throttle()
    throttle.spend(1 << 40, at: Self.at(1))
    #expect(isOpen(throttle, at: Self.at(1)))
  }

  @Test func whatIsOverdrawnIsFilledByTime() throws {
    var throttle = Self.throttle()
    throttle.spend(500, at: Self.at(100))
    let first = throttle.opens(at: Self.at(100))
    let opens = try #require(first)
    #expect(opens > Self.at(100.49) && opens < Self.at(100.51))
    #expect(!isOpen(throttle, at: Self.at(100.25)))
    #expect(isOpen(throttle, at: opens))
  }

  /// A long rest is no leave for a long rush.
  @Test func aQuarterOfASecondIsSavedUpAtTheMost() {
    var throttle = Self.throttle()
    throttle.spend(250, at: Self.at(5000))
    #expect(isOpen(throttle, at: Self.at(5000)))
    throttle.spend(1, at: Self.at(5000))
    #expect(!isOpen(throttle, at: Self.at(5000)))
  }

  /// Whatever the pieces are, and whenever they come.
  @Test(arguments: [100, 16_384, 1_000_000]) func overTimeItIsTheRate(_ piece: Int) {
    var throttle = Throttle()
    throttle.set(rate: 100_000, at: Self.at(0))
    var (now, spent) = (Self.at(0), 0)
    while now < Self.at(200) {
      if let opens = throttle.opens(at: now) {
        now = opens
      } else {
        throttle.spend(piece, at: now)
        spent += piece
      }
    }
    #expect(abs(spent - 20_000_000) <= 25_000 + piece)
  }

  /// Hosts send all that is taken.
  @Test(arguments: [1, 3]) func theBackgroundUsesTheRateUp(_ count: Int) {
    let world = EngineWorld(count, hosts: count) { $0.limitRate = 200_000 }
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    world.answer(100 << 20)
    var brought = 0
    let end = world.now + 30
    while world.now < end {
      for flow in world.running.keys.sorted() where !world.held.contains(flow) {
        world.handle(.came(flow, 16_384))
        brought += 16_384
      }
      world.wait(0.004)
    }
    #expect(abs(brought - 6_000_000) < 300_000, "\(brought)")
  }

  @Test func whatTheLimitHoldsBackIsNotCalledStalled() {
    let world = EngineWorld(1, hosts: 1) { $0.limitRate = 1000 }
    let key = world.requests[0].key
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(100 << 20)
    for _ in 0..<3 {
      world.bring(16_384)
      world.wait(12)
      #expect(!world.held.isEmpty)
      #expect(
        world.engine.status(of: key)?.state == .downloading && world.engine.status(of: key)?.error == nil)
      world.wait(5)
    }
    // Its host alone is to blame from now on.
    world.wait(10)
    #expect(world.held.isEmpty)
    #expect(world.engine.status(of: key)?.error?.hasPrefix("stalled for ") == true)
  }

  /// Who sets a higher rate does not wait for debts at the lower one; who says the same again forgives none.
  @Test func aNewRateForgivesWhatIsOverdrawn() {
    var throttle = Self.throttle()
    throttle.spend(1_000_000, at: Self.at(100))
    throttle.set(rate: 1000, at: Self.at(100))
    #expect(!isOpen(throttle, at: Self.at(101)))
    throttle.set(rate: 1_000_000, at: Self.at(101))
    #expect(isOpen(throttle, at: Self.at(101)))
    throttle.spend(1_000_000, at: Self.at(101))
    throttle.set(rate: nil, at: Self.at(101))
    #expect(isOpen(throttle, at: Self.at(101)))
  }
}
