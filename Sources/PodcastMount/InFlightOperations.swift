internal import PodcastTree
internal import PosixKit

/// The kernel's requests that have not been answered yet and for which it holds folders locked: see
/// Documentation/Internals/in-flight.md.
final class InFlightOperations: Sendable {
  struct Operation: Sendable {
    /// The folders that the kernel has locked.
    let folders: [NodeID]
    /// The name that a rename, unlink or rmdir takes out of the first folder.
    private let removed: String?
    /// The name that a rename, mkdir, link or create puts into the last folder.
    private let made: String?

    init(_ folders: NodeID..., removing: String? = nil, making: String? = nil) {
      (self.folders, removed, made) = (folders, removing, making)
    }

    fileprivate func makes(_ name: Difference.Name) -> Bool {
      switch name.event {
      case .vanished: name.name == removed && name.directory == folders.first
      case .appeared: name.name == made && name.directory == folders.last
      case .replaced: false
      }
    }
  }
  private struct State {
    var last = 0
    var operations: [Int: Operation] = [:]
  }
  private let state = Monitor(State())

  /// `answer`, with the operation in the table from its start to its end.
  func during<Value: Sendable>(_ operation: Operation, _ answer: Answer<Value>) -> Answer<Value> {
    guard case .pending(let start) = answer else { return answer }
    return .pending { cancellation, completion in
      let number = self.state.withLock { state in
        state.last += 1
        state.operations[state.last] = operation
        return state.last
      }
      start(cancellation) { result in
        self.state.withLock { _ = $0.operations.removeValue(forKey: number) }
        completion(result)
      }
    }
  }

  func holds(_ folder: NodeID) -> Bool {
    state.withLock { $0.operations.values.contains { $0.folders.contains(folder) } }
  }

  /// Those of the names that the kernel does not make or remove itself at this moment.
  func others(of names: [Difference.Name]) -> [Difference.Name] {
    let operations = state.withLock { Array($0.operations.values) }
    return names.filter { name in !operations.contains { $0.makes(name) } }
  }

  var count: Int { state.withLock { $0.operations.count } }
}
