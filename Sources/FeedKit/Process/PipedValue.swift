package import PodcastModel
package import PosixKit

/// A value that goes through a pipe from one process to another: its bytes behind their number. The writer is not trusted.
package enum PipedValue {
  private static let piece = 1 << 16

  package static func write(_ value: some BinaryValue, to descriptor: Int32) throws(PosixError) {
    let bytes = value.encoded
    for part in [UInt32(clamping: bytes.count).encoded, bytes] {
      try part.withBytes { all throws(PosixError) in try writeFully(descriptor, all) }
    }
  }

  /// - Parameter limit: the most bytes that are taken.
  /// - Returns: nil where they are no such value, or do not come in time.
  package static func read<Value: BinaryValue>(
    from descriptor: Int32, limit: Int, until deadline: MonotonicTime = .distantFuture
  ) -> Value? {
    guard let header = bytes(4, from: descriptor, until: deadline),
      let count = try? UInt32(decoding: header[...]), count <= limit,
      let rest = bytes(Int(count), from: descriptor, until: deadline)
    else { return nil }
    return try? Value(decoding: rest[...])
  }

  /// Takes no more memory than there are bytes.
  private static func bytes(_ count: Int, from descriptor: Int32, until deadline: MonotonicTime) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let room = min(piece, count - bytes.count)
      let taken = withUnsafeTemporaryAllocation(byteCount: room, alignment: 8) { buffer in
        let taken = readWaiting(descriptor, into: buffer, until: deadline)
        bytes.append(contentsOf: buffer[..<max(taken, 0)])
        return taken
      }
      if taken <= 0 { return nil }
    }
    return bytes
  }
}
