/// Cuts what comes over a socket into frames.
package struct FrameBuffer: Sendable {
  private var bytes: [UInt8] = []
  private var start = 0

  package init() {}

  package mutating func append(_ piece: some Collection<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes.append(contentsOf: piece)
  }

  /// The next whole message; nil where it has not come yet.
  package mutating func next<M: FramedMessage>() throws(FrameError) -> M? {
    guard bytes.count - start >= 4 else { return nil }
    let length = Int(
      bytes[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    guard length <= FrameWriter.longest else { throw .tooLong }
    guard bytes.count - start >= 4 + length else { return nil }
    defer { start += 4 + length }
    return try FrameReader.message(bytes[start + 4..<start + 4 + length])
  }
}
