internal import PodcastModel
internal import PosixKit

/// Reads what a `RecordWriter` wrote. The writer is not trusted: whatever the file holds gives values or an error,
/// and takes no more memory than the file is long.
struct RecordReader {
  /// The file does not hold what it should.
  struct Damaged: Error {}

  private let file: TextFile
  /// Of whom still writes the file.
  private let progress: HelperProgress?
  /// In bytes, as far as the file is known.
  private var size: Int64
  private var buffer: [UInt8] = []
  private var position = 0
  /// Where in the file the buffer ends.
  private var bufferEnd: Int64 = 0
  private static let pieceSize = 1 << 18

  /// - Parameter progress: of whom still writes the file; nil where it is whole.
  init(_ file: TextFile, progress: HelperProgress? = nil) throws(Damaged) {
    self.file = file
    self.progress = progress
    size = file.size
  }

  /// Waits until the file is so long, where it is still written.
  private mutating func arrive(size wanted: Int64) throws(Damaged) {
    while size < wanted {
      let isWritten = progress?.wait() ?? false
      size = file.size
      if size < wanted, !isWritten { throw Damaged() }
    }
  }

  /// Where the next value begins in the file.
  private var offset: Int64 { bufferEnd - Int64(buffer.count - position) }

  mutating func number() throws(Damaged) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      let byte = try byte()
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    throw Damaged()
  }

  mutating func signed() throws(Damaged) -> Int64 {
    let value = try number()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  mutating func flag() throws(Damaged) -> Bool { try byte() != 0 }

  mutating func text() throws(Damaged) -> String {
    let count = try length()
    try fill(count)
    defer { position += count }
    return String(decoding: buffer[position..<position + count], as: UTF8.self)
  }

  mutating func address() throws(Damaged) -> WebAddress { WebAddress(try text()) }

  /// A long text, which stays in the file where it does not fit into `room` bytes of memory.
  mutating func spooledText(room: inout Int) throws(Damaged) -> SpooledText {
    let count = try length()
    if count <= room {
      room -= count
      try fill(count)
      defer { position += count }
      return SpooledText(String(decoding: buffer[position..<position + count], as: UTF8.self))
    }
    try arrive(size: offset + Int64(count))
    let text = SpooledText(in: file, offset: offset, length: count)
    if count <= buffer.count - position {
      position += count
    } else {
      bufferEnd = offset + Int64(count)
      buffer.removeAll(keepingCapacity: true)
      position = 0
    }
    return text
  }

  mutating func optional<Value>(
    _ body: (inout RecordReader) throws(Damaged) -> Value
  ) throws(Damaged) -> Value? {
    try flag() ? try body(&self) : nil
  }

  mutating func list<Value>(
    _ body: (inout RecordReader) throws(Damaged) -> Value
  ) throws(Damaged) -> [Value] {
    let count = try length()
    var list: [Value] = []
    list.reserveCapacity(min(count, 65_536))
    for _ in 0..<count { list.append(try body(&self)) }
    return list
  }

  /// A length: nothing is longer than what is left of the file.
  private mutating func length() throws(Damaged) -> Int {
    guard let length = Int32(exactly: try number()) else { throw Damaged() }
    try arrive(size: offset + Int64(length))
    return Int(length)
  }

  private mutating func byte() throws(Damaged) -> UInt8 {
    if position == buffer.count { try fill(1) }
    defer { position += 1 }
    return buffer[position]
  }

  /// Sees to it that `count` bytes are in the buffer.
  private mutating func fill(_ count: Int) throws(Damaged) {
    let kept = buffer.count - position
    if kept >= count { return }
    buffer.removeFirst(position)
    position = 0
    try arrive(size: bufferEnd + Int64(count - kept))
    let wanted = max(count - kept, min(Self.pieceSize, Int(size - bufferEnd)))
    let piece = file.bytes(bufferEnd, wanted)
    bufferEnd += Int64(piece.count)
    buffer += piece
    if buffer.count < count { throw Damaged() }
  }
}
