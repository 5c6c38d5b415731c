/// Finds the rules of elements, whatever a document calls its prefixes. It knows them again by the addresses of their
/// names: the parser keeps one copy of each name.
struct FeedVocabulary {
  private struct Key: Hashable {
    var context: FeedContext
    var name: XMLElement.Name
    var prefix: XMLElement.Name?
    var namespace: XMLElement.Name?
  }

  /// A document that has more is slow, and takes no more memory.
  private static let mostNames = 4096
  private var known: [Key: FeedRule] = [:]
  /// The namespace of the document's own elements where it is one that we do not know.
  private var rootNamespace: String?
  /// What elements without prefix and namespace belong to.
  private var plain = ""

  mutating func rule(for element: XMLElement, in context: FeedContext) -> FeedRule {
    let key = Key(
      context: context, name: element.localName, prefix: element.prefix, namespace: element.namespace)
    if let rule = known[key] { return rule }
    if context == .document { noteRoot(element) }
    let name = String(cString: element.localName).lowercased()
    let rule = vocabulary(of: element).map { vocabulary in
      FeedRule.of(vocabulary.isEmpty ? name : "\(vocabulary):\(name)", in: context)
    }
    if known.count < Self.mostNames { known[key] = rule ?? .ignore }
    return rule ?? .ignore
  }

  /// Takes the namespace of the first element for that of RSS, or none for that of Atom, where its name says so.
  private mutating func noteRoot(_ element: XMLElement) {
    guard element.prefix == nil else { return }
    if let namespace = element.namespace {
      if element.isNamed("rss") || element.isNamed("channel") { rootNamespace = String(cString: namespace) }
    } else if element.isNamed("feed") {
      plain = "atom"
    }
  }

  /// The namespace's address decides where we know it; where it is missing or wrong, the prefix does, as usual prefixes
  /// are meant even where they are not declared.
  private func vocabulary(of element: XMLElement) -> String? {
    let address = element.namespace.map { String(cString: $0) }
    guard let prefix = element.prefix else {
      return address == nil ? plain : address == rootNamespace ? "" : address.flatMap(Self.known)
    }
    return address.flatMap(Self.known) ?? Self.prefixes[String(cString: prefix).lowercased()]
  }

  private static func known(_ address: String) -> String? {
    var key = address.lowercased()[...]
    for start in ["http://", "https://", "www."] where key.hasPrefix(start) {
      key = key.dropFirst(start.count)
    }
    while key.last == "/" || key.last == "#" { key.removeLast() }
    return addresses[String(key)]
  }

  private static let prefixes = [
    "itunes": "itunes", "googleplay": "itunes", "podcast": "podcast", "psc": "psc", "media": "media",
    "content": "content", "dc": "dc", "dcterms": "dc", "atom": "atom", "atom10": "atom", "a10": "atom",
    "rdf": "rdf",
  ]

  private static let addresses = [
    "": "",
    "purl.org/rss/1.0": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
    "w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
    "purl.org/atom-blog/ns": "atom",
    "itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "itunes.apple.com/dtds/podcast-1.0.dtd": "itunes",
    "google.com/schemas/play-podcasts/1.0": "itunes",
    "google.com/schemas/play-podcasts/1.0/play-podcasts.xsd": "itunes",
    "podcastindex.org/namespace/1.0": "podcast",
    "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast",
    "podlove.org/simple-chapters": "psc",
    "search.yahoo.com/mrss": "media",
    "purl.org/rss/1.0/modules/content": "content",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/dc/terms": "dc",
  ]
}
