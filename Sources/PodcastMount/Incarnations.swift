internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// How often folders have gone that come back under the same number: those of `Downloaded/`. rmdir(2) ends a directory for
/// good; as long as somebody is in it, the kernel would find the same one, ended and empty, for who looks its name up
/// again. So it is another generation each time (`fuse_entry_param`).
final class Incarnations: Sendable {
  private struct State {
    var counts: [NodeID: UInt64] = [:]
    /// Where each is in the mount's memory.
    var records: [NodeID: Int] = [:]
  }
  private let state: Monitor<State>
  private let memory: HandoverMemory?

  /// - Parameter records: what a process before has left in the memory.
  init(memory: HandoverMemory?, _ records: [HandoverMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records where record.kind == .endedDirectory {
      state.counts[NodeID(rawValue: record.values[0])] = record.values[1]
      state.records[NodeID(rawValue: record.values[0])] = record.index
    }
    self.state = Monitor(state)
  }

  subscript(node: NodeID) -> UInt64 {
    node.kind == .downloadedPodcast ? state.withLock { $0.counts[node] ?? 0 } : 0
  }

  /// What the folder was that has gone last.
  func last(of node: NodeID) -> UInt64 { max(self[node], 1) - 1 }

  func end(_ node: NodeID) {
    guard node.kind == .downloadedPodcast else { return }
    state.withLock { state in
      let count = (state.counts[node] ?? 0) + 1
      state.counts[node] = count
      if let record = state.records[node] {
        memory?.set(record, 1, to: count)
      } else {
        state.records[node] = memory?.add(.endedDirectory, [node.rawValue, count])
      }
    }
  }
}
