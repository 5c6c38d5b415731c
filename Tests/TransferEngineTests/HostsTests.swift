import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@testable import TransferEngine

/// Hosts that are left alone for a while.
@Suite struct HostsTests {
  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }

  @Test func whoDidNotAnswerRestsLaterAndLater() throws {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    var now = Self.at(1000)
    for delay in [0.5, 1, 2, 4, 8, 16, 32, 60, 60] {
      let end = rests.failed("a", retryAfter: nil, at: now, &random)
      let until = try #require(end)
      #expect((0.74 * delay...1.26 * delay).contains(until.seconds(since: now)))
      #expect(rests.isResting("a", at: now))
      #expect(!rests.isResting("a", at: until))
      #expect(!rests.isResting("b", at: now))
      now = until
    }
  }

  /// A thousand downloads of a dead host that fail at once are one failure.
  @Test func whoRestsAlreadyHasNotFailedAgain() {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    let until = rests.failed("a", retryAfter: nil, at: Self.at(1), &random)
    let others = (0..<1000).compactMap { _ in rests.failed("a", retryAfter: nil, at: Self.at(1.1), &random) }
    #expect(until != nil && others.isEmpty)
    #expect(rests.nextEnd(after: Self.at(1.1)) == until)
  }

  @Test func whatTheHostWishesIsKeptForAnHourAtTheMost() {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    _ = rests.failed("a", retryAfter: nil, at: Self.at(1), &random)
    // Also while it rests.
    let wish = rests.failed("a", retryAfter: 600, at: Self.at(2), &random)
    #expect(wish == Self.at(602))
    let absurd = rests.failed("b", retryAfter: 1e300, at: Self.at(0), &random)
    #expect(absurd == Self.at(3600))
  }

  @Test func whoAnswersIsAskedAtOnceAndBeginsAnew() throws {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    for _ in 0..<8 { _ = rests.failed("a", retryAfter: 60, at: Self.at(1), &random) }
    let wasResting = [rests.end("a"), rests.end("a")]
    #expect(wasResting == [true, false])
    #expect(!rests.isResting("a", at: Self.at(1)))
    let end = rests.failed("a", retryAfter: nil, at: Self.at(1), &random)
    #expect(try #require(end) < Self.at(2))
  }

  @Test func whoWantsSomethingOfItIsHeardOnceASecond() throws {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    _ = rests.failed("a", retryAfter: nil, at: Self.at(1), &random)
    let (ordered, other) = (Self.key(1), Self.key(2))
    let early = rests.hurry("a", for: ordered, at: Self.at(1.1))
    #expect(!early && rests.isResting("a", for: ordered, at: Self.at(1.1)))
    let long = rests.failed("a", retryAfter: nil, at: Self.at(3), &random)
    let late = rests.hurry("a", for: ordered, at: Self.at(4))
    #expect(late && !rests.isResting("a", for: ordered, at: Self.at(4)))
    #expect(try #require(long) < Self.at(4.3) && rests.isResting("a", for: other, at: Self.at(3.7)))
    // The host has asked for rest.
    _ = rests.failed("b", retryAfter: 60, at: Self.at(1), &random)
    let forbidden = rests.hurry("b", for: ordered, at: Self.at(30))
    #expect(!forbidden && rests.isResting("b", for: ordered, at: Self.at(30)))
  }

  private static func key(_ number: Int) -> MediaKey {
    MediaKey(address: WebAddress("http://h.test/\(number)"))
  }

  /// Its place in the queue is behind others of that host.
  @Test func anOrderAfterTheHostsFailureAsksFirst() {
    let world = EngineWorld(3, hosts: 1) { $0.perHost = 1 }
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    for _ in 0..<6 {
      world.end(Fault(.passing, "connection refused", host: "h0.test"))
      world.wait(30)
    }
    world.end(Fault(.passing, "connection refused", host: "h0.test"))
    world.wait(2)
    let asked = world.asked
    world.say { .order(id: $0, .start(world.requests[2])) }
    #expect(world.asked == asked + 1)
    #expect(world.requested.last?.url == world.requests[2].url)
  }

  /// Each order comes when the one before has failed.
  @Test func ordersOneAfterTheOtherDoNotAskADeadHostOneAfterTheOther() {
    let world = EngineWorld(60, hosts: 1)
    for request in world.requests {
      world.say { .order(id: $0, .start(request)) }
      world.end(Fault(.passing, "connection refused", host: "h0.test"))
    }
    #expect(world.asked == 1)
    world.wait(30)
    #expect(world.asked > 1)
  }

  /// Behind a tracker the host that sends has failed too.
  @Test func anOrderAlsoAsksTheHostThatSends() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(5_000_000, where: { _ in true }) { $0.url = "http://cdn.test/0.mp3" }
    world.bring(300_000)
    for _ in 0..<6 {
      world.end(Fault(.passing, "no answer", host: "cdn.test"))
      world.wait(100)
    }
    world.end(Fault(.passing, "no answer", host: "cdn.test"))
    world.wait(2)
    let asked = world.asked
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.asked == asked + 1)
  }

  @Test func theNextEndIsTheSoonest() {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    _ = rests.failed("a", retryAfter: 50, at: Self.at(0), &random)
    _ = rests.failed("b", retryAfter: 20, at: Self.at(0), &random)
    #expect(rests.nextEnd(after: Self.at(0)) == Self.at(20))
    #expect(rests.nextEnd(after: Self.at(20)) == Self.at(50))
    rests.endAll()
    #expect(rests.nextEnd(after: Self.at(0)) == nil)
  }

  /// Of all hosts there are few are remembered: those that rest.
  @Test func restsThatAreOverAreForgotten() {
    var (rests, random) = (Hosts(), SplitMix(seed: 1))
    for number in 0..<20_000 {
      _ = rests.failed("\(number)", retryAfter: nil, at: Self.at(Double(number)), &random)
    }
    let left = (0..<20_000).count { rests.end("\($0)") }
    #expect(left > 0 && left <= Limits.hosts)
  }
  /// Feeds name any number of hosts.
  @Test func onceAHostHasRefusedAPartItIsNotAskedForOneBeside() {
    var hosts = Hosts()
    hosts.learn("a", givesParts: true)
    #expect(hosts.givesParts("a") && !hosts.givesParts("b"))
    for gives in [false, true] { hosts.learn("a", givesParts: gives) }
    #expect(!hosts.givesParts("a"))
  }
}
