/// Bytes as digits of base 16.
package enum Hexadecimal {
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(decoding: bytes.flatMap { [digit($0 >> 4), digit($0 & 15)] }, as: UTF8.self)
  }

  package static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 65...70: digit - 55
    case 97...102: digit - 87
    default: nil
    }
  }

  package static func bytes(_ text: String) -> [UInt8]? {
    let values = text.utf8.compactMap(value)
    guard values.count == text.utf8.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
