/// A start tag of HTML.
package struct HTMLTag {
  /// In lower case.
  package let name: String
  private let rest: HTMLReader.Bytes

  /// - Parameter attributes: what stands between its name and the ">".
  init(name: String, attributes: HTMLReader.Bytes) {
    self.name = name
    rest = attributes
  }

  /// Whether what stands in it behind its name can be attributes: else it may be no tag, but "1 <b 2 > 0".
  var isWellFormed: Bool {
    rest.contains(UInt8(ascii: "=")) || rest.allSatisfy { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
  }

  /// Whether what follows up to its end tag is no text.
  package var hidesContent: Bool { name == "script" || name == "style" }

  /// The value of the first attribute of this name (lower case), with references resolved (WHATWG HTML §13.2.5.33); nil
  /// where there is none.
  package func attribute(_ wanted: String) -> String? {
    var rest = rest[...]
    while true {
      rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
      if rest.isEmpty { return nil }
      let name = rest.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      rest = rest[name.endIndex...].drop(while: Self.isBlank)
      guard rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst().drop(while: Self.isBlank)
      var value = rest.prefix { !Self.isBlank($0) }
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
      }
      rest = rest[value.endIndex...].dropFirst()
      if name.count == wanted.utf8.count, name.lazy.map({ $0 | 0x20 }).elementsEqual(wanted.utf8) {
        return TitleText.resolvingReferences(in: UnsafeBufferPointer(rebasing: value))
      }
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

  static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
  }
}
