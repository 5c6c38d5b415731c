internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// The kernel's numbers of nodes. They are the nodes' own, except for directories that rename(2) has turned into others.
///
/// rename(2) keeps a directory's number in the kernel: a search's result that was moved to the subscriptions keeps the
/// number of the result, also for programs that work in it. A number stands for one directory only: when the result comes
/// back in its search, the subscription gets its own number.
final class KernelNumbers: Sendable {
  private struct State {
    var inward: [NodeID: NodeID] = [:]
    var outward: [NodeID: NodeID] = [:]
    /// Where each is in the mount's memory, by the kernel's number.
    var records: [NodeID: Int] = [:]
    /// By the kernel's number: when a folder came back under it, in nanoseconds since 1970.
    var generations: [UInt64: UInt64] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  /// - Parameter records: what a process before has left in the memory.
  init(memory: HandoverMemory?, _ records: [HandoverMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records where record.kind == .movedNode {
      let (number, node) = (NodeID(rawValue: record.values[0]), NodeID(rawValue: record.values[1]))
      state.inward[number] = node
      state.outward[node] = number
      state.records[number] = record.index
    }
    self.state = Monitor(state)
  }

  /// From now on the kernel's number of `node` stands for `other`.
  func move(_ node: NodeID, to other: NodeID) {
    let known = state.withLock { state in
      state.inward[node] = other
      state.outward[other] = node
      return state.records[node]
    }
    if let known {
      memory?.set(known, 1, to: other.rawValue)
    } else if let record = memory?.add(.movedNode, [node.rawValue, other.rawValue]) {
      state.withLock { $0.records[node] = record }
    }
  }

  func node(_ number: UInt64) -> NodeID {
    let node = NodeID(rawValue: number)
    if !node.isMovable { return node }
    return state.withLock { $0.inward[node] ?? node }
  }

  func number(_ node: NodeID) -> UInt64 {
    if !node.isMovable { return node.rawValue }
    return state.withLock { $0.outward[node] ?? node }.rawValue
  }

  /// A node has a name of its own again, or none any more.
  /// - Returns: the one that had its number.
  func release(_ node: NodeID) -> NodeID? {
    state.withLock { state in
      guard let other = state.inward.removeValue(forKey: node) ?? state.outward[node].map({ _ in node })
      else {
        return nil
      }
      let number = state.outward.removeValue(forKey: other) ?? node
      state.inward[number] = nil
      if let record = state.records.removeValue(forKey: number) { memory?.remove(record) }
      return other
    }
  }

  /// A folder comes back under a number of which the kernel has an ended directory, or one in another place: as another
  /// generation (`fuse_entry_param`), or else the kernel would find that directory.
  func renew(_ number: UInt64) {
    state.withLock { $0.generations[number] = UInt64(max(0, FileTime.now.sinceEpoch)) }
  }

  func generation(of number: UInt64) -> UInt64 { state.withLock { $0.generations[number] ?? 0 } }

  var count: Int { state.withLock { $0.inward.count } }
}

extension NodeID {
  fileprivate var isMovable: Bool { kind == .result || kind == .subscription }
}
