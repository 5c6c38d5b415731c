import PodcastModel
import Testing
import TransferEngine
import TransferProtocol

/// Whatever was ordered before, and however slowly the disk answered: what is wanted at last runs.
@Suite struct WantedAtLastTests {
  @Test(arguments: 0..<(300 as UInt64)) func theOnlyDownloadRuns(seed: UInt64) {
    let world = EngineWorld(1, hosts: 1)
    actAtRandom(world, seed)
    world.wait(1)
    #expect(world.states() == [.downloading: 1])
  }

  @Test(arguments: 0..<(300 as UInt64)) func everySlotIsTaken(seed: UInt64) {
    let world = EngineWorld(4, hosts: 2) { $0.downloads = 2 }
    actAtRandom(world, seed)
    world.wait(1)
    #expect(world.states() == [.downloading: 2, .queued: 2])
  }

  @Test(arguments: 0..<(300 as UInt64)) func aHostThatFailedIsAskedAgain(seed: UInt64) {
    let world = EngineWorld(1, hosts: 1)
    actAtRandom(world, seed, withFailures: true)
    world.wait(400)
    #expect(world.states() == [.downloading: 1])
  }

  /// Gives orders, opens, answers and lets the disk do what waits; at last orders all downloads.
  private func actAtRandom(_ world: EngineWorld, _ seed: UInt64, withFailures: Bool = false) {
    var random = SplitMix(seed: seed)
    func chance() -> Bool { Bool.random(using: &random) }
    var opened: [UInt64] = []
    for _ in 0..<12 {
      world.createsAtOnce = chance()
      world.writesAtOnce = chance()
      world.savesAtOnce = chance()
      world.flushesAtOnce = chance()
      world.removesAtOnce = chance()
      let request = world.requests[Int.random(in: world.requests.indices, using: &random)]
      switch Int.random(in: 0..<9, using: &random) {
      case 0: world.say { .order(id: $0, .pause(request)) }
      case 1, 2: world.say { .order(id: $0, .start(request)) }
      case 3: world.say { .order(id: $0, .drop(request.key)) }
      case 4: world.answer(10_000_000)
      case 5: world.bring(20_000)
      case 6:
        world.say {
          opened.append($0)
          return .open(id: $0, request, .download, generation: nil)
        }
      case 7: if let id = opened.popLast() { world.say { _ in .close(id: id) } }
      default:
        if withFailures {
          world.end(Fault(.passing, "no answer", host: chance() ? "h0.test" : nil))
        }
      }
      world.wait([0, 0.01, 0.05, 0.1, 0.2, 1][Int.random(in: 0..<6, using: &random)])
      if chance() { world.createFiles() }
      if chance() { world.writePieces() }
      if chance() { world.removeFiles() }
      if chance() { world.save() }
      if chance() { world.flushFiles() }
    }
    for id in opened { world.say { _ in .close(id: id) } }
    for request in world.requests { world.say { .order(id: $0, .start(request)) } }
    (world.createsAtOnce, world.writesAtOnce, world.removesAtOnce) = (true, true, true)
    (world.savesAtOnce, world.flushesAtOnce) = (true, true)
    for _ in 0..<4 {
      world.createFiles()
      world.writePieces()
      world.removeFiles()
      world.save()
      world.flushFiles()
    }
  }
}
