/// A value as bytes, for sockets, pipes and files of our own: integers little-endian, texts and lists behind their count, and
/// a byte 0 or 1 before what may be missing.
@usableFromInline package protocol BinaryValue: Sendable {
  func encode(into bytes: inout [UInt8])
  init(from reader: inout BinaryReader) throws(BinaryError)
}

@usableFromInline package enum BinaryError: Error, Hashable, Sendable {
  /// Longer than its receiver takes.
  case tooLong
  case malformed
}

extension BinaryValue {
  @inlinable package var encoded: [UInt8] {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return bytes
  }

  @inlinable package init(decoding bytes: ArraySlice<UInt8>) throws(BinaryError) {
    var reader = BinaryReader(bytes)
    self = try reader.next()
    guard reader.isAtEnd else { throw .malformed }
  }
}

extension [UInt8] {
  @inlinable package mutating func put<each V: BinaryValue>(_ values: repeat each V) {
    repeat (each values).encode(into: &self)
  }
}

/// Takes values out of bytes that anybody may have made.
@usableFromInline package struct BinaryReader {
  @usableFromInline var rest: ArraySlice<UInt8>

  @inlinable package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
  @inlinable package var isAtEnd: Bool { rest.isEmpty }
  @inlinable package mutating func next<V: BinaryValue>() throws(BinaryError) -> V { try V(from: &self) }

  package mutating func make<each V: BinaryValue, R>(_ body: (repeat each V) -> R) throws(BinaryError) -> R {
    body(repeat try (each V)(from: &self))
  }

  @inlinable package mutating func take(_ count: Int) throws(BinaryError) -> ArraySlice<UInt8> {
    guard rest.count >= count else { throw .malformed }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

/// A value whose fields are listed once, for writing and for reading.
@usableFromInline package protocol FieldCoded: BinaryValue {
  /// What a reader begins with.
  init()
  /// Writes each field, or gives it the value that was read.
  mutating func code(_ fields: inout BinaryFields) throws(BinaryError)
}

@usableFromInline package struct BinaryFields {
  @usableFromInline var bytes: [UInt8] = []
  @usableFromInline var reader: BinaryReader
  @usableFromInline let isReading: Bool

  @inlinable init(reading reader: BinaryReader? = nil) {
    (self.reader, isReading) = (reader ?? BinaryReader([]), reader != nil)
  }

  @inlinable package mutating func code<V: BinaryValue>(_ value: inout V) throws(BinaryError) {
    if isReading { value = try reader.next() } else { value.encode(into: &bytes) }
  }

  @inlinable package mutating func code<A: BinaryValue, B: BinaryValue>(_ a: inout A, _ b: inout B)
    throws(BinaryError)
  {
    try code(&a)
    try code(&b)
  }

  @inlinable package mutating func code<A: BinaryValue, B: BinaryValue, C: BinaryValue>(
    _ a: inout A, _ b: inout B, _ c: inout C
  ) throws(BinaryError) {
    try code(&a, &b)
    try code(&c)
  }

  /// A text that is not cut, however long it is.
  @inlinable package mutating func code(long text: inout String?) throws(BinaryError) {
    if isReading { return text = try reader.next() }
    (text != nil).encode(into: &bytes)
    guard let text else { return }
    UInt32(text.utf8.count).encode(into: &bytes)
    bytes += text.utf8
  }
}

extension FieldCoded {
  @inlinable package func encode(into bytes: inout [UInt8]) {
    var (value, fields) = (self, BinaryFields())
    swap(&bytes, &fields.bytes)
    // Only reading can fail.
    try? value.code(&fields)
    swap(&bytes, &fields.bytes)
  }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    self.init()
    var fields = BinaryFields(reading: reader)
    try code(&fields)
    reader = fields.reader
  }
}

extension BinaryValue where Self: FixedWidthInteger {
  @inlinable package func encode(into bytes: inout [UInt8]) {
    withUnsafeBytes(of: littleEndian) { bytes.append(contentsOf: $0) }
  }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    let bytes = try reader.take(MemoryLayout<Self>.size)
    self = bytes.reversed().reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }
}

extension UInt8: BinaryValue {}
extension Int: BinaryValue {}
extension Int32: BinaryValue {}
extension UInt32: BinaryValue {}
extension Int64: BinaryValue {}
extension UInt64: BinaryValue {}

extension BinaryValue where Self: RawRepresentable, RawValue: BinaryValue {
  @inlinable package func encode(into bytes: inout [UInt8]) { rawValue.encode(into: &bytes) }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    guard let value = Self(rawValue: try reader.next()) else { throw .malformed }
    self = value
  }
}

extension Bool: BinaryValue {
  @inlinable package func encode(into bytes: inout [UInt8]) { bytes.append(self ? 1 : 0) }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    let byte: UInt8 = try reader.next()
    guard byte <= 1 else { throw .malformed }
    self = byte == 1
  }
}

extension Optional: BinaryValue where Wrapped: BinaryValue {
  @inlinable package func encode(into bytes: inout [UInt8]) {
    (self != nil).encode(into: &bytes)
    self?.encode(into: &bytes)
  }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try Bool(from: &reader) ? try Wrapped(from: &reader) : nil
  }
}

extension Result: BinaryValue where Success: BinaryValue, Failure: BinaryValue {
  @inlinable package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .success(let value): bytes.put(true, value)
    case .failure(let error): bytes.put(false, error)
    }
  }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try Bool(from: &reader) ? .success(try reader.next()) : .failure(try reader.next())
  }
}

extension Array: BinaryValue where Element: BinaryValue {
  @inlinable package func encode(into bytes: inout [UInt8]) {
    UInt32(count).encode(into: &bytes)
    for element in self { element.encode(into: &bytes) }
  }

  @inlinable package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = []
    for _ in 0..<(try UInt32(from: &reader)) { append(try reader.next()) }
  }
}

extension String: BinaryValue {
  /// Bytes of a text: no title or address of use is longer. Longer ones are cut between characters.
  private static let longest = 16 << 10

  @usableFromInline package func encode(into bytes: inout [UInt8]) {
    if utf8.count > Self.longest {
      var end = utf8.index(utf8.startIndex, offsetBy: Self.longest)
      while end.samePosition(in: self) == nil { end = utf8.index(before: end) }
      return String(self[..<end]).encode(into: &bytes)
    }
    UInt32(utf8.count).encode(into: &bytes)
    bytes += utf8
  }

  @usableFromInline package init(from reader: inout BinaryReader) throws(BinaryError) {
    let bytes = try reader.take(Int(try UInt32(from: &reader)))
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
    self = text
  }
}

extension WebAddress: BinaryValue {
  package func encode(into bytes: inout [UInt8]) { bytes.put(forRequest) }
  package init(from reader: inout BinaryReader) throws(BinaryError) { self.init(try String(from: &reader)) }
}

extension Range<Int64>: BinaryValue {
  @usableFromInline package func encode(into bytes: inout [UInt8]) { bytes.put(lowerBound, upperBound) }

  @usableFromInline package init(from reader: inout BinaryReader) throws(BinaryError) {
    let (lower, upper): (Int64, Int64) = (try reader.next(), try reader.next())
    guard lower >= 0, lower <= upper else { throw .malformed }
    self = lower..<upper
  }
}

extension MediaKey: BinaryValue {
  package func encode(into bytes: inout [UInt8]) { bytes += self.bytes }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    guard let key = MediaKey(bytes: Array(try reader.take(16))) else { throw .malformed }
    self = key
  }
}

extension Representation: BinaryValue {
  package func encode(into bytes: inout [UInt8]) { bytes.put(total, entityTag, lastModified, finalURL) }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    self = try reader.make(Self.init(total:entityTag:lastModified:finalURL:))
  }
}
