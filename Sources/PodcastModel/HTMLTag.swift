/// A start tag of HTML.
package struct HTMLTag {
  /// In lower case.
  package let name: String
  private let attributes: HTMLReader.Bytes

  init(name: String, attributes: HTMLReader.Bytes) {
    self.name = name
    self.attributes = attributes
  }

  /// Whether anything but a slash stands behind its name.
  var hasAttributes: Bool { !attributes.allSatisfy { Self.isBlank($0) || $0 == UInt8(ascii: "/") } }

  /// Whether what stands in it behind its name can be attributes: else it may be no tag, but "1 <b 2 > 0".
  var isWellFormed: Bool {
    !hasAttributes || attributes.contains(UInt8(ascii: "="))
  }

  /// The value of the first attribute of this name (lower case), with references resolved; nil where there is
  /// none (WHATWG HTML §13.2.5.33).
  package func attribute(_ wanted: String) -> String? {
    var rest = attributes[...]
    while true {
      rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
      let name = rest.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      if name.isEmpty {
        if rest.isEmpty { return nil }
        rest = rest.dropFirst()
        continue
      }
      rest = rest[name.endIndex...].drop(while: Self.isBlank)
      guard rest.first == UInt8(ascii: "=") else { continue }
      rest = rest.dropFirst().drop(while: Self.isBlank)
      var value = rest.prefix { !Self.isBlank($0) }
      if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
        value = rest.dropFirst().prefix { $0 != quote }
        rest = rest[value.endIndex...].dropFirst()
      } else {
        rest = rest[value.endIndex...]
      }
      if name.count == wanted.utf8.count, name.lazy.map({ $0 | 0x20 }).elementsEqual(wanted.utf8) {
        return TitleText.resolvingReferences(in: UnsafeBufferPointer(rebasing: value))
      }
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }
}
