import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What outlives the daemon.
@Suite struct RestartTests {
  /// A host that refuses all connections, and is asked for half an hour.
  private func refused(_ count: Int = 1) -> EngineWorld {
    let world = EngineWorld(count, hosts: count)
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    for _ in 0..<1800 {
      world.end(Fault(.passing, "connection refused"))
      world.wait(1)
    }
    return world
  }

  @Test func backOffGoesOnWhereItWas() throws {
    let before = refused()
    let key = before.requests[0].key
    let record = try #require(before.records[key])
    #expect(record.tries.count > 8 && record.tries.count < 20)
    let tried = try #require(record.tries.failed)
    // Ten seconds later another daemon begins.
    let world = EngineWorld(1, hosts: 1, now: before.now + 10, records: before.records)
    world.wait(1)
    #expect(world.asked == 0)
    while world.asked == 0 && world.now < before.now + 1000 { world.wait(1) }
    let waited = world.now - Double(tried)
    // 128 to 300 s, a quarter more or less.
    #expect(waited > 90 && waited < 380, "\(waited)")
    // And goes on from there.
    world.end(Fault(.passing, "connection refused"))
    let failed = world.now
    while world.asked == 1 && world.now < failed + 1000 { world.wait(1) }
    #expect(world.now - failed > 90)
  }

  @Test func aReaderNeedNotWaitForWhatTheLastDaemonPutOff() {
    let before = refused()
    let world = EngineWorld(1, hosts: 1, now: before.now + 10, records: before.records)
    world.wait(1)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    #expect(world.asked == 1)
  }

  /// A power loss brings a name back that was taken away just before.
  @Test(arguments: [true, false]) func whatWasDroppedIsNotTakenUpAgain(isWhole: Bool) {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.generation, record.total) = (700, 30_000)
    let file = FoundFile(key: request.key, generation: 700, size: isWhole ? 30_000 : nil, written: 1)
    let older = FoundFile(key: request.key, generation: 600, size: 30_000, written: 0)
    let world = EngineWorld(1, hosts: 1, records: [request.key: record], found: [file, older])
    #expect(world.state(0) == .remote && world.removed == [600, 700])
  }

  /// A row without bytes says that there are no files: what has been begun counts as a byte.
  @Test func whatWasBegunForAReaderAloneIsKept() throws {
    let before = EngineWorld(1, hosts: 1)
    let key = before.requests[0].key
    before.say { .open(id: $0, before.requests[0], .fetchOnly, generation: nil) }
    before.say { .wait(id: $0, open: 1, offset: 0, count: 4096) }
    before.answer(30_000)
    before.bring(8192)
    let name = before.copy(0)
    let file = FoundFile(key: key, generation: name.generation, size: nil, written: 1)
    let world = EngineWorld(1, hosts: 1, records: before.records, files: before.files, found: [file])
    #expect(world.removed.isEmpty && world.records[key]?.state == .remote)
    world.say { .open(id: $0, world.requests[0], .download, generation: nil) }
    #expect(world.requested.last?.range?.lowerBound == 4096)
  }

  /// Of two hundred that were under way or wait, with bytes of each.
  @Test(arguments: [TransferState.queued, .downloading]) func whatWaitsKeepsNoFileOpen(_ state: TransferState)
  {
    var records: [MediaKey: TransferStatus] = [:]
    var files: [MediaKey: (representation: Representation, present: ByteRanges)] = [:]
    for (index, request) in EngineWorld(200, hosts: 1).requests.enumerated() {
      var record = TransferStatus(request)
      (record.state, record.order, record.generation) = (state, Int64(index) + 1, 1)
      (record.total, record.received) = (1_000_000, 400_000)
      records[request.key] = record
      let representation = Representation(total: 1_000_000, entityTag: "\"a\"", finalURL: request.url)
      files[request.key] = (representation, ByteRanges([0..<400_000]))
    }
    let world = EngineWorld(200, hosts: 1, records: records, files: files)
    world.wait(5)
    // As many as `per_host` lets come.
    #expect(world.open.count == 2)
    #expect(world.asked == 2)
    for request in world.requests { world.say { .order(id: $0, .pause(request)) } }
    world.wait(5)
    #expect(world.open.isEmpty)
  }

  /// The last daemon was killed before the store had heard that it had begun.
  @Test func whatHadJustBegunIsNotAskedForFromItsBeginning() throws {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.state, record.order) = (.queued, 1)
    let representation = Representation(total: 1_000_000, entityTag: "\"a\"", finalURL: request.url)
    let world = EngineWorld(
      1, hosts: 1, records: [request.key: record],
      files: [request.key: (representation, ByteRanges([0..<400_000]))],
      found: [FoundFile(key: request.key, generation: 3, size: nil, written: 1000)])
    world.wait(1)
    #expect(world.asked == 1)
    #expect(try #require(world.requested.first).range?.lowerBound == 400_000)
  }

  /// A power loss has taken the store's last rows; between the numbers there is one that was given and dropped.
  @Test func aLaterGenerationThatIsFoundWhileAnotherIsLookedForIsGoneOnWith() throws {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.state, record.order, record.generation, record.total) = (.downloading, 1, 1, 900_000)
    let representation = Representation(total: 1_000_000, entityTag: "\"c\"", finalURL: request.url)
    let world = EngineWorld(
      1, hosts: 1, records: [request.key: record],
      files: [request.key: (representation, ByteRanges([0..<400_000]))],
      found: [FoundFile(key: request.key, generation: 3, size: nil, written: 1000)])
    world.wait(1)
    #expect(world.asked == 1)
    #expect(try #require(world.requested.first).range?.lowerBound == 400_000)
  }

  /// A number that the last daemon's rows do not have yet says nothing of the server's file.
  @Test func aLaterGenerationThatIsFoundGoesOn() throws {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.state, record.order, record.generation, record.total) = (.downloading, 1, 1, 1_000_000)
    record.received = 300_000
    let representation = Representation(total: 1_000_000, entityTag: "\"c\"", finalURL: request.url)
    let world = EngineWorld(
      1, hosts: 1, records: [request.key: record],
      files: [request.key: (representation, ByteRanges([0..<400_000]))],
      found: [FoundFile(key: request.key, generation: 3, size: nil, written: 1000)])
    world.wait(1)
    #expect(world.asked == 1)
  }

  /// A new daemon has no records: it begins nothing before it knows what the cache has.
  @Test func whatWasPausedBeforeTheCacheWasListedCanBeStarted() {
    let world = EngineWorld(1, hosts: 1, listsAtOnce: false)
    world.say { .order(id: $0, .pause(world.requests[0])) }
    world.handle(.found([]))
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.asked == 1)
  }

  /// The disk does several orders at once. A size that a flush has missed would be unknown to the next who opens it.
  @Test func theSizeOfABodyWithoutLengthIsFlushedWhenTheDiskHasIt() {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(nil)
    world.bring(100_000)
    world.describesAtOnce = false
    world.end(nil)
    #expect(world.state(0) == .cached)
    let before = world.flushes
    world.describeFiles()
    #expect(world.flushes == before + 1)
    #expect(world.open.isEmpty)
  }
  /// The store was lost.
  @Test func whatIsForgottenBeforeTheCacheWasListedIsForgottenWhenItIsFound() {
    let world = EngineWorld(1, hosts: 1, listsAtOnce: false)
    let key = world.requests[0].key
    world.say { .order(id: $0, .forget(key)) }
    world.handle(.found([FoundFile(key: key, generation: 3, size: 1000, written: 1)]))
    world.wait(90)
    #expect(world.sent.last?.message == .answer(1) && world.removed == [3])
    #expect(world.records[key] == nil && world.engine.status(of: key) == nil)
  }

  /// The store was lost: whatever is wanted of a file before it is found, it is not removed.
  @Test func whatIsWantedBeforeTheCacheWasListedIsTakenUpWhenItIsFound() {
    let request = EngineWorld(1, hosts: 1).requests[0]
    let messages: [(UInt64) -> ClientMessage] = [
      { .order(id: $0, .start(request)) }, { .order(id: $0, .setKept(request, true)) },
      { .open(id: $0, request, .fetchOnly, generation: nil) },
    ]
    for (savesAtOnce, message) in messages.flatMap({ [(true, $0), (false, $0)] }) {
      let here = (representation: Representation(total: 1000), present: ByteRanges([0..<1000]))
      let world = EngineWorld(1, hosts: 1, files: [request.key: here], listsAtOnce: false)
      world.savesAtOnce = savesAtOnce
      world.say(message)
      world.handle(.found([FoundFile(key: request.key, generation: 3, size: 1000, written: 1)]))
      world.savesAtOnce = true
      world.save()
      #expect(world.state(0) == .cached && world.removed.isEmpty && world.asked == 0)
    }
  }

  /// The store was lost: what was found is no episode after all.
  @Test func whatIsOrderedTellsWhatItIs() {
    var request = EngineWorld(1, hosts: 1).requests[0]
    request.isEpisode = false
    let here = (representation: Representation(total: 1000), present: ByteRanges([0..<1000]))
    let world = EngineWorld(1, hosts: 1, files: [request.key: here], listsAtOnce: false)
    world.handle(.found([FoundFile(key: request.key, generation: 3, size: 1000, written: 1)]))
    #expect(world.state(0) == .cached && world.records[request.key]?.isEpisode == true)
    world.say { .order(id: $0, .start(request)) }
    #expect(world.state(0) == .cached && world.records[request.key]?.isEpisode == false && world.asked == 0)
  }

  /// The store was lost, and what was found is more than `cache_size`.
  @Test func clientsTellWhatWasFoundBeforeAnyOfItIsEvicted() {
    for isEpisode in [false, true] {
      var request = EngineWorld(1, hosts: 1).requests[0]
      request.isEpisode = isEpisode
      let here = (representation: Representation(total: 1000), present: ByteRanges([0..<1000]))
      let world = EngineWorld(1, hosts: 1, files: [request.key: here], listsAtOnce: false) {
        $0.cacheSize = 2000
      }
      world.letsGo = true
      world.handle(.found([FoundFile(key: request.key, generation: 3, size: 1000, written: 1)]))
      var settings = TransferSettings()
      (settings.minimumFree, settings.cacheSize) = (0, 100)
      world.say { _ in .settings(settings) }
      world.wait(9)
      #expect(world.state(0) == .cached && world.evictions == 0)
      if !isEpisode { world.say { .order(id: $0, .start(request)) } }
      world.wait(60)
      #expect((world.state(0) == .cached) == !isEpisode && world.asked == 0)
    }
  }

  /// Somebody has deleted the cache while no daemon ran.
  @Test func whatTheStoreKnowsAndTheCacheHasNotIsNotHere() {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.state, record.generation, record.total, record.received) = (.cached, 3, 1000, 1000)
    record.isKept = true
    let world = EngineWorld(1, hosts: 1, records: [request.key: record], listsAtOnce: false)
    #expect(world.state(0) == .cached)
    world.handle(.found([], missing: [GenerationName(key: request.key, generation: 3)]))
    #expect(world.state(0) == .remote && world.records[request.key]?.received == 0)
  }

  /// The daemon was killed between a new generation and its row.
  @Test func whatTheStoreKnowsAndTheCacheHasOtherwiseIsTakenUp() {
    let request = EngineWorld(1, hosts: 1).requests[0]
    var record = TransferStatus(request)
    (record.state, record.generation, record.total, record.received) = (.cached, 3, 1000, 1000)
    let here = (representation: Representation(total: 1000), present: ByteRanges([0..<1000]))
    let world = EngineWorld(
      1, hosts: 1, records: [request.key: record], files: [request.key: here], listsAtOnce: false)
    let file = FoundFile(key: request.key, generation: 4, size: 1000, written: 1)
    world.handle(.found([file], missing: [GenerationName(key: request.key, generation: 3)]))
    #expect(world.state(0) == .cached && world.copy(0).generation == 4 && world.removed.isEmpty)
  }
}
