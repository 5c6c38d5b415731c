/// A start tag of HTML.
package struct HTMLTag {
  package typealias Attribute = (name: Slice<HTMLReader.Bytes>, value: Slice<HTMLReader.Bytes>?)
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

  /// Its attributes in their order (WHATWG HTML §13.2.5.33). A value is nil where no "=" follows the name.
  package var attributes: [Attribute] {
    var found: [Attribute] = []
    var rest = rest[...]
    while true {
      rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: "/") }
      if rest.isEmpty { return found }
      let name = rest.prefix { !Self.isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      rest = rest[name.endIndex...].drop(while: Self.isBlank)
      var value: Slice<HTMLReader.Bytes>?
      if rest.first == UInt8(ascii: "=") {
        rest = rest.dropFirst().drop(while: Self.isBlank)
        let quote = rest.first.flatMap { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") ? $0 : nil }
        if quote != nil { rest = rest.dropFirst() }
        let text = rest.prefix { quote == nil ? !Self.isBlank($0) : $0 != quote }
        rest = rest[text.endIndex...].dropFirst()
        value = text
      }
      if !name.isEmpty { found.append((name, value)) }
    }
  }

  /// The value of the first attribute of this name (lower case), with references resolved; nil where there is none.
  package func attribute(_ wanted: String) -> String? {
    for case (let name, let value?) in attributes where name.map({ $0 | 0x20 }).elementsEqual(wanted.utf8) {
      return TitleText.resolvingReferences(in: UnsafeBufferPointer(rebasing: value))
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

  package static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
  }
}
