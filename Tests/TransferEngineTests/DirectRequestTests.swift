import PodcastModel
import Testing
import TransferProtocol

@testable import TransferEngine

/// A seek goes straight to the address that answered before.
@Suite struct DirectRequestTests {
  /// Of a feed that may name private hosts. Names mean other addresses from one moment to the next: one that was
  /// reached over a public host, or is one, must not become a way to a private one.
  @Test(arguments: [true, false]) func itMayReachAPrivateHostOnlyWhereOneHasAnswered(isPrivate: Bool) throws {
    let world = EngineWorld(1, hosts: 1)
    var request = world.requests[0]
    request.allowsPrivateHosts = true
    world.say { .open(id: $0, request, .download, generation: nil) }
    #expect(world.requested.first?.allowsPrivateHosts == true)
    world.answer(50_000_000, where: { _ in true }) { head in
      head.url = "http://cdn.test/a.mp3?token=1"
      head.isFromPrivateHost = isPrivate
    }
    world.bring(100_000)
    world.say { .wait(id: $0, open: 1, offset: 40_000_000, count: 4096) }
    let direct = try #require(world.requested.last)
    #expect(direct.url == "http://cdn.test/a.mp3?token=1" && direct.range != nil)
    #expect(direct.allowsPrivateHosts == isPrivate)
    // By the feed's own address it may again.
    world.end(Fault(.passing, "reset"))
    world.wait(10)
    let next = try #require(world.requested.last)
    #expect(next.url == request.url && next.allowsPrivateHosts)
  }

  /// Mirrors with entity tags of their own: one answer is compared, and tells that the date is what to ask by.
  @Test func aSeekAsksAMirrorByTheDate() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(50_000_000, where: { _ in true }) { $0.lastModified = "Mon, 01 Jan 2024 00:00:00 GMT" }
    world.bring(1 << 20)
    world.say { .wait(id: $0, open: 1, offset: 40_000_000, count: 4096) }
    #expect(world.asked == 2)
    world.answer(50_000_000, where: { _ in true }) { head in
      (head.status, head.part, head.partTotal, head.length) = (200, nil, nil, 50_000_000)
      (head.entityTag, head.lastModified) = ("\"other\"", "Mon, 01 Jan 2024 00:00:00 GMT")
    }
    world.bring(32_768)
    #expect(world.asked == 2)
    world.bring(32_768)
    #expect(world.asked == 3)
    let seek = try #require(world.requested.last)
    #expect(seek.range?.lowerBound == 39_997_440 && seek.validator == "Mon, 01 Jan 2024 00:00:00 GMT")
  }

  /// A mirror answers for the seek: that tells nothing of whether the host gives ranges.
  @Test func aSeekThatAnotherAddressAnswersCostsNoBytesThatAreHere() throws {
    let world = EngineWorld(1, hosts: 1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    world.answer(50_000_000)
    world.bring(1 << 20)
    world.say { .wait(id: $0, open: 1, offset: 40_000_000, count: 4096) }
    world.answer(50_000_000, where: { _ in true }) { $0.url = "http://mirror.test/a.mp3" }
    world.end(Fault(.passing, "reset"))
    world.wait(10)
    #expect(world.asked == 3)
    let next = try #require(world.requested.last)
    #expect(next.range.map { $0.lowerBound > 900_000 } == true)
  }

  /// It gives the whole, since what was asked for is of a file that it has no more (If-Range).
  @Test func anotherFileDoesNotShowThatAHostGivesNoRanges() throws {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.generation, record.total, record.received) = (1, 5_000_000, 4096)
    let former = Representation(total: 5_000_000, entityTag: "\"former\"", finalURL: request.url)
    let world = EngineWorld(
      1, hosts: 1, records: [request.key: record], files: [request.key: (former, ByteRanges())])
    world.say { .open(id: $0, request, .fetchOnly, generation: nil) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 40_000) }
    #expect(world.requested.last?.range?.upperBound ?? .max < .max)
    world.answer(5_000_000, where: { _ in true }) { head in
      (head.status, head.length, head.part, head.partTotal) = (200, 5_000_000, nil, nil)
    }
    world.bring(1 << 20)
    world.end(Fault(.passing, "reset"))
    world.say { .wait(id: $0, open: 1, offset: 3_000_000, count: 40_000) }
    world.wait(10)
    #expect(world.asked == 2)
    #expect(try #require(world.requested.last).range.map { $0.lowerBound > 2_900_000 } == true)
  }
}
