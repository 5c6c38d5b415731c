/// The part of a document that is in memory, and how far it has been dealt with.
struct XMLWindow {
  let bytes: [UInt8]
  /// Whether nothing comes after it.
  let atEnd: Bool
  var position = 0

  init(bytes: [UInt8], atEnd: Bool) {
    self.bytes = bytes
    self.atEnd = atEnd
  }

  var remaining: Int { bytes.count - position }

  func peek(_ offset: Int = 0) -> UInt8? {
    position + offset < bytes.count ? bytes[position + offset] : nil
  }

  func starts(with text: StaticString) -> Bool {
    guard remaining >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] {
      return false
    }
    return true
  }

  /// - Returns: how many bytes were skipped.
  mutating func skip(while matches: (UInt8) -> Bool) -> Int {
    let start = position
    while position < bytes.count, matches(bytes[position]) { position += 1 }
    return position - start
  }

  /// Skips to after `end`, or, where it is not here, so far that it can still be found.
  mutating func skip(through end: StaticString) -> Bool {
    while position < bytes.count {
      if bytes[position] == end.utf8Start[0] {
        if starts(with: end) {
          position += end.utf8CodeUnitCount
          return true
        }
        if !atEnd, remaining < end.utf8CodeUnitCount { return false }
      }
      position += 1
    }
    return false
  }

  static func isNameStart(_ byte: UInt8) -> Bool {
    let lower = byte | 0x20
    return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
  }

  static func isName(_ byte: UInt8) -> Bool {
    isNameStart(byte) || byte >= 48 && byte <= 58 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 9 && byte <= 13 }
}
