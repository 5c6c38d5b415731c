internal import PosixKit

/// Whether this process is at the full-text index: once at a time.
final class IndexingState: Sendable {
  private struct State: ~Copyable {
    var isRunning = false
    var isStopped = false
  }
  private let state = Monitor(State())

  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// - Returns: whether it may begin.
  func begin() -> Bool {
    state.withLock { state in
      if state.isRunning || state.isStopped { return false }
      state.isRunning = true
      return true
    }
  }

  func end() { state.withLock { $0.isRunning = false } }

  func stop() { state.withLock { $0.isStopped = true } }
}
