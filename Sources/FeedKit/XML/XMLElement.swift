internal import Glibc

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

  /// Whether its local name is this one, without regard to case.
  func isNamed(_ name: StaticString) -> Bool { Self.isEqual(localName, name) }

  /// The value of an attribute by its local name, whatever its namespace and case, trimmed; nil where it is missing or empty.
  func attribute(_ name: StaticString) -> String? {
    guard let value = attributeBytes(name) else { return nil }
    let trimmed = FeedText.trimmed(value)
    return trimmed.isEmpty ? nil : FeedText.string(trimmed)
  }

  /// - Parameter prefix: the name's prefix; nil for any and for none.
  func attributeBytes(_ name: StaticString, prefix: StaticString? = nil) -> UnsafeBufferPointer<UInt8>? {
    guard let attributes else { return nil }
    for place in stride(from: 0, to: attributeCount * 5, by: 5) {
      guard let local = attributes[place], let start = attributes[place + 3], let end = attributes[place + 4],
        Self.isEqual(local, name),
        prefix.map({ wanted in attributes[place + 1].map { Self.isEqual($0, wanted) } ?? false }) ?? true
      else { continue }
      return UnsafeBufferPointer(start: start, count: end - start)
    }
    return nil
  }

  private static func isEqual(_ name: Name, _ other: StaticString) -> Bool {
    strcasecmp(
      UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self),
      UnsafeRawPointer(other.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
  }
}
