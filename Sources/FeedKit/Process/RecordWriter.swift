internal import PodcastModel
internal import PosixKit

/// Writes values one after the other into a file, compactly: numbers as LEB128, texts with their length before
/// them.
struct RecordWriter {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private static let pieceSize = 1 << 16
  /// How many pieces have been written.
  private(set) var pieces = 0

  init(descriptor: Int32) {
    self.descriptor = descriptor
    buffer.reserveCapacity(Self.pieceSize + 65_536)
  }

  mutating func write(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(rest))
  }

  /// Numbers about 0 are short, whatever their sign.
  mutating func write(_ number: Int64) { write(UInt64(bitPattern: number << 1 ^ number >> 63)) }

  mutating func write(_ flag: Bool) { buffer.append(flag ? 1 : 0) }

  mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      write(UInt64(bytes.count))
      buffer.append(contentsOf: bytes)
    }
  }

  mutating func write(_ address: WebAddress) { write(address.forRequest) }

  mutating func write<Value>(_ value: Value?, _ body: (inout RecordWriter, Value) -> Void) {
    write(value != nil)
    if let value { body(&self, value) }
  }

  mutating func write<Value>(_ list: [Value], _ body: (inout RecordWriter, Value) throws(PosixError) -> Void)
    throws(PosixError)
  {
    write(UInt64(list.count))
    for value in list {
      try body(&self, value)
      try flushPiece()
    }
  }

  /// Writes what has not been written yet, where that is much.
  mutating func flushPiece() throws(PosixError) { if buffer.count > Self.pieceSize { try flush() } }

  /// Writes what has not been written yet.
  mutating func flush() throws(PosixError) {
    try buffer.withUnsafeBufferPointer { bytes throws(PosixError) in
      try writeFully(descriptor, UnsafeRawBufferPointer(bytes))
    }
    buffer.removeAll(keepingCapacity: true)
    pieces += 1
  }
}
