internal import Glibc
internal import PosixKit

/// Who may write first.
enum WriteRank: Sendable {
  /// What a user has done, or waits for.
  case verb
  /// What came of a refresh: waits while a verb of any process is waiting.
  case refresh
}

/// Lets those who want to write do so one after the other: verbs before refreshes, and each kind in the order in
/// which they came. SQLite's own lock, which the processes share, knows no order: a verb therefore also holds a
/// lock on a file (flock(2), shared) from when it begins to wait, and a refresh does not begin while any does.
final class WriteOrder: Sendable {
  private struct State: ~Copyable {
    var isBusy = false
    var nextTicket = 0
    var verbs: [Int] = []
    var refreshes: [Int] = []
  }

  private let state = Monitor(State())
  /// Its lock is held while `state.verbs` has any; nil where there is no such file.
  private let gate: FileDescriptor?
  private let path: String

  /// How long a refresh lets verbs of other processes go first, in seconds: one of them may hang.
  private static let patience = 5.0
  private static let pause = 0.002

  /// - Parameter path: the file with the lock, made where it is missing.
  init(gate path: String) {
    self.path = path
    gate = try? FileDescriptor(opening: path, O_RDWR | O_CREAT, mode: 0o600)
  }

  func run<R>(_ rank: WriteRank, _ body: () throws -> R) rethrows -> R {
    enter(rank)
    defer { leave(rank) }
    return try body()
  }

  private func enter(_ rank: WriteRank) {
    let (ticket, isFirstVerb) = state.withLock { state in
      state.nextTicket += 1
      switch rank {
      case .verb: state.verbs.append(state.nextTicket)
      case .refresh: state.refreshes.append(state.nextTicket)
      }
      return (state.nextTicket, rank == .verb && state.verbs.count == 1)
    }
    if isFirstVerb { _ = gate?.tryLock(.shared) }
    if rank == .refresh { waitForOthers() }
    let _: Bool? = state.wait { state in
      let next = state.verbs.first ?? state.refreshes.first
      guard !state.isBusy, next == ticket else { return nil }
      state.isBusy = true
      return true
    }
  }

  private func leave(_ rank: WriteRank) {
    let wasLastVerb = state.withLockNotifying { state in
      state.isBusy = false
      switch rank {
      case .verb: state.verbs.removeFirst()
      case .refresh: state.refreshes.removeFirst()
      }
      return rank == .verb && state.verbs.isEmpty
    }
    if wasLastVerb { gate?.unlock() }
  }

  /// Waits until no verb of another process waits.
  private func waitForOthers() {
    let deadline = MonotonicTime.after(Self.patience)
    while MonotonicTime.now < deadline {
      // An open file of its own. Where this process's verbs hold the lock, the order here lets them go first.
      guard let probe = try? FileDescriptor(opening: path, O_RDWR) else { return }
      if probe.tryLock(.exclusive) || state.withLock({ !$0.verbs.isEmpty }) { return }
      usleep(UInt32(Self.pause * 1_000_000))
    }
  }
}
