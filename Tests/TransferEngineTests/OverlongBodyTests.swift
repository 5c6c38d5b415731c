import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// What comes behind the end that a head has told is no byte of the file.
@Suite struct OverlongBodyTests {
  private static let length: Int64 = 50_000_000
  private let world = EngineWorld(1, hosts: 1)

  private var present: ByteRanges? { world.files[world.requests[0].key]?.present }

  private func open(_ intent: OpenIntent = .download) {
    world.say { .open(id: $0, world.requests[0], intent, generation: nil) }
  }

  @Test func aSeeksPartEndsWhereItSays() throws {
    open()
    world.answer(Self.length)
    world.bring(1 << 20)
    world.say { .wait(id: $0, open: 1, offset: 40_000_000, count: 4096) }
    let seek = try #require(world.running.max { $0.key < $1.key })
    let end = try #require(seek.value.range?.upperBound)
    world.answer(Self.length, where: { _ in true }) { $0.length = nil }
    world.handle(.came(seek.key, Int(end - 39_997_440) + 300_000))
    #expect(present?.ranges == [0..<1 << 20, 39_997_440..<end])
    #expect(world.running[seek.key] == nil)
  }

  @Test func theFirstPartEndsWhereItSays() {
    open()
    world.answer(1_500_000, where: { _ in true }) { head in
      (head.status, head.part, head.partTotal, head.length) = (206, 0..<1_500_000, 1_500_000, 1_505_000)
    }
    world.bring(1_505_000)
    #expect(present?.ranges == [0..<1_500_000])
    #expect(world.state(0) == .cached && world.running.isEmpty)
  }

  /// It tells no length the second time, and sends more than it told the first time.
  @Test func theWholeEndsWhereItDidBefore() {
    open()
    world.answer(1_500_000)
    world.bring(1 << 20)
    world.end(Fault(.passing, "reset"), where: { _ in true })
    world.wait(10)
    world.answer(1_500_000, where: { _ in true }) { head in
      (head.status, head.part, head.partTotal, head.length) = (200, nil, nil, nil)
    }
    world.bring(1_600_000)
    #expect(present?.ranges == [0..<1_500_000])
    #expect(world.state(0) == .cached && world.running.isEmpty)
  }

  /// What is read without a download is told and counted all the same, however soon it was here.
  @Test func whatReadsLeaveIsToldAtItsEnd() throws {
    open(.fetchOnly)
    world.say { .wait(id: $0, open: 1, offset: 0, count: 100_000) }
    world.answer(Self.length)
    let told = world.told.count
    let end = try #require(world.requested.first?.range?.upperBound)
    world.bring(Int(end))
    world.end(nil)
    #expect(world.told.count > told)
    #expect(world.engine.status(of: world.requests[0].key)?.received == end)
  }
}
