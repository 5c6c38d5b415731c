package enum Limits {
  /// Readers see whole blocks of this size (the live map's).
  package static let block: Int64 = 4096
  /// The largest file that the cache can hold.
  package static let largestFile: Int64 = 32 << 30
  /// Writes end at multiples of this: smaller or odd ones cost the kernel twice.
  package static let alignment: Int64 = 256 << 10
  package static let largestWrite: Int64 = 1 << 20
  /// What the kernel asks for when a file's first byte is read (its read-ahead).
  package static let beginning: Int64 = 128 << 10
  /// What a response may bring that is not on its way to the disk yet, all of them together.
  package static let held: Int64 = 8 << 20
  /// What one may, where there are few, and where there are many.
  package static let heldEach = (most: Int64(2 << 20), least: Int64(128 << 10))
  /// Bytes written after which they are brought to the disk: what a crash of the machine may cost.
  package static let flushAfter: Int64 = 4 << 20
  /// Hosts of which something is remembered.
  package static let hosts = 1024
  /// Rounds in which what follows from changes is looked at, before others get their turn.
  package static let rounds = 8

  /// The whole blocks that a range touches.
  package static func blocks(of range: Range<Int64>) -> Range<Int64> {
    if range.isEmpty { return range }
    let last = (range.upperBound - 1) / block * block
    return range.lowerBound / block * block..<(last > .max - block ? .max : last + block)
  }
}

extension Range<Int64> {
  package var length: Int64 { upperBound - lowerBound }
}
