internal import PosixKit

/// What is under way, so that closing the catalogue ends it.
final class TaskRegistry: Sendable {
  private struct State: ~Copyable {
    var tasks: [ObjectIdentifier: any Cancellable] = [:]
    var isClosed = false
  }
  private let state = Monitor(State())

  /// - Returns: false where nothing may begin any more.
  func add(_ task: any Cancellable) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.tasks[ObjectIdentifier(task)] = task }
      return !state.isClosed
    }
  }

  func remove(_ task: any Cancellable) {
    state.withLock { $0.tasks[ObjectIdentifier(task)] = nil }
  }

  /// Ends all; what is being written just now ends by itself.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }
}
