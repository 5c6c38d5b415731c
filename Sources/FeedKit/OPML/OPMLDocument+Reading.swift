internal import PodcastModel

extension OPMLDocument {
  /// The most bytes that a list may have.
  package static let byteLimit = 16 << 20
  /// Bytes that entities of its own may stand for together.
  private static let entityLimit = 65_536

  /// Reads OPML 1.0 or 2.0, also where it is not well-formed. An outline that is meant as a feed but has no
  /// usable address becomes a warning.
  /// - Throws: `FeedError.notOPML` for any other document.
  package static func parse(bytes: [UInt8], httpCharset: String? = nil) throws(FeedError) -> OPMLDocument {
    let builder = OPMLBuilder()
    let reader = XMLDocumentReader(
      receiver: builder, httpCharset: httpCharset, byteLimit: byteLimit, entityLimit: entityLimit)
    let repairs = try bytes.withUnsafeBufferPointer { all throws(FeedError) in
      try reader.read(.memory(UnsafeRawBufferPointer(all)))
    }
    guard builder.isOPML else { throw .notOPML(root: builder.rootName) }
    var document = builder.document
    document.warnings = (repairs?.warnings ?? []) + builder.warnings.lines
    document.refusals = builder.warnings.lines.count
    return document
  }
}

/// Makes an `OPMLDocument` of outlines, however deep they are.
private final class OPMLBuilder: XMLReceiver {
  /// More feeds are left out, with a warning.
  private static let feedLimit = 100_000

  var document = OPMLDocument()
  var warnings = FeedWarnings()
  private(set) var rootName: String?
  /// The names of the open outlines; nil for other elements.
  private var open: [String?] = []
  private var isInTitle = false
  private var buffer: [UInt8] = []

  var isOPML: Bool { rootName == "opml" }

  override func restart() {
    document = OPMLDocument()
    warnings = FeedWarnings()
    (rootName, open, isInTitle, buffer) = (nil, [], false, [])
  }

  override func startElement(_ element: XMLElement) {
    if rootName == nil { rootName = String(cString: element.localName).lowercased() }
    isInTitle = open.count == 2 && XMLName.isEqual(element.localName, "title")
    guard XMLName.isEqual(element.localName, "outline") else {
      open.append(nil)
      return
    }
    let title = element.attribute("title") ?? element.attribute("text")
    open.append(title.map(FeedText.oneLine) ?? "")
    addFeed(element, title)
  }

  override func endElement() {
    if isInTitle, !buffer.isEmpty {
      document.title = document.title ?? buffer.withUnsafeBufferPointer { FeedText.title($0) }
    }
    isInTitle = false
    buffer.removeAll(keepingCapacity: true)
    _ = open.popLast()
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if isInTitle, buffer.count < 4096 { buffer.append(contentsOf: bytes) }
  }

  private func addFeed(_ element: XMLElement, _ title: String?) {
    let type = element.attribute("type")?.lowercased()
    let name = title.map { "“\(FeedText.oneLine($0))”" } ?? "an outline without a name"
    guard let address = element.attribute("xmlurl") ?? feedAddress(element, type) else {
      if type == "rss" || type == "atom" { warnings.add("\(name) has no address") }
      return
    }
    guard let url = SubscriptionAddress.normalized(address) else {
      return warnings.add("\(name) has an address that is neither http nor https")
    }
    guard document.feeds.count < Self.feedLimit else {
      return warnings.add("has more than \(Self.feedLimit) feeds: the rest is left out")
    }
    document.feeds.append(
      Feed(
        url: url, title: title.map(FeedText.oneLine), name: Self.name(element, title),
        htmlURL: element.attributeBytes("htmlurl").flatMap {
          FeedAddress.absolute($0, base: nil).map { WebAddress($0) }
        },
        folders: open.dropLast().compactMap { $0 }.filter { !$0.isEmpty }))
  }

  /// Where the list calls the podcast otherwise than by its title.
  private static func name(_ element: XMLElement, _ title: String?) -> String? {
    guard let text = element.attribute("text").map(FeedText.oneLine), !text.isEmpty,
      text != title.map(FeedText.oneLine)
    else { return nil }
    return text
  }

  /// Some programs write the feed's address as `url` (OPML 1.0).
  private func feedAddress(_ element: XMLElement, _ type: String?) -> String? {
    type == "rss" || type == "atom" ? element.attribute("url") : nil
  }

  private typealias Feed = OPMLDocument.Feed
}
