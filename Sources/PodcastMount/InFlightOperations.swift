internal import PodcastTree
internal import PosixKit

/// The kernel's requests that have not been answered yet and for which it holds folders locked: see
/// Documentation/Internals/in-flight.md.
final class InFlightOperations: Sendable {
  /// A name that appears or vanishes when the operation succeeds.
  struct Name: Hashable, Sendable {
    let name: String
    let folder: NodeID
    let event: Difference.Event
  }
  struct Operation: Sendable {
    /// The folders that the kernel has locked.
    let folders: [NodeID]
    private(set) var names: [Name]

    /// - Parameters:
    ///   - removing: a name that vanishes from the first folder.
    ///   - making: a name that appears in the last one.
    init(_ folders: NodeID..., removing: String? = nil, making: String? = nil) {
      self.folders = folders
      names = removing.map { [Name(name: $0, folder: folders[0], event: .vanished)] } ?? []
      names += making.map { [Name(name: $0, folder: folders[folders.count - 1], event: .appeared)] } ?? []
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
    let own = state.withLock { $0.operations.values.flatMap(\.names) }
    if own.isEmpty { return names }
    return names.filter { !own.contains(Name(name: $0.name, folder: $0.directory, event: $0.event)) }
  }

  var count: Int { state.withLock { $0.operations.count } }
}
