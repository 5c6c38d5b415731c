/// Reads an archive of tar (pax, POSIX.1-2017) that has one file, as it comes.
struct TarReader {
  private enum State {
    /// Bytes of a header, which has 512.
    case header([UInt8])
    /// Bytes of the file that are still to come, and of what fills its last block.
    case content(left: Int64, filling: Int64)
    /// The same of a record that only describes the file.
    case description(left: Int64)
  }

  /// The longest file, in bytes: three times as long as the dump is now.
  static let longest: Int64 = 16 << 30
  private static let block = 512
  private static let longestDescription: Int64 = 64 << 10

  private var state = State.header([])
  private var hasFile = false

  /// Whether the file has come whole.
  var isComplete: Bool { if hasFile, case .header = state { true } else { false } }

  /// Takes the next bytes of the archive.
  /// - Parameters:
  ///   - begin: called with the file's size before its first byte.
  ///   - body: called with the file's bytes.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, begin: (Int64) throws -> Void,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      switch state {
      case .header(var header):
        let piece = rest.prefix(Self.block - header.count)
        header += piece
        rest = rest.dropFirst(piece.count)
        state = header.count == Self.block ? try self.begin(header, begin) : .header(header)
      case .content(let left, let filling):
        let piece = rest.prefix(Int(min(left, Int64(rest.count))))
        if !piece.isEmpty { try body(UnsafeRawBufferPointer(rebasing: piece)) }
        rest = rest.dropFirst(piece.count)
        let remaining = left - Int64(piece.count)
        state = remaining > 0 ? .content(left: remaining, filling: filling) : Self.skipping(filling)
      case .description(let left):
        let count = min(left, Int64(rest.count))
        rest = rest.dropFirst(Int(count))
        state = Self.skipping(left - count)
      }
    }
  }

  private static func skipping(_ bytes: Int64) -> State {
    bytes > 0 ? .description(left: bytes) : .header([])
  }

  private mutating func begin(_ header: [UInt8], _ begin: (Int64) throws -> Void) throws -> State {
    // Zeros are at the end.
    if header.allSatisfy({ $0 == 0 }) { return .header([]) }
    guard Self.hasChecksum(header), let size = Self.number(header[124..<136]), size >= 0 else {
      throw DirectoryError.refused("it is not a tar archive")
    }
    let filling = (Int64(Self.block) - size % Int64(Self.block)) % Int64(Self.block)
    switch header[156] {
    case UInt8(ascii: "x"), UInt8(ascii: "g"):
      guard size <= Self.longestDescription else { throw DirectoryError.refused("its archive is damaged") }
      return Self.skipping(size + filling)
    case UInt8(ascii: "0"), 0:
      let name = String(decoding: header[..<100].prefix { $0 != 0 }, as: UTF8.self)
      if hasFile { throw DirectoryError.refused("its archive has more than one file") }
      guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
        throw DirectoryError.refused("its archive names a file outside")
      }
      guard size <= Self.longest else { throw DirectoryError.refused("it is longer than 16 GiB unpacked") }
      hasFile = true
      try begin(size)
      return size > 0 ? .content(left: size, filling: filling) : .header([])
    default: throw DirectoryError.refused("its archive has a link or a folder, and not one file alone")
    }
  }

  /// The sum of all bytes of a header, its own taken for blanks.
  private static func hasChecksum(_ header: [UInt8]) -> Bool {
    let sum = header.indices.reduce(0) { $0 + ((148..<156).contains($1) ? 0x20 : Int(header[$1])) }
    return number(header[148..<156]).map { $0 == Int64(sum) } ?? false
  }

  /// Octal digits, or where the first bit is set a binary number (as GNU tar writes sizes of 8 GiB and more).
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    guard let first = field.first else { return nil }
    if first & 0x80 != 0 {
      var value: Int64 = 0
      for byte in field.dropFirst() {
        guard value < 1 << 54 else { return nil }
        value = value << 8 | Int64(byte)
      }
      return value
    }
    let text = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
    return text.isEmpty ? 0 : Int64(String(decoding: text, as: UTF8.self), radix: 8)
  }
}
