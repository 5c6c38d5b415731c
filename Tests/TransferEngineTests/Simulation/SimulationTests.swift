import Glibc
import Testing
import TransferEngine
import TransferProtocol

/// The engine in a simulated world, by the same seeds and by some of the day. The long run:
/// PODCASTFS_SIMULATED_STEPS=1000000 (and PODCASTFS_SIMULATED_SEED=N for one seed, with its steps).
@Suite struct SimulationTests {
  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  private static let first = 20_780_000

  @Test func nothingIsLostMixedOrStarvedWhateverFails() {
    let seed = Self.number("PODCASTFS_SIMULATED_SEED")
    // A seed alone is that one.
    let steps = Self.number("PODCASTFS_SIMULATED_STEPS") ?? (seed == nil ? 100_000 : 1)
    let first = seed ?? Self.first
    let summary = SimulationRun.many(from: UInt64(max(first, 0)), steps: steps) { Issue.record("\($0)") }
    print(summary)
  }

  /// Others each day. A failure names its seed, by which it is replayed on any day.
  @Test func nothingIsLostByTheSeedsOfTheDay() {
    let day = UInt64(max(time(nil), 0) / 86_400)
    print(SimulationRun.many(from: 1_000_000_000 + day * 1000, steps: 15_000) { Issue.record("\($0)") })
  }

  /// Two in which a check expected more than was promised: of an order that was refused, and of one whose client had gone.
  @Test(arguments: [940_002_052, 940_003_321] as [UInt64]) func nothingIsLostByEarlierSeeds(seed: UInt64) {
    #expect(SimulationRun(seed: seed).failure == nil)
  }

  /// A seed is replayed to the letter.
  @Test func aSeedReplaysExactly() {
    let first = SimulationRun(seed: 7, hashesStates: true)
    let second = SimulationRun(seed: 7, hashesStates: true)
    #expect(first.trace == second.trace)
    #expect(first.states == second.states && first.states != 0)
    #expect(first.steps == second.steps)
    #expect(first.story == second.story)
    #expect(first.facts == second.facts)
  }
}
