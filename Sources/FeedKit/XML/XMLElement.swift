/// An element's start tag, as the parser hands it over: valid only during the call that got it. Names are
/// the parser's own copies: the same name has the same address for as long as the parser lives.
struct XMLElement {
  typealias Bytes = UnsafePointer<UInt8>

  let localName: Bytes
  let prefix: Bytes?
  let namespace: Bytes?
  /// Five pointers for each attribute: local name, prefix, namespace, start and end of the value.
  private let attributes: UnsafePointer<UnsafePointer<UInt8>?>?
  let attributeCount: Int

  init(
    localName: Bytes, prefix: Bytes?, namespace: Bytes?,
    attributes: UnsafePointer<UnsafePointer<UInt8>?>?, attributeCount: Int
  ) {
    self.localName = localName
    self.prefix = prefix
    self.namespace = namespace
    self.attributes = attributes
    self.attributeCount = attributeCount
  }

  /// The value of an attribute by its local name in lower case, whatever its namespace and case, trimmed;
  /// nil where it is missing or empty.
  func attribute(_ name: StaticString) -> String? {
    guard let value = attributeBytes(name) else { return nil }
    let trimmed = FeedText.trimmed(value)
    return trimmed.isEmpty ? nil : FeedText.string(trimmed)
  }

  /// The value's bytes.
  func attributeBytes(_ name: StaticString) -> UnsafeBufferPointer<UInt8>? {
    guard let attributes else { return nil }
    for index in 0..<attributeCount {
      guard let local = attributes[index * 5], XMLName.isEqual(local, name),
        let start = attributes[index * 5 + 3], let end = attributes[index * 5 + 4]
      else { continue }
      return UnsafeBufferPointer(start: start, count: end - start)
    }
    return nil
  }

  /// Whether any attribute's value is such.
  func hasAttribute(where matches: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    guard let attributes else { return false }
    return (0..<attributeCount).contains { index in
      guard let start = attributes[index * 5 + 3], let end = attributes[index * 5 + 4] else { return false }
      return matches(UnsafeBufferPointer(start: start, count: end - start))
    }
  }

  /// The trimmed value of an attribute of the `xml` prefix: "base", "lang".
  func xmlAttribute(_ name: StaticString) -> UnsafeBufferPointer<UInt8>? {
    guard let attributes else { return nil }
    for index in 0..<attributeCount {
      guard let prefix = attributes[index * 5 + 1], XMLName.isEqual(prefix, "xml"),
        let local = attributes[index * 5], XMLName.isEqual(local, name),
        let start = attributes[index * 5 + 3], let end = attributes[index * 5 + 4]
      else { continue }
      return FeedText.trimmed(UnsafeBufferPointer(start: start, count: end - start))
    }
    return nil
  }
}

/// Comparisons of the parser's zero-terminated names.
enum XMLName {
  /// Whether a name is `other` (ASCII, lower case), without regard to case.
  static func isEqual(_ name: UnsafePointer<UInt8>, _ other: StaticString) -> Bool {
    let bytes = other.utf8Start
    var index = 0
    while index < other.utf8CodeUnitCount {
      let byte = name[index]
      let lower = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
      if lower != bytes[index] { return false }
      index += 1
    }
    return name[index] == 0
  }
}
