import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Another program has changed the length of what is cached.
@Suite struct LengthTests {
  private let total: Int64 = 5_000_000

  /// One that is cached and kept, and has this length when the daemon begins.
  private func world(_ length: Int64, present: Range<Int64>? = nil) -> EngineWorld {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferRecord(request: request)
    (record.state, record.order, record.generation, record.isKept) = (.cached, 1, 3, true)
    (record.total, record.received) = (total, total)
    let representation = Representation(total: total, entityTag: "\"a\"", finalURL: request.url)
    return EngineWorld(
      1, hosts: 1, records: [request.key: record],
      files: [request.key: (representation, ByteRanges([present ?? 0..<length]))],
      found: [FoundFile(key: request.key, generation: 3, written: 900, length: length)])
  }

  private func received(_ world: EngineWorld) -> Int64? {
    world.engine.status(of: world.requests[0].key)?.received
  }

  @Test func ofWhatIsShorterOnlyTheRestCountsAndComesWhenItIsRead() throws {
    let world = world(2_500_000, present: 0..<2 << 20)
    world.wait(5)
    #expect(received(world) == 2 << 20)
    #expect(world.mostOpen == 0 && world.asked == 0)
    #expect(world.logged.count { $0.contains("the length of 1 files") } == 1, "\(world.logged)")
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    #expect(world.state(0) == .downloading)
    #expect(try #require(world.requested.first).range?.start == 2 << 20)
    #expect(world.engine.status(of: world.requests[0].key)?.isKept == true)
  }

  @Test func whatIsLongerIsLookedAt() {
    let whole = world(total + 1, present: 0..<total)
    whole.wait(5)
    #expect(whole.mostOpen == 1 && whole.state(0) == .cached && received(whole) == total)
    let other = world(total + 1, present: 0..<1 << 20)
    other.wait(5)
    #expect(other.state(0) == .remote && received(other) == 1 << 20 && other.asked == 0)
    #expect(other.open.isEmpty)
  }

  @Test func whatHasItsLengthAgainCountsAgain() {
    let world = world(100)
    world.looksAtOnce = false
    let key = world.requests[0].key
    #expect(received(world) == 0)
    world.handle(.vanished([key]))
    world.handle(.missing([], lengths: [key: total]))
    #expect(received(world) == total)
    world.handle(.vanished(nil))
    world.handle(.missing([], lengths: [key: 3_000_000]))
    #expect(received(world) == 2 << 20 && world.state(0) == .cached)
    world.say { .pause(id: $0, world.requests[0]) }
    #expect(world.state(0) == .paused)
  }
}
