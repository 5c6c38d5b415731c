internal import PosixKit

/// The blocks that a map says are there, as ranges of block numbers.
struct LiveMapBlocks {
  let memory: SharedMemory
  let header: Int

  /// Calls `body` with each run of blocks before block `end`, in order.
  func forEach(upTo end: Int64, _ body: (Range<Int64>) -> Void) {
    var start: Int64?
    var block: Int64 = 0
    while block < end {
      let bits = memory.load(header / 8 + Int(block / 64))
      // Whole words at once: most are all or nothing.
      if block % 64 == 0, end - block >= 64, bits == 0 || bits == .max {
        if bits == 0, let from = start {
          body(from..<block)
          start = nil
        } else if bits != 0, start == nil {
          start = block
        }
        block += 64
        continue
      }
      if bits >> UInt64(block % 64) & 1 == 1 {
        if start == nil { start = block }
      } else if let from = start {
        body(from..<block)
        start = nil
      }
      block += 1
    }
    if let start { body(start..<end) }
  }
}
