internal import PosixKit

/// How far the observers of this process have seen the commits, and who waits for that. Observers end in any
/// order and on any thread.
struct CommitsSeen: ~Copyable {
  /// Commits that were handed to the observers and are not wholly seen: how many observers each still waits for.
  private var open: [Int64: Int] = [:]
  /// The last commit that was handed over.
  private(set) var delivered: Int64 = 0
  private var waiting: [(commit: Int64, body: Callback<Void>)] = []

  /// All commits up to this one have been seen by all observers.
  var seen: Int64 { open.keys.min().map { $0 - 1 } ?? delivered }

  /// Commits up to this one are from before anybody observed.
  mutating func start(at commit: Int64) { delivered = max(delivered, commit) }

  mutating func deliver(_ commit: Int64, observers: Int) {
    delivered = max(delivered, commit)
    if observers > 0 { open[commit] = observers }
  }

  /// One observer has seen a commit.
  /// - Returns: who need not wait any longer.
  mutating func done(_ commit: Int64) -> [Callback<Void>] {
    guard let left = open[commit] else { return [] }
    open[commit] = left > 1 ? left - 1 : nil
    return ready()
  }

  mutating func wait(for commit: Int64, _ body: Callback<Void>) -> [Callback<Void>] {
    waiting.append((commit, body))
    return ready()
  }

  /// - Returns: who need not wait any longer.
  mutating func ready() -> [Callback<Void>] {
    let seen = seen
    let ready = waiting.filter { $0.commit <= seen }.map(\.body)
    if !ready.isEmpty { waiting.removeAll { $0.commit <= seen } }
    return ready
  }

  /// - Returns: all who wait.
  mutating func end() -> [Callback<Void>] {
    defer { waiting = [] }
    return waiting.map(\.body)
  }
}
