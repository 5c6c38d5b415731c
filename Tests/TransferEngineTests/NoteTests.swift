import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What the journals know of the records, for the day when the store is lost.
@Suite struct NoteTests {
  private func note(_ index: Int, in world: EngineWorld) -> TransferRecord? {
    let key = world.requests[index].key
    return world.notes[key].flatMap { TransferRecord(key: key, note: $0) }
  }

  /// Two of one host, of which the second has bytes and waits for the first.
  private func waiting() -> EngineWorld {
    var records: [MediaKey: TransferRecord] = [:]
    var files: [MediaKey: (representation: Representation, present: ByteRanges)] = [:]
    for (index, request) in EngineWorld(2, hosts: 1).requests.enumerated() {
      var record = TransferRecord(request: request)
      (record.state, record.order, record.generation) = (.queued, Int64(index) + 1, 1)
      (record.total, record.received) = (1_000_000, 400_000)
      records[request.key] = record
      let representation = Representation(total: 1_000_000, entityTag: "\"a\"", finalURL: request.url)
      files[request.key] = (representation, ByteRanges([0..<400_000]))
    }
    let world = EngineWorld(2, hosts: 1, records: records, files: files) { $0.perHost = 1 }
    world.wait(5)
    return world
  }

  @Test func whatIsOrderedOfOneThatWaitsIsNotedToo() throws {
    let world = waiting()
    #expect(world.asked == 1 && world.open.count == 1)
    world.say { .leave(id: $0, world.requests[1].key) }
    #expect(note(1, in: world)?.state == .remote)
    world.say { .start(id: $0, world.requests[1]) }
    #expect(note(1, in: world)?.state == .queued)
    world.say { .pause(id: $0, world.requests[1]) }
    #expect(note(1, in: world)?.state == .paused)
    world.wait(5)
    #expect(world.open.count == 1)
  }

  /// Its files are closed at once, because nobody needs them any more.
  @Test func aPauseIsNotedWhereAllThatHasComeIsOnTheDisk() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(1_000_000)
    world.bring(300_000)
    world.wait(3)
    #expect(note(0, in: world)?.state == .queued)
    world.say { .pause(id: $0, world.requests[0]) }
    world.wait(3)
    #expect(note(0, in: world)?.state == .paused && world.open.isEmpty)
    #expect(note(0, in: world)?.revision == world.records[world.requests[0].key]?.revision)
  }

  @Test func theNextGenerationsJournalHasItToo() throws {
    let world = EngineWorld(1, hosts: 1)
    for _ in 0..<2 {
      world.say { .start(id: $0, world.requests[0]) }
      world.answer(1_000_000)
      world.bring(300_000)
      world.wait(3)
      #expect(note(0, in: world)?.state == .queued)
      world.say { .drop(id: $0, world.requests[0].key) }
      world.wait(3)
      #expect(world.notes.isEmpty)
    }
  }

  /// Of the store and a journal the newer one is told by the number.
  @Test func eachOrderHasANumberOfItsOwnInStoreAndJournal() throws {
    let world = EngineWorld(2, hosts: 2)
    world.say { .start(id: $0, world.requests[0]) }
    world.answer(1_000_000)
    world.bring(1_000_000)
    world.wait(3)
    let key = world.requests[0].key
    let come = try #require(world.records[key])
    #expect(come.state == .cached && come.revision > 0)
    world.say { .setKept(id: $0, world.requests[0], true) }
    world.wait(3)
    let kept = try #require(world.records[key])
    #expect(kept.revision > come.revision && note(0, in: world)?.revision == kept.revision)
    world.say { .setKept(id: $0, world.requests[1], true) }
    #expect(world.records[world.requests[1].key]?.revision ?? 0 > kept.revision)
    world.say { .drop(id: $0, key) }
    #expect(world.records[key]?.revision ?? 0 > kept.revision)
  }

  @Test func whatIsOrderedOnceMoreIsNoNews() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .setKept(id: $0, world.requests[0], true) }
    let (commits, record) = (world.commits, world.records[world.requests[0].key])
    world.say { .setKept(id: $0, world.requests[0], true) }
    world.say { .drop(id: $0, world.requests[0].key) }
    #expect(world.commits == commits && world.records[world.requests[0].key] == record)
  }
}
