/// Names one enclosure in the cache and to the transfer daemon, for good: the UUID (version 5, in the URL
/// namespace, RFC 9562 §5.5) of the address under which it was first seen. The catalogue keeps it with the
/// episode, so that a renewed address (a fresh token) finds what had come under the old one; two feeds with
/// the same address share one download.
package struct MediaKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let value: UInt128

  /// 32 lower-case hexadecimal digits.
  package var text: String { Hexadecimal.text(bytes) }

  /// - Returns: nil where `text` is not 32 lower-case hexadecimal digits.
  package init?(_ text: some StringProtocol) {
    var value: UInt128 = 0
    for byte in text.utf8 {
      guard let digit = Hexadecimal.value(byte), !(65...70).contains(byte) else { return nil }
      value = value << 4 | UInt128(digit)
    }
    guard text.utf8.count == 32 else { return nil }
    self.value = value
  }

  /// The key of an enclosure's address. A fragment does not count.
  package init(address: WebAddress) {
    let name = address.forRequest.utf8.prefix { $0 != UInt8(ascii: "#") }
    value = Self.number(UUIDv5.bytes(namespace: UUIDv5.url, name: Array(name)))
  }

  /// The key of one of several files that are at an address in turn. The mark tells which.
  package init(address: WebAddress, mark: String) {
    let name = MediaKey(address: address).text + " " + mark
    value = Self.number(UUIDv5.bytes(namespace: UUIDv5.url, name: Array(name.utf8)))
  }

  /// - Returns: nil where they are not 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    value = Self.number(bytes)
  }

  package var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  private static func number(_ bytes: [UInt8]) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
  package var description: String { text }
  package static func < (a: MediaKey, b: MediaKey) -> Bool { a.value < b.value }
}
