internal import Glibc

/// Percent-encoding (RFC 3986 §2.1).
package enum PercentEncoding {
  /// A component of an address: everything but unreserved characters, as UTF-8.
  package static func encode(_ text: String) -> String { encode(Array(text.utf8)) }

  /// The path of a file in an address (RFC 8089).
  package static func path(_ path: String) -> String {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { encode(Array($0)) }
      .joined(separator: "/")
  }

  private static func encode(_ component: [UInt8]) -> String {
    let bytes = component.reduce(into: [UInt8]()) {
      if isUnreserved($1) { $0.append($1) } else { append($1, to: &$0) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// User and password of an address in their one spelling: encoded where they must be, and nowhere else.
  package static func userinfo(_ text: some StringProtocol) -> String {
    text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      .map { encode(decode($0)) }.joined(separator: ":")
  }

  package static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "%"))
    for digit in [Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 15)] {
      bytes.append(digit >= 97 ? digit - 32 : digit)
    }
  }

  /// The bytes that a text stands for; what is no encoded byte stands for itself.
  package static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(Hexadecimal.value),
        let low = rest.dropFirst().first.flatMap(Hexadecimal.value)
      {
        result.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    isalnum(Int32(byte)) != 0 || "-._~".utf8.contains(byte)
  }
}
