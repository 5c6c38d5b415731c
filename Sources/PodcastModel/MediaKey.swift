/// Names one enclosure in the cache and to the transfer daemon, for good: the UUID (version 5, in the URL
/// namespace, RFC 9562 §5.5) of the address under which it was first seen. The catalogue keeps it with the
/// episode, so that a renewed address (a fresh token) finds what had come under the old one; two feeds with
/// the same address share one download.
package struct MediaKey: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// 32 lower-case hexadecimal digits.
  package var text: String { Self.digits(high) + Self.digits(low) }

  /// - Returns: nil where `text` is not 32 lower-case hexadecimal digits.
  package init?(_ text: String) {
    guard text.utf8.count == 32,
      text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
      let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.high = high
    self.low = low
  }

  /// The key of an enclosure's address. A fragment does not count.
  package init(address: WebAddress) {
    let whole = address.forRequest.prefix { $0 != "#" }
    let uuid = UUIDv5.text(namespace: UUIDv5.url, name: Array(whole.utf8)).filter { $0 != "-" }
    high = UInt64(uuid.prefix(16), radix: 16) ?? 0
    low = UInt64(uuid.suffix(16), radix: 16) ?? 0
  }

  package var description: String { text }

  package static func < (a: MediaKey, b: MediaKey) -> Bool { (a.high, a.low) < (b.high, b.low) }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
