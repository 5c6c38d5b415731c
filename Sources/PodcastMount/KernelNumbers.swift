internal import PodcastTree
internal import PosixKit

/// The numbers that the kernel has for nodes: a node's own, but for directories that rename(2) has made another.
///
/// The kernel moves a directory with its number: a search's result that was moved to the subscriptions keeps the result's
/// number, so that a program that works in it stays there. Each number stands for one directory only: where the result comes
/// back in its search, the subscription gets its own number. The next process begins without these numbers.
final class KernelNumbers: Sendable {
  private struct State {
    var inward: [NodeID: NodeID] = [:]
    var outward: [NodeID: NodeID] = [:]
  }
  private let state = Monitor(State())

  /// From now on the kernel's number of `node` stands for `other`.
  func move(_ node: NodeID, to other: NodeID) {
    state.withLock { state in
      state.inward[node] = other
      state.outward[other] = node
    }
  }

  func node(_ number: UInt64) -> NodeID {
    let node = NodeID(rawValue: number)
    return node.isMovable ? state.withLock { $0.inward[node] ?? node } : node
  }

  func number(_ node: NodeID) -> UInt64 {
    (node.isMovable ? state.withLock { $0.outward[node] ?? node } : node).rawValue
  }

  /// A node has a name of its own again, or none any more.
  /// - Returns: the one that had its number.
  func release(_ node: NodeID) -> NodeID? {
    state.withLock { state in
      guard let other = state.inward.removeValue(forKey: node) ?? state.outward[node].map({ _ in node })
      else { return nil }
      state.inward[state.outward.removeValue(forKey: other) ?? node] = nil
      return other
    }
  }

  var count: Int { state.withLock { $0.inward.count } }
}

extension NodeID {
  fileprivate var isMovable: Bool { kind == .result || kind == .subscription }
}
