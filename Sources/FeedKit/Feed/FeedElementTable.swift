/// Finds elements by the addresses of their names, which the parser keeps one copy of each.
struct FeedElementTable {
  private struct Key: Hashable {
    var name: XMLElement.Name
    var prefix: XMLElement.Name?
    var namespace: XMLElement.Name?
  }

  private static let slots = 512

  /// The last element seen at each place.
  private var recent: [(key: Key, element: FeedElement)?] = Array(repeating: nil, count: Self.slots)
  /// The namespace of the document's own elements where it is one that we do not know.
  private var rootNamespace: String?
  /// What elements without prefix and namespace belong to.
  private var plainNamespace = FeedNamespace.rss

  /// Takes the namespace of the first element for that of RSS, or none for that of Atom, where its name says so.
  mutating func noteRoot(_ element: XMLElement) {
    guard element.prefix == nil else { return }
    if let namespace = element.namespace {
      if element.isNamed("rss") || element.isNamed("channel") { rootNamespace = String(cString: namespace) }
    } else if element.isNamed("feed") {
      plainNamespace = .atom
    }
  }

  mutating func find(_ element: XMLElement) -> FeedElement {
    let key = Key(name: element.localName, prefix: element.prefix, namespace: element.namespace)
    let mixed = UInt(bitPattern: key.name) ^ UInt(bitPattern: key.namespace) &* 31
    let slot = Int((mixed >> 3 ^ mixed >> 12) % UInt(Self.slots))
    if let entry = recent[slot], entry.key == key { return entry.element }
    let found = identify(element)
    recent[slot] = (key, found)
    return found
  }

  private func identify(_ element: XMLElement) -> FeedElement {
    let address = element.namespace.map { String(cString: $0) }
    let prefix = element.prefix.map { String(cString: $0) }
    let name = String(cString: element.localName).lowercased()
    if prefix == nil, address == nil { return plainNamespace[name] }
    if prefix == nil, address == rootNamespace { return FeedNamespace.rss[name] }
    return FeedNamespace.of(address: address, prefix: prefix)?[name] ?? .other
  }
}
