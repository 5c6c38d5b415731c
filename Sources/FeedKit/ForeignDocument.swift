package import PodcastModel

/// What a document is that is not the one that was wanted.
package struct ForeignDocument: Hashable, Sendable {
  package enum Kind: UInt8, BinaryValue {
    case nothing, webPage, feed, list, otherXML, text, media, data, backup
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

  /// Recognizes the kind of a document by its beginning and its root element.
  /// - Parameter root: the name of its first element; nil if no XML element was found.
  init(head: some Collection<UInt8>, root: String?) {
    let head = Array(head.prefix(1024))
    let start = head.drop { $0 <= 0x20 || [0xEF, 0xBB, 0xBF].contains($0) }
    let text = String(decoding: start, as: UTF8.self).lowercased()
    let isBinary = head.contains { $0 < 9 || $0 > 13 && $0 < 0x20 }
    if Self.media.contains(where: { head.starts(with: $0) || head.dropFirst(4).starts(with: $0) }) {
      kind = .media
    } else if start.isEmpty {
      kind = isBinary ? .data : .nothing
    } else if root == "opml" {
      kind = .list
    } else if root == "html" || text.contains("<!doctype html") || text.contains("<html")
      || text.contains("<head>")
    {
      kind = .webPage
    } else if let root, ["rss", "feed", "rdf", "channel"].contains(root) {
      kind = .feed
    } else if text.hasPrefix("<"), let root, root.utf8.count <= 40, root.utf8.allSatisfy(HTMLReader.isName) {
      (kind, self.root) = (.otherXML, root)
    } else {
      kind = isBinary ? .data : .text
    }
  }

  /// How files of audio and video begin, some behind four bytes.
  private static let media = ["ID3", "OggS", "fLaC", "RIFF", "ftyp"].map { Array($0.utf8) } + [[0xFF, 0xFB]]

  /// "is a web page, not a feed".
  func description(wanted: String) -> String {
    switch kind {
    case .nothing: "is empty"
    case .webPage: "is a web page, not \(wanted)"
    case .feed: "is a feed, not \(wanted)"
    case .list: "is a list of subscriptions (OPML), not \(wanted)"
    case .otherXML: "is XML of another kind (its first element is <\(root ?? "?")>), not \(wanted)"
    case .text: "is text, not \(wanted)"
    case .media: "is audio or video, not \(wanted)"
    case .data: "is binary data, not \(wanted)"
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
