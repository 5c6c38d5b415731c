/// An entry of a list that could not be read as one: its name is all that is told of it.
struct OPMLStrayEntry {
  /// As far as it is there; nil where it has none.
  let name: String?

  /// All in a text that was not taken for elements.
  static func all(in bytes: [UInt8]) -> [OPMLStrayEntry] {
    var entries: [OPMLStrayEntry] = []
    var rest = bytes[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(start + 1)...]
      guard isWord("outline", rest) else { continue }
      let end = rest.firstIndex(of: UInt8(ascii: "<")) ?? rest.endIndex
      let entry = rest[..<end]
      entries.append(OPMLStrayEntry(name: longest([value(of: "title", entry), value(of: "text", entry)])))
      rest = rest[end...]
    }
    return entries
  }

  /// A name whose quote is closed only where its address begins: "Lost xmlUrl=" of `text="Lost xmlUrl="https://…"`.
  static func nameBeforeAddress(_ name: String) -> String? {
    let bytes = Array(name.utf8)
    for index in bytes.indices where isWord("xmlurl=", bytes[index...]) {
      let before = String(decoding: bytes[..<index], as: UTF8.self)
      return FeedText.oneLine(before)
    }
    return nil
  }

  /// Either may be cut.
  private static func longest(_ names: [String?]) -> String? {
    names.compactMap(\.self).max { $0.count < $1.count }
  }

  private static func isWord(_ word: String, _ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count >= word.utf8.count && zip(word.utf8, bytes).allSatisfy { $0 == $1 || $0 == $1 | 0x20 }
  }

  /// Up to the quote that closes it, or the end.
  private static func value(of attribute: String, _ entry: ArraySlice<UInt8>) -> String? {
    for index in entry.indices.dropFirst() where XMLWindow.isBlank(entry[index - 1]) {
      guard isWord(attribute, entry[index...]) else { continue }
      var rest = entry[(index + attribute.utf8.count)...].drop(while: XMLWindow.isBlank)
      guard rest.popFirst() == UInt8(ascii: "=") else { continue }
      rest = rest.drop(while: XMLWindow.isBlank)
      guard let quote = rest.popFirst(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        continue
      }
      let text = String(decoding: rest.prefix { $0 != quote }, as: UTF8.self)
      return text.isEmpty ? nil : text
    }
    return nil
  }
}
