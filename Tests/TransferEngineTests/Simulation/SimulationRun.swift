import TransferEngine

/// One seed, run to its end.
struct SimulationRun {
  typealias Step = (wait: Double, action: Action)

  var steps = 0
  var facts: [String: Int] = [:]
  var failure: String?
  var actions: [Step] = []
  var story: [String] = []
  /// See `Simulation.trace` and `states`.
  var trace: UInt64 = 0
  var states = 0

  /// Runs a seed: with actions by chance, or with those that are given.
  init(seed: UInt64, actions given: [Step]? = nil, count: Int = 120, hashesStates: Bool = false) {
    let world = Simulation(seed: seed, hashesStates: hashesStates)
    var chance = SplitMix(seed: seed ^ 0x5eed)
    do {
      try world.settle()
      for index in 0..<(given?.count ?? count) {
        let next = given?[index] ?? world.nextAction(&chance)
        actions.append(next)
        try world.pass(next.wait)
        try world.act(next.action)
      }
      try world.finish()
    } catch {
      failure = "\(error)"
    }
    steps = world.steps
    facts = world.facts
    story = world.story
    (trace, states) = (world.trace, world.states)
  }

  /// Of what kind its failure is: without what differs from one run to another.
  private var failureKind: String? {
    failure.map { String($0.prefix { $0 != ":" }.filter { !$0.isNumber }) }
  }

  /// Leaves out what is not needed for it to fail in this way.
  func shrunk(seed: UInt64) -> SimulationRun {
    var best = self
    var size = max(best.actions.count / 2, 1)
    var tries = 0
    while size >= 1 && tries < 400 {
      var start = 0
      while start < best.actions.count && tries < 400 {
        tries += 1
        var fewer = best.actions
        fewer.removeSubrange(start..<min(start + size, fewer.count))
        let again = SimulationRun(seed: seed, actions: fewer)
        if again.failureKind == failureKind { best = again } else { start += size }
      }
      if size == 1 { break }
      size /= 2
    }
    return best
  }

  /// What leads to the failure, made short.
  func report(seed: UInt64) -> String {
    let short = shrunk(seed: seed)
    let steps = short.actions.map { "  after \($0.wait) s: \($0.action)" }.joined(separator: "\n")
    let end = short.story.suffix(30).joined(separator: "\n  ")
    return "seed \(seed): \(short.failure ?? failure ?? "")\n\(steps)\nstory:\n  \(end)"
  }

  /// What must have happened in so many steps: a fault that never occurs proves nothing.
  private static func expected(of steps: Int) -> [String] {
    if steps < 100_000 { return [] }
    let short = [
      "kills", "power losses", "kills between two effects of one event", "faults of the disk",
      "flushes that lied",
      "rows refused", "removals refused", "orders refused", "evictions", "opens of what was deleted",
      "files that a power loss took", "damaged files", "hosts that want to be left alone", "fresh addresses",
      "orders to leave",
    ]
    if steps < 1_000_000 { return short }
    return short + HostMood.allCases.map { "answers of a host that is \($0)" } + [
      "names that came back", "files whose checksums told what was lost", "evictions refused",
    ]
  }

  /// Runs seeds from `seed` on until `most` steps have been made, or three of them have failed.
  static func many(from first: UInt64, steps most: Int, fail: (String) -> Void) -> String {
    var (seed, steps, failures) = (first, 0, 0)
    var facts: [String: Int] = [:]
    var trace: UInt64 = 0
    while steps < most && failures < 3 {
      let run = SimulationRun(seed: seed)
      steps += run.steps
      trace = trace &* 31 &+ run.trace
      for (fact, count) in run.facts {
        let before = facts[fact] ?? 0
        facts[fact] = fact.hasPrefix("most ") ? max(before, count) : before + count
      }
      if run.failure != nil {
        failures += 1
        fail(run.report(seed: seed))
      }
      seed += 1
    }
    let missing = expected(of: steps).filter { facts[$0] ?? 0 == 0 }
    if failures == 0 && !missing.isEmpty { fail("in \(steps) steps there were none of: \(missing)") }
    let list = facts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    return "\(seed - first) seeds, \(steps) steps, trace \(trace); \(list)"
  }
}
