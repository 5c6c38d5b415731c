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

  /// Its attributes in their order (WHATWG HTML §13.2.5.33).
  package var attributes: HTMLAttributes { HTMLAttributes(rest) }

  /// The value of the first attribute of this name (lower case), with references resolved; nil where there is none.
  package func attribute(_ wanted: String) -> String? {
    for attribute in attributes where attribute.hasValue && attribute.name.count == wanted.utf8.count {
      if attribute.name.lazy.map({ $0 | 0x20 }).elementsEqual(wanted.utf8) {
        return TitleText.resolvingReferences(in: UnsafeBufferPointer(rebasing: attribute.value))
      }
    }
    return nil
  }

  fileprivate static func isBlank(_ byte: UInt8) -> Bool { byte <= 0x20 }

  package static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/")
  }
}

/// Walks over the attributes of a start tag.
package struct HTMLAttributes: Sequence, IteratorProtocol {
  package struct Attribute {
    package let name: Slice<HTMLReader.Bytes>
    package let value: Slice<HTMLReader.Bytes>
    /// Whether a "=" follows the name.
    package let hasValue: Bool
  }

  private var rest: Slice<HTMLReader.Bytes>

  init(_ bytes: HTMLReader.Bytes) { rest = bytes[...] }

  package mutating func next() -> Attribute? {
    while true {
      rest = rest.drop { HTMLTag.isBlank($0) || $0 == UInt8(ascii: "/") }
      let name = rest.prefix { !HTMLTag.isBlank($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "/") }
      if !name.isEmpty { return attribute(name) }
      if rest.isEmpty { return nil }
      rest = rest.dropFirst()
    }
  }

  private mutating func attribute(_ name: Slice<HTMLReader.Bytes>) -> Attribute {
    rest = rest[name.endIndex...].drop(while: HTMLTag.isBlank)
    guard rest.first == UInt8(ascii: "=") else {
      return Attribute(name: name, value: name[name.endIndex...], hasValue: false)
    }
    rest = rest.dropFirst().drop(while: HTMLTag.isBlank)
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      let value = rest.prefix { !HTMLTag.isBlank($0) }
      rest = rest[value.endIndex...]
      return Attribute(name: name, value: value, hasValue: true)
    }
    let value = rest.dropFirst().prefix { $0 != quote }
    rest = rest[value.endIndex...]
    rest = rest.dropFirst()
    return Attribute(name: name, value: value, hasValue: true)
  }
}
