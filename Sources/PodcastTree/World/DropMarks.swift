internal import PosixKit

/// The episodes that are to be dropped when their last reader closes them, as the process that serves the mount next
/// needs to know it.
final class DropMarks: Sendable {
  private let memory: LastingMemory?
  /// Where each is in the memory.
  private let records: Monitor<[Int64: Int]>

  init(memory: LastingMemory?) {
    self.memory = memory
    let marks = (memory?.records ?? []).filter { $0.kind == .dropAtClose }
    records = Monitor(
      Dictionary(
        marks.map { (Int64(bitPattern: $0.values[0]), $0.index) }, uniquingKeysWith: { first, _ in first }))
  }

  var all: Set<Int64> { records.withLock { Set($0.keys) } }

  func insert(_ episode: Int64) {
    records.withLock { records in
      if records[episode] == nil {
        records[episode] = memory?.add(.dropAtClose, [UInt64(bitPattern: episode)])
      }
    }
  }

  func remove(_ episode: Int64) {
    if let record = records.withLock({ $0.removeValue(forKey: episode) }) { memory?.remove(record) }
  }
}
