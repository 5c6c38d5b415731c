internal import MountHandover
internal import PodcastTree
internal import PosixKit

/// How often the kernel's directory for a number has ended: that of a folder of `Downloaded/` by rmdir(2), that of a
/// search's result where rename(2) moved it in the kernel only. The folder comes back under the same number, as another
/// generation (`fuse_entry_param`). Else the kernel would find the directory that has ended, or fail with ESTALE because
/// it has that directory in another place.
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

  /// - Parameter number: the kernel's.
  subscript(number: UInt64) -> UInt64 {
    let node = NodeID(rawValue: number)
    guard node.kind == .downloadedPodcast || node.kind == .result else { return 0 }
    return state.withLock { $0.counts[node] ?? 0 }
  }

  /// The generation of a folder that has just gone.
  func last(of number: UInt64) -> UInt64 {
    NodeID(rawValue: number).kind == .downloadedPodcast ? max(self[number], 1) - 1 : self[number]
  }

  func end(_ number: UInt64) {
    let node = NodeID(rawValue: number)
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
