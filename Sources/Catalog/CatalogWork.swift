internal import PosixKit

/// Sees to it that a completion is called exactly once, and that what was cancelled writes nothing.
final class CatalogWork<Value: Sendable>: Cancellable {
  typealias Completion = @Sendable (Result<Value, CatalogError>) -> Void

  private struct State: ~Copyable {
    var completion: Completion?
    var isCommitting = false
    var cancellations: [@Sendable () -> Void] = []
  }
  private let state: Monitor<State>
  private let registry: TaskRegistry

  /// Ends as cancelled at once where the catalogue is closed.
  init(_ registry: TaskRegistry, _ completion: @escaping Completion) {
    self.registry = registry
    state = Monitor(State(completion: completion))
    if !registry.add(self) { cancel() }
  }

  /// Calls the completion, unless it was called before.
  func finish(_ result: Result<Value, CatalogError>) {
    let completion = state.withLock { state in
      let completion = state.completion
      state.completion = nil
      state.cancellations = []
      return completion
    }
    registry.remove(self)
    completion?(result)
  }

  /// Whether the result may be written: from then on it can't be cancelled.
  func beginCommit() -> Bool {
    state.withLock { state in
      guard state.completion != nil else { return false }
      state.isCommitting = true
      return true
    }
  }

  /// What is to be ended when this is cancelled; at once where it has been.
  func onCancel(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.completion != nil { state.cancellations.append(body) }
      return state.completion == nil
    }
    if isOver { body() }
  }

  func cancel() {
    let (completion, bodies): (Completion?, [@Sendable () -> Void]) = state.withLock { state in
      if state.isCommitting { return (nil, []) }
      let taken = (state.completion, state.cancellations)
      state.completion = nil
      state.cancellations = []
      return taken
    }
    guard let completion else { return }
    registry.remove(self)
    completion(.failure(.cancelled))
    for body in bodies { body() }
  }
}
