internal import PosixKit

/// The directories that the kernel knows, by the numbers that it has for them (`KernelNumbers`), each as often as it
/// was given: what nobody knows nobody watches.
final class KnownDirectories: Sendable {
  private struct State {
    var counts: [UInt64: UInt64] = [:]
    /// Where each is in the mount's memory.
    var records: [UInt64: Int] = [:]
  }
  private let state: Monitor<State>
  private let memory: LastingMemory?

  /// - Parameter records: what a process before has left in the memory.
  init(memory: LastingMemory?, _ records: [LastingMemory.Record]) {
    self.memory = memory
    var state = State()
    for record in records where record.kind == .knownDirectory {
      state.counts[record.values[0]] = record.values[1]
      state.records[record.values[0]] = record.index
    }
    self.state = Monitor(state)
  }

  var count: Int { state.withLock { $0.counts.count } }
  var all: [UInt64] { state.withLock { Array($0.counts.keys) } }

  func note(_ number: UInt64) {
    state.withLock { state in
      let count = (state.counts[number] ?? 0) + 1
      state.counts[number] = count
      if let record = state.records[number] {
        memory?.set(record, 1, to: count)
      } else {
        state.records[number] = memory?.add(.knownDirectory, [number, count])
      }
    }
  }

  /// - Returns: whether the kernel knows it no longer.
  func forget(_ number: UInt64, _ count: UInt64) -> Bool {
    state.withLock { state in
      guard let known = state.counts[number] else { return false }
      if known > count {
        state.counts[number] = known - count
        if let record = state.records[number] { memory?.set(record, 1, to: known - count) }
        return false
      }
      state.counts[number] = nil
      if let record = state.records.removeValue(forKey: number) { memory?.remove(record) }
      return true
    }
  }

  /// The root is never looked up.
  func contains(_ number: UInt64) -> Bool { number == 1 || state.withLock { $0.counts[number] != nil } }
}
