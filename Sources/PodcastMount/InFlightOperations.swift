internal import PodcastTree
internal import PosixKit

/// The kernel's requests that have not been answered yet and for which it holds folders locked.
///
/// A call that waits for such a folder's lock waits for the request's answer. Names that the kernel makes or removes itself
/// need no notification: the kernel knows them, and tells watchers.
final class InFlightOperations: Sendable {
  /// A name that appears or vanishes when the operation succeeds.
  struct Name: Hashable, Sendable {
    let name: String
    let folder: NodeID
    let event: Difference.Event
  }
  struct Operation: Sendable {
    /// The folders that the kernel has locked.
    var folders: [NodeID]
    var names: [Name] = []

    static func looking(in folder: NodeID) -> Operation { Operation(folders: [folder]) }
    static func making(_ name: String, in folder: NodeID) -> Operation {
      Operation(folders: [folder], names: [Name(name: name, folder: folder, event: .appeared)])
    }
    static func removing(_ name: String, in folder: NodeID) -> Operation {
      Operation(folders: [folder], names: [Name(name: name, folder: folder, event: .vanished)])
    }
    static func renaming(
      _ name: String, in folder: NodeID, to newName: String, in newFolder: NodeID
    ) -> Operation {
      Operation(
        folders: [folder, newFolder],
        names: removing(name, in: folder).names + making(newName, in: newFolder).names)
    }
  }
  private struct State {
    /// How many operations hold a folder, or make or remove a name.
    var folders: [NodeID: Int] = [:]
    var names: [Name: Int] = [:]

    mutating func count(_ operation: Operation, _ step: Int) {
      for folder in operation.folders { Self.count(folder, step, in: &folders) }
      for name in operation.names { Self.count(name, step, in: &names) }
    }

    private static func count<Key>(_ key: Key, _ step: Int, in counts: inout [Key: Int]) {
      let count = (counts[key] ?? 0) + step
      counts[key] = count > 0 ? count : nil
    }
  }
  private let state = Monitor(State())

  /// `answer`, with the operation in the table from its start to its end.
  func during<Value: Sendable>(_ operation: Operation, _ answer: Answer<Value>) -> Answer<Value> {
    guard case .pending(let start) = answer else { return answer }
    return .pending { completion in
      self.state.withLock { $0.count(operation, 1) }
      return start { result in
        self.state.withLock { $0.count(operation, -1) }
        completion(result)
      }
    }
  }

  func holds(_ folder: NodeID) -> Bool { state.withLock { $0.folders[folder] != nil } }

  /// Those of the names that the kernel does not make or remove itself at this moment.
  func others(of names: [Difference.Name]) -> [Difference.Name] {
    state.withLock { state in
      if state.names.isEmpty { return names }
      return names.filter {
        state.names[Name(name: $0.name, folder: $0.directory, event: $0.event)] == nil
      }
    }
  }

  var count: Int { state.withLock { $0.folders.count } }
}
