import PodcastModel
import PosixKit
import Testing
import TransferEngine
import TransferProtocol

/// What an order has been confirmed to do holds.
@Suite struct ConfirmedOrderTests {
  private func worldWithAnEpisode(_ count: Int = 1) -> EngineWorld {
    let world = EngineWorld(count, hosts: count) { $0.cacheSize = 1_000_000 }
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    return world
  }

  /// An order is on the disk before it acts: one that cannot be stored changes nothing.
  @Test func anOrderThatCanNotBeStoredChangesNothing() {
    let world = EngineWorld(1, hosts: 1)
    world.refusesRows = true
    world.say { .order(id: $0, .start(world.requests[0])) }
    guard case .answer(_, .some, _) = world.sent.last?.message else {
      Issue.record("\(String(describing: world.sent.last))")
      return
    }
    #expect(world.state(0) == .remote && world.asked == 0)
    world.refusesRows = false
    world.savesAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    #expect(world.asked == 0)
    world.save()
    #expect(world.asked == 1 && world.state(0) == .downloading)
  }

  @Test func aDropIsStoredThenItsFilesGoThenItIsConfirmed() {
    let world = worldWithAnEpisode()
    let key = world.requests[0].key
    (world.removesAtOnce, world.savesAtOnce) = (false, false)
    let before = world.sent.count
    world.say { .order(id: $0, .drop(key)) }
    #expect(world.removed.isEmpty)
    world.save()
    #expect(world.records[key]?.state == .remote && !world.removed.isEmpty)
    #expect(world.sent.count == before && world.state(0) == .cached)
    world.handle(.removed(key))
    #expect(world.state(0) == .remote)
    #expect(world.sent.last?.message == .answer(2))
  }

  @Test(arguments: [true, false]) func aDropThatTheStoreRefusesTakesNoFile(isKept: Bool) {
    let world = worldWithAnEpisode()
    let key = world.requests[0].key
    if isKept { world.say { .order(id: $0, .setKept(world.requests[0], true)) } }
    world.refusesRows = true
    world.say { .order(id: $0, .drop(key)) }
    #expect(world.state(0) == .cached && world.removed.isEmpty && world.files[key] != nil)
    world.refusesRows = false
    world.wait(10)
    #expect(world.records[key]?.state == .cached)
  }

  /// What goes from the cache's disk makes room for the row where the store is on the same one.
  @Test(arguments: [true, false]) func aDropOnAFullDiskTakesItsFilesFirst(isStoreBesideCache: Bool) {
    let world = EngineWorld(1, hosts: 1, isStoreBesideCache: isStoreBesideCache)
    let key = world.requests[0].key
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(700_000)
    world.bring(700_000)
    world.end(nil)
    world.refusal = TransferFailure(.ENOSPC, "the disk is full")
    (world.refusesRows, world.removesAtOnce) = (true, false)
    world.say { .order(id: $0, .drop(key)) }
    #expect(world.removed.isEmpty != isStoreBesideCache)
    world.refusesRows = false
    if isStoreBesideCache { world.handle(.removed(key)) }
    world.wait(10)
    #expect(world.sent.last?.message == (isStoreBesideCache ? .answer(2) : .answer(2, world.refusal)))
    #expect(world.records[key]?.state == (isStoreBesideCache ? .remote : .cached))
  }

  /// As on a disk that has become read-only.
  @Test(arguments: [true, false]) func whatCanNotBeRemovedStaysAsItWas(isForgotten: Bool) {
    let world = EngineWorld(1, hosts: 1)
    let key = world.requests[0].key
    for state in [TransferState.downloading, .cached] {
      if state == .downloading { world.say { .order(id: $0, .start(world.requests[0])) } }
      world.answer(700_000)
      world.bring(state == .cached ? 700_000 : 400_000)
      #expect(world.state(0) == state)
      world.removesAtOnce = false
      let files = world.files
      world.say { isForgotten ? .order(id: $0, .forget(key)) : .order(id: $0, .drop(key)) }
      world.files = files
      #expect(world.state(0) != .remote)
      world.handle(.removed(key, .lasting("read-only")))
      guard case .answer(_, .lasting("read-only"), _) = world.sent.last?.message else {
        Issue.record("\(String(describing: world.sent.last))")
        return
      }
      #expect(world.state(0) == state && world.records[key]?.state != .remote)
    }
  }

  /// Who opens it while its names are being taken away gets it anew; who had it open does not.
  @Test(arguments: [true, false], [true, false]) func whoeverOpensWhatIsBeingDroppedHasItComeAgain(
    isOpenedBefore: Bool, isForgotten: Bool
  ) {
    let world = worldWithAnEpisode()
    let key = world.requests[0].key
    world.removesAtOnce = false
    let open = { world.say { .open(id: $0, world.requests[0], .download, generation: nil) } }
    if isOpenedBefore { open() }
    world.say { isForgotten ? .order(id: $0, .forget(key)) : .order(id: $0, .drop(key)) }
    if !isOpenedBefore { open() }
    #expect(world.asked == 1)
    world.handle(.removed(key))
    #expect(world.asked == (isOpenedBefore ? 1 : 2))
    #expect(world.requested.last?.url == world.requests[0].url)
    #expect(world.state(0) == (isOpenedBefore ? .remote : .downloading))
  }

  /// A client tells a new daemon again what it has open: that has been so since before the order.
  @Test func whatIsSaidToBeOpenAgainUndoesNoDrop() {
    let world = worldWithAnEpisode()
    let (key, generation) = (world.requests[0].key, world.copy(0).generation)
    world.removesAtOnce = false
    world.say { .order(id: $0, .drop(key)) }
    world.say { .open(id: $0, world.requests[0], .download, generation: generation) }
    world.handle(.removed(key))
    #expect(world.asked == 1 && world.state(0) == .remote)
  }

  /// A drop overtakes an order that is on its way to the disk.
  @Test func aStartThatIsDroppedBeforeItIsStoredDoesNotBegin() {
    let world = EngineWorld(1, hosts: 1)
    world.savesAtOnce = false
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.say { .order(id: $0, .drop(world.requests[0].key)) }
    for _ in 0..<3 { world.save() }
    #expect(world.sent.map(\.message) == [.answer(1), .answer(2)])
    #expect(world.state(0) ?? .remote == .remote && world.asked == 0)
    #expect(world.records[world.requests[0].key]?.state ?? .remote == .remote)
  }

  @Test func whatIsOrderedWhileItIsLetGoOfComesAgain() {
    let world = worldWithAnEpisode(2)
    world.evictsAtOnce = false
    world.say { .open(id: $0, world.requests[1], .download, generation: nil) }
    world.answer(700_000)
    world.bring(100_000)
    world.wait(2)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.files[world.requests[0].key] = nil
    world.handle(.evicted([world.copy(0)]))
    #expect(world.state(0) == .downloading)
  }

  /// A damaged copy is gone when that is confirmed, and the episode comes again.
  @Test func whatWasFoundDamagedIsGoneWhenThatIsConfirmed() throws {
    let world = worldWithAnEpisode()
    let key = world.requests[0].key
    world.removesAtOnce = false
    let (before, generation) = (world.sent.count, world.copy(0).generation)
    world.say { .order(id: $0, .replace(key, generation: generation)) }
    #expect(world.sent.count == before && world.removed.contains(generation))
    world.handle(.removed(key))
    guard case .answer(_, nil, _) = world.sent.last?.message else {
      Issue.record("\(String(describing: world.sent.last))")
      return
    }
    #expect(world.asked == 2 && world.state(0) == .downloading)
    world.say { .order(id: $0, .replace(key, generation: generation)) }
    #expect(world.state(0) == .downloading)
  }

  /// The daemon was killed when it had removed the files, and before the order was on the disk: the client says it again.
  @Test func whatWasFoundDamagedComesAgainAfterAKill() {
    let before = worldWithAnEpisode()
    let generation = before.copy(0).generation
    let world = EngineWorld(1, hosts: 1, now: before.now, records: before.records)
    world.handle(
      .found([], missing: [GenerationName(key: world.requests[0].key, generation: generation)]))
    #expect(world.state(0) == .remote && world.asked == 0)
    world.say { .order(id: $0, .replace(world.requests[0].key, generation: generation)) }
    #expect(world.asked == 1 && world.state(0) == .downloading)
  }

  /// The files tell the next daemon that they are gone, not that the episode was forgotten.
  @Test func whatCanNotBeForgottenOnTheDiskIsRefused() {
    let world = worldWithAnEpisode()
    world.refusesRows = true
    world.say { .order(id: $0, .forget(world.requests[0].key)) }
    guard case .answer(_, .some, _) = world.sent.last?.message else {
      Issue.record("\(String(describing: world.sent.last))")
      return
    }
  }

  /// A complete file that was found by its name has no address.
  @Test func whatHasNoAddressIsNotAskedForAgain() {
    let key = EngineWorld(1, hosts: 1).requests[0].key
    let file = FoundFile(key: key, generation: 7, size: 1000, written: 1)
    let world = EngineWorld(1, hosts: 1, found: [file])
    world.say { .order(id: $0, .replace(key, generation: 7)) }
    #expect(world.removed == [7] && world.asked == 0 && world.state(0) ?? .remote == .remote)
  }
}
