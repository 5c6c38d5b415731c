package import PodcastModel

/// What a document is that is not the one that was wanted.
package struct ForeignDocument: Hashable, Sendable {
  package enum Kind: String, BinaryValue {
    case nothing = "is empty"
    case webPage = "is a web page"
    case feed = "is a feed"
    case list = "is a list of subscriptions (OPML)"
    case other
    case backup = "is a database or backup that cannot be used"
  }

  package var kind: Kind
  package var reason: String?
  /// The feeds that a web page names, in its order.
  package var feeds: [WebAddress] = []

  package init(_ kind: Kind) { self.kind = kind }

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
    kind =
      if start.isEmpty {
        .nothing
      } else if root == "opml" {
        .list
      } else if root == "html" || ["<!doctype html", "<html", "<head>"].contains(where: text.contains) {
        .webPage
      } else if let root, ["rss", "feed", "rdf", "channel"].contains(root) {
        .feed
      } else {
        .other
      }
  }

  /// "is a web page, not a feed".
  func description(wanted: String) -> String {
    switch kind {
    case .nothing: kind.rawValue
    case .other: "is not \(wanted)"
    case .backup: "\(kind.rawValue): \(reason ?? "it is damaged")"
    case .webPage, .feed, .list: "\(kind.rawValue), not \(wanted)"
    }
  }
}

extension ForeignDocument: FieldCoded {
  package init() { self.init(.nothing) }

  package mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&kind, &reason, &feeds)
  }
}
