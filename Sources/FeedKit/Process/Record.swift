internal import Glibc
internal import PodcastModel
internal import PosixKit

/// A value that goes through a pipe between the parser's process and the one that asked. Its fields are listed once, for
/// writing and for reading.
protocol Recordable {
  /// What a reader begins with.
  init()
  /// Writes each field, or gives it the value that was read.
  mutating func code(_ record: inout Record) throws(RecordError)
}

/// The bytes are no record, they end too early, or they cannot be written.
struct RecordError: Error {}

/// Values one behind the other: numbers as LEB128, texts with their length before them. The writer is not trusted: any
/// bytes give values or an error, and take no more memory than there are bytes.
struct Record {
  private enum Direction {
    case writing
    case reading(until: MonotonicTime)
  }

  private let descriptor: Int32
  private let direction: Direction
  private var buffer: [UInt8] = []
  /// Where in the buffer the next value begins that is read.
  private var position = 0
  /// Bytes that may still come.
  private var room: Int
  private static let pieceSize = 1 << 16

  init(writingTo descriptor: Int32) {
    (self.descriptor, direction, room) = (descriptor, .writing, 0)
    buffer.reserveCapacity(Self.pieceSize * 2)
  }

  /// - Parameter limit: the most bytes that are taken.
  init(readingFrom descriptor: Int32, limit: Int, until deadline: MonotonicTime = .distantFuture) {
    (self.descriptor, direction, room) = (descriptor, .reading(until: deadline), limit)
  }

  fileprivate var isReading: Bool { if case .reading = direction { true } else { false } }

  fileprivate mutating func code(_ number: inout UInt64) throws(RecordError) {
    if isReading {
      number = 0
      for shift in stride(from: UInt64(0), to: 64, by: 7) {
        try fill(1)
        let byte = buffer[position]
        position += 1
        number |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return }
      }
      throw RecordError()
    }
    var rest = number
    while rest >= 0x80 {
      buffer.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    buffer.append(UInt8(rest))
  }

  fileprivate mutating func code(_ text: inout String) throws(RecordError) {
    var count = UInt64(text.utf8.count)
    try code(&count)
    if isReading {
      guard let count = Int(exactly: count) else { throw RecordError() }
      try fill(count)
      text = String(decoding: buffer[position..<position + count], as: UTF8.self)
      position += count
    } else {
      text.withUTF8 { buffer.append(contentsOf: $0) }
    }
  }

  /// A value of an enumeration, by its number.
  mutating func code<Value: RawRepresentable<UInt64>>(_ value: inout Value) throws(RecordError) {
    var number = value.rawValue
    try code(&number)
    guard let found = Value(rawValue: number) else { throw RecordError() }
    value = found
  }

  mutating func write(_ value: some Recordable) throws(RecordError) {
    var value = value
    try value.code(&self)
  }

  mutating func read<Value: Recordable>() throws(RecordError) -> Value {
    var value = Value()
    try value.code(&self)
    return value
  }

  /// Writes a mark, or makes sure that it is what comes.
  mutating func mark(_ mark: UInt64) throws(RecordError) {
    var number = mark
    try code(&number)
    if number != mark { throw RecordError() }
  }

  /// Hands on what has been written, where it is more than 64 KiB.
  mutating func flushPiece() throws(RecordError) { if buffer.count > Self.pieceSize { try flush() } }

  /// Hands on all that has been written.
  mutating func flush() throws(RecordError) {
    do { try buffer.withBytes { bytes throws(PosixError) in try writeFully(descriptor, bytes) } } catch {
      throw RecordError()
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Waits until `count` bytes are in the buffer.
  private mutating func fill(_ count: Int) throws(RecordError) {
    guard case .reading(let deadline) = direction, buffer.count - position < count else { return }
    guard count - (buffer.count - position) <= room else { throw RecordError() }
    buffer.removeFirst(position)
    position = 0
    while buffer.count < count {
      let piece = withUnsafeTemporaryAllocation(byteCount: min(Self.pieceSize, room), alignment: 8) { bytes in
        let count = readWaiting(descriptor, into: bytes, until: deadline)
        buffer.append(contentsOf: bytes[..<max(count, 0)])
        return count
      }
      if piece <= 0 { throw RecordError() }
      room -= piece
    }
  }
}

extension UInt64: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) { try record.code(&self) }
}

/// Numbers about 0 are short, whatever their sign.
extension Int64: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) {
    var number = UInt64(bitPattern: self << 1 ^ self >> 63)
    try record.code(&number)
    self = Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }
}

extension Int: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) {
    var number = Int64(self)
    try number.code(&record)
    self = Int(number)
  }
}

extension Bool: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) {
    var number: UInt64 = self ? 1 : 0
    try record.code(&number)
    self = number != 0
  }
}

extension String: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) { try record.code(&self) }
}

extension WebAddress: Recordable {
  init() { self.init("") }

  mutating func code(_ record: inout Record) throws(RecordError) {
    var text = forRequest
    try record.code(&text)
    self = WebAddress(text)
  }
}

extension Optional: Recordable where Wrapped: Recordable {
  init() { self = nil }

  mutating func code(_ record: inout Record) throws(RecordError) {
    var isThere = self != nil
    try isThere.code(&record)
    if !isThere { return self = nil }
    var value = self ?? Wrapped()
    try value.code(&record)
    self = value
  }
}

extension Array: Recordable where Element: Recordable {
  mutating func code(_ record: inout Record) throws(RecordError) {
    var count = UInt64(self.count)
    try record.code(&count)
    if record.isReading {
      for _ in 0..<count { append(try record.read()) }
    } else {
      for value in self { try record.write(value) }
    }
  }
}
