import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What leaves the store of transfers.
@Suite struct ForgettingTests {
  private static let url = "http://media.example/1.mp3"
  private static let request = TransferRequest(
    key: MediaKey(address: WebAddress(url)), url: url, title: "", show: "", fileName: "")

  /// Rows that were deleted after a download of which something was here was given up.
  private func removed(
    after message: ClientMessage, isKept: Bool = false, seconds: Double
  ) -> Set<MediaKey> {
    var record = TransferStatus(Self.request)
    (record.state, record.generation, record.total, record.received) = (.cached, 3, 1000, 1000)
    record.isKept = isKept
    let client = ClientID(1)
    var settings = TransferSettings()
    settings.minimumFree = 0
    func moment(_ seconds: Double) -> Moment {
      EngineWorld.moment(seconds)
    }
    let store = TestStore([record.key: record])
    var engine = TransferCore(records: [], rows: store.stored, settings: settings, seed: 1, now: moment(1000))
    var now = 1000.0
    var removed: Set<MediaKey> = []
    var effects = engine.start()
    var events: [Event] = [.joined(client, answersAddresses: false), .said(client, message)]
    let end = now + seconds
    while true {
      for effect in effects {
        switch effect {
        case .store(let store, .open): events.append(.disk(store, .missing))
        case .listFiles: events.insert(.found([]), at: 0)
        case .remove(let key, _): events.append(.removed(key))
        case .save(let rows, let keys):
          removed.formUnion(keys)
          for row in rows { store.rows[row.key] = row }
          for key in keys { store.rows[key] = nil }
          events.append(.saved(nil))
        default: break
        }
      }
      now += 0.5
      if events.isEmpty && now > end { return removed }
      effects = engine.handle(events.isEmpty ? .timer : events.removeFirst(), at: moment(now))
    }
  }

  @Test func whatIsForgottenLeavesNoLineAndWhatIsDroppedDoes() {
    let key = Self.request.key
    #expect(removed(after: .order(id: 1, .forget(key)), seconds: 90) == [key])
    #expect(removed(after: .order(id: 1, .forget(key)), isKept: true, seconds: 90) == [key])
    #expect(removed(after: .order(id: 1, .drop(key)), seconds: 90) == [])
  }

  /// An episode of which some is here, and which somebody reads beside the queue where `isOpen`.
  private func world(isOpen: Bool) -> (world: EngineWorld, key: MediaKey) {
    let world = EngineWorld(1, hosts: 1)
    world.say { .order(id: $0, .start(world.requests[0])) }
    world.answer(1_000_000)
    world.bring(300_000)
    if isOpen { world.say { .open(id: $0, world.requests[0], .downloadAtRead, generation: nil) } }
    return (world, world.requests[0].key)
  }

  /// Whoever kills the daemon from then on.
  @Test(arguments: [true, false]) func noAddressIsRememberedWhenItIsConfirmed(isOpen: Bool) throws {
    let (world, key) = world(isOpen: isOpen)
    #expect(world.records[key]?.request == world.requests[0])
    world.say { .order(id: $0, .forget(key)) }
    #expect(world.sent.last?.message == .answer(isOpen ? 3 : 2))
    #expect(world.records[key] == nil)
    #expect(world.files[key] == nil)
  }

  @Test func anOrderlyEndForgetsAtOnce() {
    let (world, key) = world(isOpen: false)
    world.say { .order(id: $0, .forget(key)) }
    world.stop()
    #expect(world.records[key] == nil && world.engine.isAtRest)
  }

  /// What a killed daemon had forgotten, the next one forgets, with what the cache still has of it.
  @Test func theNextDaemonForgets() {
    let (before, key) = world(isOpen: false)
    before.say { .order(id: $0, .forget(key)) }
    let file = FoundFile(key: key, generation: 2, size: nil, written: 1000)
    let world = EngineWorld(1, hosts: 1, records: before.records, found: [file])
    world.wait(90)
    #expect(world.records[key] == nil && world.engine.status(of: key) == nil)
  }

  /// Somebody has opened it, and begins to read only when it has been forgotten.
  private func worldOfALateReader() -> (world: EngineWorld, key: MediaKey) {
    let world = EngineWorld(1, hosts: 1)
    let key = world.requests[0].key
    world.say { .open(id: $0, world.requests[0], .downloadAtRead, generation: nil) }
    world.say { .order(id: $0, .forget(key)) }
    world.say { .wait(id: $0, open: 1, offset: 0, count: 4096) }
    return (world, key)
  }

  @Test func nothingIsFetchedForALateReader() {
    let (world, key) = worldOfALateReader()
    #expect(world.sent.last?.message == .answer(3, .gone))
    world.say { _ in .close(id: 1) }
    #expect(world.asked == 0 && world.records[key] == nil)
    world.wait(90)
    #expect(world.engine.status(of: key) == nil)
  }

  @Test func anOrderlyEndForgetsWhatIsOpen() {
    let (world, key) = worldOfALateReader()
    world.stop()
    #expect(world.files[key] == nil && world.records[key] == nil)
  }
}
