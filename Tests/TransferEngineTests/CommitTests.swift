import PosixKit
import Testing
import TransferEngine
import TransferProtocol

/// What is worth a commit of the store: each is a flush of the disk.
@Suite struct CommitTests {
  /// Of a hundred MiB, in pieces, over a hundred seconds: the store is told when it begins and when it is whole.
  @Test func aMereCountOfBytesMakesNoCommit() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(100 << 20)
    let begun = world.commits
    for _ in 0..<99 {
      world.bring(1 << 20)
      world.wait(1)
    }
    #expect(world.engine.status(of: world.requests[0].key)?.received == 99 << 20)
    #expect(world.commits == begun)
    world.bring(1 << 20)
    #expect(world.state(0) == .cached)
    #expect(world.commits > begun)
    #expect(world.records[world.requests[0].key]?.received == 100 << 20)
  }

  /// The disk takes its time for each commit: what has changed meanwhile is one more, with the latest of each.
  @Test func anOrderWaitsForTheCommitUnderWayAndOneOfItsOwn() {
    let world = EngineWorld(8, hosts: 8) { $0.downloads = 8 }
    world.savesAtOnce = false
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    world.answer(100_000)
    for _ in 0..<4 { world.bring(25_000) }
    world.end(nil)
    for request in world.requests { world.say { .order(id: $0, .drop(request.key)) } }
    world.say { .order(id: $0, .pause(world.requests[0])) }
    #expect(world.commits == 1)
    #expect(world.sent.isEmpty)
    world.save()
    #expect(world.sent.map(\.message) == [.answer(1)])
    #expect(world.commits == 2)
    world.save()
    let states = world.requests.map { world.records[$0.key]?.state ?? .remote }
    #expect(states == [.paused] + Array(repeating: .remote, count: 7))
    #expect(world.sent.map(\.message) == (1...17).map { .answer($0) })
  }

  /// A network that is gone changes a thousand rows.
  @Test func anOrderWaitsForTwoCommitsAtTheMost() {
    let world = EngineWorld(500, hosts: 8)
    world.savesAtOnce = false
    for request in world.requests { world.say { .open(id: $0, request, .download, generation: nil) } }
    world.say { .order(id: $0, .pause(world.requests[499])) }
    world.save()
    world.save()
    #expect(world.sent.map(\.message) == [.answer(501)])
    #expect(world.records[world.requests[499].key]?.state == .paused)
    #expect(world.records.count == 500)
  }

  /// The first is refused; the others have a commit of their own.
  @Test func whatIsOrderedBehindACommitThatFailsIsTriedByItself() {
    let world = EngineWorld(3, hosts: 3)
    world.savesAtOnce = false
    world.refusesRows = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.say { .order(id: $0, .pause(world.requests[0])) }
    world.say { .order(id: $0, .pause(world.requests[1])) }
    world.save()
    #expect(world.sent.count == 1)
    #expect(
      world.sent.allSatisfy { if case .answer(_, .some, _) = $0.message { true } else { false } },
      "\(world.sent)")
    #expect(world.state(0) == .remote)
    world.refusesRows = false
    world.save()
    #expect(world.sent.dropFirst().map(\.message) == [.answer(2), .answer(3)])
    world.say { .order(id: $0, .start(world.requests[2])) }
    world.save()
    world.wait(10)
    world.save()
    #expect(world.records[world.requests[0].key]?.state == .paused)
    #expect(world.records[world.requests[1].key]?.state == .paused)
    #expect(world.state(2) == .downloading)
  }

  /// The files have gone by then, to make room for the row.
  @Test func whatADropHasRemovedComesAgainWhereTheDropIsRefused() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(100_000)
    world.bring(50_000)
    world.refusesRows = true
    world.refusal = TransferFailure(.ENOSPC, "the disk is full")
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    #expect(world.state(0) == .downloading && world.asked == 2)
    world.refusesRows = false
    world.wait(10)
    #expect(world.records[world.requests[0].key]?.isPending == true)
    world.answer(100_000)
    world.bring(100_000)
    world.end(nil)
    #expect(world.state(0) == .cached)
  }

  /// The row that is to go comes back to life while a commit is under way.
  @Test func whatIsWantedAgainBeforeItsRowIsGoneHasOne() {
    let world = EngineWorld(2, hosts: 2)
    let key = world.requests[0].key
    world.say { .order(id: $0, .pause(world.requests[0])) }
    #expect(world.records[key]?.state == .paused)
    world.say { .order(id: $0, .forget(key)) }
    world.savesAtOnce = false
    world.say { .order(id: $0, .pause(world.requests[1])) }
    world.wait(90)
    #expect(world.engine.status(of: key) == nil)
    world.say { .order(id: $0, .pause(world.requests[0])) }
    for _ in 0..<3 { world.save() }
    #expect(world.records[key]?.state == .paused)
  }
}
