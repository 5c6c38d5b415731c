import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// The end of a file is asked for beside its beginning, where that is known to be of use.
@Suite struct TailTests {
  private static let length: Int64 = 50_000_000
  /// Of the last block that is whole.
  private static let start: Int64 = 49_995_776

  /// A host that has sent one episode of two.
  private func world(
    _ count: Int = 2, hosts: Int = 1, _ change: (inout ResponseHead) -> Void = { _ in }
  ) -> EngineWorld {
    let world = EngineWorld(count, hosts: hosts)
    open(0, in: world)
    world.answer(Self.length, change)
    world.bring(Int(Self.length))
    world.end(nil)
    return world
  }

  private func open(
    _ index: Int, in world: EngineWorld, _ intent: OpenIntent = .download, told length: Int64? = Self.length
  ) {
    var request = world.requests[index]
    request.expectedLength = length
    world.say { .open(id: $0, request, intent, generation: nil) }
  }

  private func isTail(_ request: MediaRequest) -> Bool { request.range?.lowerBound == Self.start }

  @Test func whoOpensAnEpisodeOfAKnownHostHasItsEndAtOnce() throws {
    let world = world()
    #expect(world.asked == 1)
    open(1, in: world)
    #expect(world.asked == 3)
    #expect(world.requested[1].range == nil)
    #expect(
      world.requested[2]
        == {
          var request = world.requested[1]
          request.range = Self.start..<Self.length
          return request
        }())
    world.answer(Self.length)
    let present = { world.files[world.requests[1].key]?.present }
    world.bring(Int(Self.length - Self.start))
    world.end(nil, where: { _ in true })
    #expect(present()?.contains(Self.start..<Self.length) == true)
  }

  /// Which head comes first is chance.
  @Test func theEndWaitsForWhatTheBeginningIsOf() throws {
    let world = world()
    open(1, in: world)
    let tail = try #require(world.running.first { isTail($0.value) }?.key)
    var head = ResponseHead(status: 206, url: world.requests[1].url)
    head.entityTag = "\"\(world.requests[1].url)\""
    (head.part, head.partTotal, head.length) = (
      Self.start..<Self.length, Self.length, Self.length - Self.start
    )
    world.handle(.head(tail, head, firstBytes: []))
    world.handle(.came(tail, Int(Self.length - Self.start)))
    world.handle(.ended(tail, nil))
    #expect(world.files[world.requests[1].key] == nil)
    world.answer(Self.length, where: { $0 == world.requests[1].url })
    #expect(world.files[world.requests[1].key]?.present.ranges == [Self.start..<Self.length])
    #expect(world.asked == 3)
  }

  /// Another file's end is of no use, and a host that has another one each time is asked no more.
  @Test(arguments: [true, false]) func anotherFilesEndIsDropped(isLarger: Bool) throws {
    let world = world(3)
    open(1, in: world)
    world.answer(Self.length, where: { _ in true }) { head in
      if head.status == 206 && isLarger {
        (head.part, head.partTotal) = (Self.start..<Self.length, Self.length + 4096)
      } else if head.status == 206 {
        head.entityTag = "\"other\""
      }
    }
    #expect(!world.running.values.contains(where: isTail))
    world.bring(1 << 20)
    #expect(world.files[world.requests[1].key]?.present.ranges.map(\.lowerBound) == [0])
    open(2, in: world)
    #expect(world.requested.filter(isTail).count == 1)
    // A seek is asked for all the same.
    world.say { .wait(id: $0, open: 2, offset: 40_000_000, count: 4096) }
    #expect(try #require(world.requested.last?.range).lowerBound == 39_997_440)
  }

  @Test(arguments: [200, 403, 429, 503]) func aRefusedEndEndsNothing(status: Int) throws {
    let world = world(3)
    open(1, in: world)
    world.answer(Self.length, where: { _ in true }) { head in
      if head.status == 206 { (head.status, head.part, head.partTotal) = (status, nil, nil) }
    }
    #expect(world.running.count == 1 && world.state(1) == .downloading)
    world.bring(Int(Self.length))
    world.end(nil)
    #expect(world.state(1) == .cached && world.asked == 3)
    open(2, in: world)
    #expect(world.asked == 4)
  }

  /// Of a host that has just answered it tells that it gives one response at a time; else it may be the network's fault.
  @Test(arguments: [true, false]) func anEndThatBreaksOffEndsNothing(hasAnswered: Bool) throws {
    let world = world(3)
    open(1, in: world)
    let tail = try #require(world.running.first { isTail($0.value) }?.key)
    let first = try #require(world.running.first { !isTail($0.value) })
    var head = ResponseHead(status: 200, url: first.value.url)
    (head.length, head.entityTag, head.acceptsRanges) = (Self.length, "\"1\"", true)
    if hasAnswered { world.handle(.head(first.key, head, firstBytes: Array("ID3".utf8))) }
    world.handle(.ended(tail, Fault(.passing, "reset")))
    if !hasAnswered { world.handle(.head(first.key, head, firstBytes: Array("ID3".utf8))) }
    world.handle(.came(first.key, Int(Self.length)))
    world.handle(.ended(first.key, nil))
    #expect(world.state(1) == .cached)
    open(2, in: world)
    #expect(world.requested.filter(isTail).count == (hasAnswered ? 1 : 2))
  }

  /// What fails for good does so whatever its end says.
  @Test func theEndGoesWithTheBeginning() throws {
    let world = world()
    open(1, in: world)
    let first = try #require(world.running.first { !isTail($0.value) })
    world.handle(.head(first.key, ResponseHead(status: 404, url: first.value.url), firstBytes: []))
    world.wait(30)
    #expect(world.running.isEmpty && world.state(1) == .failed)
  }

  @Test func aCancelledEpisodesEndIsNotWaitedFor() throws {
    let world = world()
    open(1, in: world)
    world.say { .order(id: $0, .drop(world.requests[1].key)) }
    #expect(world.running.isEmpty)
  }

  /// Behind a tracker each request is counted; who gives no ranges, or says not what they are of, is not asked either.
  @Test func onlyAHostThatGivesPartsItselfIsAsked() {
    let changes: [(inout ResponseHead) -> Void] = [
      { $0.url = "http://cdn.test/a.mp3" }, { $0.acceptsRanges = false }, { $0.entityTag = nil },
      { $0.length = nil },
    ]
    for change in changes {
      let world = world(2, change)
      open(1, in: world)
      #expect(world.asked == 2)
    }
    let other = world(2, hosts: 2)
    open(1, in: other)
    #expect(other.asked == 2)
  }

  @Test(arguments: [OpenIntent.downloadAtRead, .fetchOnly, .cachedOnly])
  func whoDoesNotDownloadAtOpenAsksForNoEnd(intent: OpenIntent) {
    let world = world()
    open(1, in: world, intent)
    world.say { .wait(id: $0, open: 2, offset: 0, count: 4096) }
    #expect(!world.requested.contains(where: isTail))
  }

  @Test func theQueueAsksForNoEnd() {
    let world = world()
    world.say { .order(id: $0, .start(world.requests[1])) }
    #expect(world.asked == 2)
  }

  @Test(arguments: [nil, 900_000, 0, -1, .max] as [Int64?]) func nothingIsAskedForWhereItsEndIsNotKnown(
    told: Int64?
  ) {
    let world = world()
    open(1, in: world, told: told)
    #expect(world.asked == 2)
  }

  /// The feed says too little, or too much: what came of it is of the file all the same.
  @Test func aPlaceBeforeTheEndIsOfUse() throws {
    let world = world()
    open(1, in: world)
    let tail = try #require(world.running.first { isTail($0.value) }?.key)
    world.answer(Self.length + 1_000_000)
    world.handle(.came(tail, Int(Self.length - Self.start)))
    world.handle(.ended(tail, nil))
    #expect(world.files[world.requests[1].key]?.present.contains(Self.start..<Self.length) == true)
  }

  @Test func aPlaceBehindTheEndIsNotHeldAgainstTheHost() {
    let world = world(3)
    open(1, in: world)
    world.answer(Self.length - 1_000_000, where: { _ in true }) { head in
      if head.status == 206 {
        (head.status, head.part, head.partTotal) = (416, nil, Self.length - 1_000_000)
      }
    }
    #expect(world.running.count == 1 && world.state(1) == .downloading)
    open(2, in: world)
    #expect(world.requested.filter(isTail).count == 2)
  }

  /// By a connection that is about to be free it costs half of what it does by a new one.
  @Test(arguments: [true, false]) func aSeekWaitsAMomentForTheEnd(comes: Bool) throws {
    let world = world()
    open(1, in: world)
    let tail = try #require(world.running.first { isTail($0.value) }?.key)
    world.wait(0.08)
    world.answer(Self.length, where: { $0 == world.requests[1].url && world.asked < 4 })
    world.say { .wait(id: $0, open: 2, offset: 40_000_000, count: 4096) }
    #expect(world.asked == 3)
    if comes {
      world.handle(.came(tail, Int(Self.length - Self.start)))
      world.handle(.ended(tail, nil))
    } else {
      world.wait(0.03)
    }
    #expect(world.asked == 4)
    #expect(try #require(world.requested.last?.range).lowerBound == 39_997_440)
  }

  /// The response for the whole is not waited for when its last bytes are here.
  @Test func whatIsWholeByItsEndIsWhole() throws {
    let world = world()
    open(1, in: world)
    let first = try #require(world.running.first { !isTail($0.value) }?.key)
    let tail = try #require(world.running.first { isTail($0.value) }?.key)
    world.answer(Self.length)
    world.handle(.came(tail, Int(Self.length - Self.start)))
    world.handle(.ended(tail, nil))
    world.handle(.came(first, Int(Self.start)))
    #expect(world.state(1) == .cached)
    #expect(world.running.isEmpty)
  }

  /// It has begun, and trickles: who reads on does not wait for it.
  @Test(arguments: [true, false]) func whatTricklesIsOvertaken(isTail: Bool) throws {
    let world = world()
    open(1, in: world)
    let first = try #require(world.running.first { !self.isTail($0.value) }?.key)
    world.answer(Self.length)
    var slow = try #require(world.running.first { self.isTail($0.value) }?.key)
    if !isTail {
      world.handle(.came(slow, Int(Self.length - Self.start)))
      world.handle(.ended(slow, nil))
      world.handle(.came(first, 1 << 20))
      world.say { .wait(id: $0, open: 2, offset: 40_000_000, count: 4096) }
      world.answer(Self.length, where: { _ in true })
      slow = try #require(world.running.keys.max())
    }
    world.handle(.came(slow, 50))
    world.wait(3)
    world.handle(.came(slow, 50))
    let rest = isTail ? Self.length : Self.length - (1 << 20)
    for _ in 0..<10 {
      world.handle(.came(first, Int(rest) / 10))
      world.wait(0.3)
    }
    world.handle(.came(first, Int(rest) - Int(rest) / 10 * 10))
    world.handle(.ended(first, nil))
    #expect(world.state(1) == .cached)
  }
}
