/// Finds elements by the addresses of their names, which the parser keeps one copy of each.
struct FeedElementTable {
  private struct Key: Hashable {
    var name: UnsafePointer<UInt8>
    var prefix: UnsafePointer<UInt8>?
    var namespace: UnsafePointer<UInt8>?
  }

  private static let slots = 512

  private var known: [Key: FeedElement] = [:]
  /// The last element seen at each place of a small table, in front of the dictionary.
  private var recent: [(key: Key, element: FeedElement)?] = Array(repeating: nil, count: Self.slots)
  /// The namespace of the document's own elements where it is one that we do not know.
  private var rootNamespace: String?
  /// What elements without prefix and namespace belong to.
  private var plainNamespace = FeedNamespace.rss

  /// Forgets all: another parser has other addresses.
  mutating func removeAll() { self = FeedElementTable() }

  /// Takes the namespace of the first element for that of RSS, or none for that of Atom, where its name says so.
  mutating func noteRoot(_ element: XMLElement) {
    if element.namespace == nil, element.prefix == nil, XMLName.isEqual(element.localName, "feed") {
      plainNamespace = .atom
    }
    guard let namespace = element.namespace, element.prefix == nil else { return }
    guard XMLName.isEqual(element.localName, "rss") || XMLName.isEqual(element.localName, "channel") else {
      return
    }
    rootNamespace = String(cString: namespace)
  }

  mutating func find(_ element: XMLElement) -> FeedElement {
    let key = Key(name: element.localName, prefix: element.prefix, namespace: element.namespace)
    let mixed = UInt(bitPattern: key.name) ^ UInt(bitPattern: key.namespace) &* 31
    let slot = Int((mixed >> 3 ^ mixed >> 12) % UInt(Self.slots))
    if let entry = recent[slot], entry.key == key { return entry.element }
    let found = known[key] ?? identify(element)
    // A document with very many names gains nothing from being remembered.
    if known.count < 2000 { known[key] = found }
    recent[slot] = (key, found)
    return found
  }

  private func identify(_ element: XMLElement) -> FeedElement {
    let address = element.namespace.map { String(cString: $0) }
    let prefix = element.prefix.map { String(cString: $0) }
    let name = String(cString: element.localName).lowercased()
    if prefix == nil, let address, address == rootNamespace { return .named(name, in: .rss) }
    if prefix == nil, address == nil { return .named(name, in: plainNamespace) }
    return .named(name, in: .of(address: address, prefix: prefix))
  }
}
