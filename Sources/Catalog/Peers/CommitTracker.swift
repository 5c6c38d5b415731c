/// Which commits have been heard of: messages of several processes may come out of order.
struct CommitTracker: Sendable {
  /// All up to this one have been.
  private var all: Int64 = 0
  private var beyond: Set<Int64> = []

  /// Forgets what was: all up to `commit` count as heard of.
  mutating func start(at commit: Int64) {
    all = max(all, commit)
    beyond = beyond.filter { $0 > all }
    advance()
  }

  mutating func note(_ commit: Int64) {
    if commit > all { beyond.insert(commit) }
    advance()
  }

  /// Whether a commit up to `commit` has not been heard of.
  func isMissing(before commit: Int64) -> Bool { all < commit }

  private mutating func advance() {
    while beyond.remove(all + 1) != nil { all += 1 }
  }
}
