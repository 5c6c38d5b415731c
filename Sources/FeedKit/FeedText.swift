internal import Glibc
internal import PodcastModel

/// Small work on text as bytes of UTF-8.
enum FeedText {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Byte by byte.
  static func isSame(_ text: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = text
    return text.withUTF8 { own in
      guard own.count == bytes.count else { return false }
      guard let first = own.baseAddress, let other = bytes.baseAddress else { return true }
      return memcmp(first, other, own.count) == 0
    }
  }

  /// Without white space at both ends, no-break spaces included.
  static func trimmed(_ bytes: Bytes) -> Bytes {
    var start = 0
    var end = bytes.count
    while start < end {
      if bytes[start] <= 0x20 {
        start += 1
      } else if bytes[start] == 0xC2, start + 1 < end, bytes[start + 1] == 0xA0 {
        start += 2
      } else {
        break
      }
    }
    while end > start {
      if bytes[end - 1] <= 0x20 {
        end -= 1
      } else if end - start >= 2, bytes[end - 1] == 0xA0, bytes[end - 2] == 0xC2 {
        end -= 2
      } else {
        break
      }
    }
    return Bytes(rebasing: bytes[start..<end])
  }

  static func string(_ bytes: Bytes) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Trimmed, runs of white space made one blank.
  static func collapsed(_ bytes: Bytes) -> String {
    let trimmed = trimmed(bytes)
    if isCollapsed(trimmed) { return string(trimmed) }
    var output: [UInt8] = []
    output.reserveCapacity(trimmed.count)
    var isBlank = false
    for byte in trimmed {
      if byte <= 0x20 {
        isBlank = true
      } else {
        if isBlank { output.append(0x20) }
        isBlank = false
        output.append(byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func isCollapsed(_ bytes: Bytes) -> Bool {
    var previous: UInt8 = 0
    for byte in bytes {
      if byte <= 0x20, byte != 0x20 || previous == 0x20 { return false }
      previous = byte
    }
    return true
  }

  /// A text on one line.
  static func oneLine(_ text: String) -> String {
    var text = text
    return text.withUTF8 { collapsed($0) }
  }

  /// A whole number above or equal to 0 at the start of the text; nil where there is none.
  static func number(_ bytes: Bytes) -> Int64? {
    let trimmed = trimmed(bytes)
    var value: Int64 = 0
    var count = 0
    for byte in trimmed {
      guard byte >= 48, byte <= 57 else { break }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int64(byte - 48))
      if overflow || carry { return nil }
      value = sum
      count += 1
    }
    return count == 0 ? nil : value
  }

  /// A whole number above 0 that is all of the text; nil for anything else.
  static func wholeNumber(_ bytes: Bytes) -> Int64? {
    let trimmed = trimmed(bytes)
    guard trimmed.allSatisfy({ $0 >= 48 && $0 <= 57 }), let value = number(trimmed), value > 0 else {
      return nil
    }
    return value
  }

  /// A season's or episode's number: the first whole number in the text.
  static func smallNumber(_ bytes: Bytes) -> Int? {
    guard let start = bytes.firstIndex(where: { $0 >= 48 && $0 <= 57 }) else { return nil }
    return number(Bytes(rebasing: bytes[start...])).flatMap { $0 <= 1_000_000 ? Int($0) : nil }
  }

  /// `itunes:explicit` and other yes or no; nil for any other word.
  static func explicit(_ bytes: Bytes) -> Bool? {
    switch collapsed(bytes).lowercased() {
    case "yes", "true", "explicit", "1": true
    case "no", "false", "clean", "0", "none": false
    default: nil
    }
  }

  /// Text for one line. The control characters 0x80 to 0x9F, which nobody means, are read as windows-1252.
  static func title(_ bytes: Bytes) -> String {
    let text = collapsed(bytes)
    // In UTF-8 they begin with this byte.
    guard bytes.contains(0xC2) else { return text }
    guard text.unicodeScalars.contains(where: { (0x80...0x9F).contains($0.value) }) else { return text }
    var repaired = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = (0x80...0x9F).contains(scalar.value)
      let meant = isControl ? Unicode.Scalar(Windows1252.scalars[Int(scalar.value) - 0x80]) : scalar
      repaired.append(meant ?? scalar)
    }
    return String(repaired)
  }
}

extension [UInt8] {
  /// `withUnsafeBytes` for bodies that throw errors of one type.
  func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withUnsafeBufferPointer { bytes throws(Failure) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
