/// An element's start tag, as the parser hands it over: valid only during the call that got it. Names are
/// the parser's own copies: the same name has the same address for as long as the parser lives.
struct XMLElement {
  typealias Name = UnsafePointer<UInt8>

  let localName: Name
  let prefix: Name?
  let namespace: Name?
  /// Five pointers for each attribute: local name, prefix, namespace, start and end of the value.
  let attributes: UnsafePointer<UnsafePointer<UInt8>?>?
  let attributeCount: Int

  /// Whether its local name is this one (ASCII, lower case), without regard to case.
  func isNamed(_ name: StaticString) -> Bool { Self.isEqual(localName, name) }

  /// The value of an attribute by its local name in lower case, whatever its namespace and case, trimmed;
  /// nil where it is missing or empty.
  func attribute(_ name: StaticString) -> String? {
    guard let value = attributeBytes(name) else { return nil }
    let trimmed = FeedText.trimmed(value)
    return trimmed.isEmpty ? nil : FeedText.string(trimmed)
  }

  /// The value's bytes.
  /// - Parameter prefix: the name's prefix; nil for any and for none.
  func attributeBytes(_ name: StaticString, prefix: StaticString? = nil) -> UnsafeBufferPointer<UInt8>? {
    guard let attributes else { return nil }
    for index in 0..<attributeCount {
      guard let local = attributes[index * 5], Self.isEqual(local, name),
        let start = attributes[index * 5 + 3], let end = attributes[index * 5 + 4]
      else { continue }
      if let prefix {
        guard let its = attributes[index * 5 + 1], Self.isEqual(its, prefix) else { continue }
      }
      return UnsafeBufferPointer(start: start, count: end - start)
    }
    return nil
  }

  private static func isEqual(_ name: Name, _ other: StaticString) -> Bool {
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
