package import PodcastModel

/// What a document is that is not the one that was wanted.
package struct ForeignDocument: Hashable, Sendable {
  package enum Kind: UInt8, BinaryValue {
    case nothing, webPage, feed, list, otherXML, json, text, media, data, backup
  }

  package var kind: Kind
  /// The name of its first element, of letters and digits; only where it is XML of another kind.
  package var root: String?
  package var reason: String?
  /// The feeds that a web page names, in its order.
  package var feeds: [WebAddress] = []

  package init(_ kind: Kind, root: String? = nil) {
    self.kind = kind
    self.root = root
  }

  init(backup reason: String) {
    kind = .backup
    self.reason = String(PrintableText.line(reason).prefix(200))
  }

  /// Recognizes the kind of a document by its first bytes and its root element.
  /// - Parameters:
  ///   - head: its first bytes; only the first 1,024 are examined.
  ///   - root: the name of its first element; nil if no XML element was found.
  init(head: some Collection<UInt8>, root: String?) {
    let head = Array(head.prefix(1024))
    let start = head.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
    let text = String(decoding: start, as: UTF8.self).lowercased()
    if head.isEmpty {
      kind = .nothing
    } else if let found = Self.signatures.first(where: { head.starts(with: $0.bytes) })?.kind {
      kind = found
    } else if head.count > 11, head[4..<8].elementsEqual("ftyp".utf8) {
      kind = .media
    } else if root == "opml" {
      kind = .list
    } else if root == "html" || text.contains("<!doctype html") || text.contains("<html")
      || text.contains("<head>")
    {
      kind = .webPage
    } else if let root, ["rss", "feed", "rdf", "channel"].contains(root) {
      kind = .feed
    } else if head.contains(where: { $0 < 9 || $0 > 13 && $0 < 0x20 }) {
      kind = .data
    } else if start.isEmpty {
      kind = .nothing
    } else if text.hasPrefix("<"), let root, root.utf8.count <= 40, root.utf8.allSatisfy(HTMLReader.isName) {
      (kind, self.root) = (.otherXML, root)
    } else if text.hasPrefix("{") || text.hasPrefix("[") {
      kind = .json
    } else {
      kind = .text
    }
  }

  private static let signatures: [(bytes: [UInt8], kind: Kind)] = [
    (Array("ID3".utf8), .media), ([0xFF, 0xFB], .media), ([0xFF, 0xF3], .media), (Array("OggS".utf8), .media),
    (Array("fLaC".utf8), .media), (Array("RIFF".utf8), .media), ([0x1A, 0x45, 0xDF, 0xA3], .media),
    (Array("%PDF".utf8), .data), ([0x1F, 0x8B], .data), (Array("BZh".utf8), .data),
  ]

  /// "is a web page, not a feed".
  func description(wanted: String) -> String {
    switch kind {
    case .nothing: "is empty"
    case .webPage: "is a web page, not \(wanted)"
    case .feed: "is a feed, not \(wanted)"
    case .list: "is a list of subscriptions (OPML), not \(wanted)"
    case .otherXML: "is XML of another kind (its first element is <\(root ?? "?")>), not \(wanted)"
    case .json: "is JSON, not \(wanted)"
    case .text: "is plain text, not \(wanted)"
    case .media: "is audio or video, not \(wanted)"
    case .data: "is binary data, or compressed in a way that podcastfs cannot read, not \(wanted)"
    case .backup: "is a database or backup that cannot be used: \(reason ?? "it is damaged")"
    }
  }
}

extension ForeignDocument: FieldCoded {
  package init() { self.init(.nothing) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&kind, &root, &reason)
    try fields.code(&feeds)
  }
}
