import PodcastModel
import PosixKit
import Testing
import TransferProtocol

@testable import TransferEngine

@Suite struct RetryTests {
  @Test func withoutProgressItIsLaterAndLater() {
    var retry = Retry()
    let delays = (0..<12).map { _ in retry.failed(received: 0, of: 1) }
    #expect(delays.prefix(4) == [0.5, 1, 2, 4])
    #expect(delays.last == Retry.longest)
  }

  @Test func whatSomebodyWaitsForIsTriedEveryFiveSeconds() {
    var retry = Retry()
    retry.tries.count = 9
    let delay = retry.failed(received: 0, of: 1, isWaitedFor: true)
    #expect(delay == 5)
  }

  /// A daemon that has just begun reads from the store when the next try was to be.
  @Test func whoWantsItNowWaitsASecondAtMost() {
    func next(_ seconds: Double) -> Double? {
      var retry = Retry()
      let now = Moment(instant: Instant(nanoseconds: 9_000_000_000), wallNanoseconds: 1_000_000_000_000)
      retry.failed(at: now)
      retry.until = now.instant.adding(300)
      retry.hurry(at: now.instant.adding(seconds))
      return retry.until?.seconds(since: now.instant)
    }
    #expect(next(0.5) == 1)
    #expect(next(2) == nil)
  }

  @Test func progressBeginsAnew() {
    var retry = Retry()
    _ = retry.failed(received: 0, of: 1)
    retry.tries.count = 9
    let delay = retry.failed(received: 65_536, of: 1)
    #expect(delay == 0.2 && retry.attempts == 1)
    // Another file each time is no progress.
    let next = retry.failed(received: 900_000, of: 2)
    #expect(next == 1)
  }

  @Test func itGrowsNotWithoutEnd() {
    #expect(Retry.delay(after: -1) == 0.5)
    #expect(Retry.delay(after: .max) == Retry.longest)
  }

  @Test func requestsThatBringNothingAreBounded() {
    var retry = Retry()
    func ask(_ received: Int64 = 0) -> Bool { retry.mayAskAtOnce(received: received, of: 1, size: 1 << 20) }
    let asked = (0..<6).map { _ in ask() }
    #expect(asked == [true, true, true, true, true, false])
    retry.leaveOneTry()
    let later = [ask(), ask(65_536)]
    #expect(later == [true, true])
  }

  /// A full cache or a pause of all downloads may end requests again and again.
  @Test func requestsThatAreEndedHereAreNoFaultOfTheHost() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(1_000_000)
    world.bring(300_000)
    for _ in 0..<8 {
      world.handle(.background(.paused))
      world.handle(.background(nil))
      world.answer(1_000_000)
    }
    #expect(world.asked == 9 && world.running.count == 1)
    #expect(world.requested.dropFirst().allSatisfy { $0.range?.lowerBound ?? 0 >= 262_144 })
  }

  @Test func aHostThatHasFailedGetsOneRequestUntilItAnswers() {
    let world = EngineWorld(1, hosts: 1)
    for _ in 0..<2 { world.say { .open(id: $0, world.requests[0], .fetchOnly, generation: nil) } }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 4096) }
    world.answer(100_000_000)
    world.bring(4096)
    world.end(nil)
    for (open, offset) in [(1, 40_000_000), (2, 80_000_000)] {
      world.say { .wait(id: $0, open: UInt64(open), offset: Int64(offset), count: 4096) }
    }
    #expect(world.running.count == 2)
    let before = world.asked
    for _ in 0..<5 {
      world.end(Fault(.passing, "HTTP 503"))
      world.wait(6)
    }
    #expect(world.asked == before + 5 && world.running.count == 1)
    world.answer(100_000_000)
    #expect(world.running.count == 2)
  }

  /// After a cut it is read through to what is missing.
  @Test(arguments: [true, false]) func aHostThatAnswersEachRangeWithTheWholeAsAPartIsReadThrough(
    _ hasValidator: Bool
  ) {
    let world = EngineWorld(1, hosts: 1)
    let length: Int64 = 10_000_000
    world.say { .order(id: $0, .start(world.requests[0])) }
    for round in 1...3 {
      world.answer(length, where: { _ in true }) { head in
        if !hasValidator { head.entityTag = nil }
        if head.status == 206 { (head.part, head.length) = (0..<length, length) }
      }
      world.bring(round * 3_000_000)
      world.end(Fault(.passing, "the connection was cut"))
      world.wait(2)
    }
    #expect(world.files[world.requests[0].key]?.present.ranges == [0..<9_000_000])
    #expect(world.asked == 4)
    world.answer(length, where: { _ in true }) { head in
      if !hasValidator { head.entityTag = nil }
      (head.part, head.length) = (0..<length, length)
    }
    world.bring(10_000_000)
    world.end(nil)
    #expect(world.state(0) == .cached && world.asked == 4)
  }

  /// Asked for what is missing, it would bring one byte more with each request.
  @Test func aHostWhosePartsBeginTooLateIsAskedForTheWhole() {
    let world = EngineWorld(1, hosts: 1)
    let length: Int64 = 10_000_000
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(length)
    world.bring(3_000_000)
    world.end(Fault(.passing, "the connection was cut"))
    world.wait(2)
    #expect(world.running.values.first?.range?.lowerBound == 3_000_000)
    world.answer(length, where: { _ in true }) { head in
      (head.part, head.length) = (3_000_300..<length, length - 3_000_300)
    }
    world.bring(10_000_000)
    world.end(nil)
    world.wait(2)
    #expect(world.asked == 3 && world.running.values.first?.range == nil)
    world.answer(length)
    world.bring(10_000_000)
    world.end(nil)
    #expect(world.state(0) == .cached && world.asked == 3)
  }
}
