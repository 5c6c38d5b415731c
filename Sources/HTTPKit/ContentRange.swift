/// What a 206 holds of the whole, or a 416 says of it (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable {
  /// The bytes of this answer; nil in "bytes */1234".
  package var range: Range<Int64>?
  /// The whole's size; nil where the server does not know it ("*").
  package var total: Int64?

  package init(range: Range<Int64>?, total: Int64?) {
    (self.range, self.total) = (range, total)
  }

  /// Reads "bytes 0-99/1234", "bytes 0-99/*" and "bytes */1234"; nil for anything else, and for contradictions.
  package init?(_ text: String) {
    let words = text.split { " \t=/".contains($0) }
    guard words.count == 3, words[0].lowercased() == "bytes" else { return nil }
    total = Self.number(words[2])
    guard total != nil || words[2] == "*" && words[1] != "*" else { return nil }
    if words[1] == "*" { return }
    let ends = words[1].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
      last < total ?? .max
    else { return nil }
    range = first..<last + 1
  }

  static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int64(text)
  }
}
