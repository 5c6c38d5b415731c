internal import PosixKit

/// Sees to it that a completion is called exactly once, and that what was cancelled writes nothing.
final class CatalogWork<Value: Sendable>: Cancellable {
  typealias Completion = @Sendable (Result<Value, CatalogError>) -> Void

  private struct State: ~Copyable {
    var completion: Completion?
    var isCommitting = false
    var cancellations: [@Sendable () -> Void] = []

    mutating func end() -> (completion: Completion?, cancellations: [@Sendable () -> Void]) {
      defer { (completion, cancellations) = (nil, []) }
      return (completion, cancellations)
    }
  }
  private let state: Monitor<State>
  private let registry: TaskRegistry

  /// Ends as cancelled at once where the catalogue is closed.
  init(_ registry: TaskRegistry, _ completion: @escaping Completion) {
    self.registry = registry
    state = Monitor(State(completion: completion))
    if !registry.add(self) { cancel() }
  }

  var isOver: Bool { state.withLock { $0.completion == nil } }

  func finish(_ result: Result<Value, CatalogError>) {
    let completion = state.withLock { $0.end().completion }
    registry.remove(self)
    completion?(result)
  }

  /// - Throws: `cancelled` where the result is not to be written any more. From here on it can't be cancelled.
  func beginCommit() throws(CatalogError) {
    let mayCommit = state.withLock { state in
      state.isCommitting = state.completion != nil
      return state.isCommitting
    }
    if !mayCommit { throw .cancelled }
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
    let (completion, cancellations) = state.withLock { $0.isCommitting ? (nil, []) : $0.end() }
    guard let completion else { return }
    registry.remove(self)
    completion(.failure(.cancelled))
    for body in cancellations { body() }
  }
}

/// What is under way, so that closing the catalogue ends it.
final class TaskRegistry: Sendable {
  private struct State: ~Copyable {
    var tasks: [ObjectIdentifier: any Cancellable] = [:]
    var isClosed = false
  }
  private let state = Monitor(State())

  func add(_ task: any Cancellable) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.tasks[ObjectIdentifier(task)] = task }
      return !state.isClosed
    }
  }

  func remove(_ task: any Cancellable) { state.withLock { $0.tasks[ObjectIdentifier(task)] = nil } }

  /// Ends all; what is being written just now ends by itself.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }
}
