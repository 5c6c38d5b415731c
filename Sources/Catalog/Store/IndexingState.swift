internal import PosixKit

/// Whether this process is at the full-text index: once at a time.
final class IndexingState: Sendable {
  private struct State: ~Copyable {
    var isRunning = false
    /// Something has come meanwhile.
    var isWantedAgain = false
    var isStopped = false
  }
  private let state = Monitor(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// - Returns: whether it may begin.
  func begin() -> Bool {
    state.withLock { state in
      if state.isRunning { state.isWantedAgain = true }
      if state.isRunning || state.isStopped { return false }
      state.isRunning = true
      return true
    }
  }

  /// - Returns: whether to go on: more has come since it began.
  func end() -> Bool {
    state.withLock { state in
      defer { state.isWantedAgain = false }
      state.isRunning = state.isWantedAgain && !state.isStopped
      return state.isRunning
    }
  }

  func stop() { state.withLock { $0.isStopped = true } }
}
