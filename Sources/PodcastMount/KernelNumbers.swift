internal import PodcastTree
internal import PosixKit

/// What the kernel's numbers of nodes stand for: the nodes themselves. Two cases need a note.
final class KernelNumbers: Sendable {
  private struct State {
    /// A search's result that rename(2) has moved to the subscriptions. The kernel keeps the result's number for the folder
    /// until it looks the name up again, and longer for programs that work in the folder.
    var moved: [NodeID: NodeID] = [:]
    /// When a folder came back under its number, in nanoseconds since 1970.
    var generations: [NodeID: UInt64] = [:]
  }
  private let state = Monitor(State())

  func move(_ result: NodeID, to subscription: NodeID) { state.withLock { $0.moved[result] = subscription } }

  func restore(_ result: NodeID) { state.withLock { $0.moved[result] = nil } }

  func node(_ number: UInt64) -> NodeID {
    let node = NodeID(rawValue: number)
    return node.kind == .result ? state.withLock { $0.moved[node] ?? node } : node
  }

  /// A folder comes back under a number of which the kernel has an ended directory, or one in another place: as another
  /// generation (`fuse_entry_param`), or else the kernel would find that directory.
  func renew(_ node: NodeID) {
    state.withLock { $0.generations[node] = UInt64(max(0, FileTime.now.sinceEpoch)) }
  }

  func generation(of node: NodeID) -> UInt64 { state.withLock { $0.generations[node] ?? 0 } }
}
