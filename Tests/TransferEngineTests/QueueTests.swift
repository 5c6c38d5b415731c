import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What waits for a slot.
@Suite struct QueueTests {
  /// The engine with so many downloads queued, one host for each `hosts`, and what it has asked for.
  private final class World {
    let engine: Engine
    let requests: [TransferRequest]
    var now = 1000.0
    var asked = 0
    private var number: UInt64 = 0
    private let client = ClientID(1)

    init(_ count: Int, hosts: Int) {
      var settings = TransferSettings()
      settings.minimumFree = 0
      engine = Engine(records: [], settings: settings, seed: 1, now: Self.moment(1000))
      requests = (0..<count).map { index in
        let url = "http://h\(index % hosts).test/\(index).mp3"
        return TransferRequest(
          key: MediaKey(address: WebAddress(url)), url: url, title: "", show: "", fileName: "")
      }
      take(engine.start())
      handle(.joined(client, observes: false, answersAddresses: false))
    }

    static func moment(_ seconds: Double) -> Moment {
      Moment(
        instant: Instant(nanoseconds: Int64(seconds * 1e9)), wall: Int64(seconds),
        fraction: Int64(seconds * 1e9) % 1_000_000_000)
    }

    func say(_ message: (UInt64) -> ClientMessage) {
      number += 1
      handle(.said(client, message(number)))
    }

    /// A millisecond later.
    func handle(_ event: Event) {
      now += 0.001
      take(engine.handle(event, at: Self.moment(now)))
    }

    func wait(_ seconds: Double) {
      now += seconds
      handle(.timer)
    }

    private func take(_ effects: [Effect]) {
      var answers: [Event] = []
      for effect in effects {
        switch effect {
        case .ask: asked += 1
        // Nothing is in the cache.
        case .store(let store, .open): answers.append(.disk(store, .missing))
        case .listFiles: answers.append(.found([]))
        default: break
        }
      }
      for answer in answers { handle(answer) }
    }

    func states() -> [TransferState: Int] {
      requests.reduce(into: [:]) { $0[engine.status(of: $1.key)?.state ?? .remote, default: 0] += 1 }
    }
  }

  @Test func whoPausesAThousandDoesNotHaveEachBegunBefore() {
    let world = World(1000, hosts: 1)
    for request in world.requests { world.say { .start(id: $0, request) } }
    #expect(world.asked == 2)
    for request in world.requests { world.say { .pause(id: $0, request) } }
    // A second went by; a slot that the user frees stays free for a fifth of it.
    #expect(world.asked < 20)
    #expect(world.states() == [.paused: 1000])
  }

  @Test func aSlotThatTheUserHasFreedIsTakenAMomentLater() {
    let world = World(10, hosts: 10)
    for request in world.requests { world.say { .start(id: $0, request) } }
    #expect(world.asked == 3)
    world.say { .drop(id: $0, world.requests[0].key) }
    #expect(world.asked == 3)
    world.wait(0.25)
    #expect(world.asked == 4)
    #expect(world.engine.status(of: world.requests[3].key)?.state == .downloading)
  }

  @Test func theQueueGoesByOrderOverAllHosts() {
    let world = World(9, hosts: 3)
    for request in world.requests.reversed() { world.say { .start(id: $0, request) } }
    let running = world.requests.indices.filter {
      world.engine.status(of: world.requests[$0].key)?.state == .downloading
    }
    #expect(running == [6, 7, 8])
  }

  @Test func aHostHasTwoSlotsAtTheMost() {
    let world = World(8, hosts: 2)
    for request in world.requests.filter({ $0.url.contains("h0") }) { world.say { .start(id: $0, request) } }
    #expect(world.asked == 2)
    for request in world.requests.filter({ $0.url.contains("h1") }) { world.say { .start(id: $0, request) } }
    #expect(world.asked == 3)
  }

  /// Who hears of it at once, and who hears later, show the same time for the view that it is in.
  @Test func theMomentIsThatAtWhichADownloadCameToBeUnderWay() throws {
    let world = World(4, hosts: 4)
    for request in world.requests { world.say { .start(id: $0, request) } }
    let key = world.requests[3].key
    let queued = try #require(world.engine.status(of: key))
    #expect(queued.state == .queued)
    world.say { .drop(id: $0, world.requests[0].key) }
    world.wait(0.25)
    let begun = try #require(world.engine.status(of: key))
    #expect(begun.state == .downloading)
    #expect(begun.moment == queued.moment)
    world.say { .drop(id: $0, key) }
    #expect(try #require(world.engine.status(of: key)).moment > queued.moment)
  }
}
