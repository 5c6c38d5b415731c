/// Bytes as digits of base 16.
package enum Hexadecimal {
  /// Two digits a byte, lower-case.
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
      var count = 0
      for byte in bytes {
        buffer[count] = digit(byte >> 4)
        buffer[count + 1] = digit(byte & 15)
        count += 2
      }
      return count
    }
  }

  /// The lower-case digit of a value from 0 to 15.
  package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  /// The value of a digit, in either case; nil for anything else.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }

  /// The bytes of an even number of digits; nil for anything else.
  package static func bytes(_ text: String) -> [UInt8]? {
    let values = text.utf8.compactMap(value)
    guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
