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
    builder.finish()
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
  /// Each entry that is lost is told by its name: so many of them.
  private static let warningLimit = 10_000
  /// Bytes of the text between entries that are looked at: what cannot be read as an entry is text.
  private static let strayLimit = 1 << 18

  /// An element that is open.
  private struct Open {
    /// Of an outline; nil for other elements.
    var name: String?
    /// What to say of an outline that holds no others: it has an address, but none of a feed.
    var loss: String?
    /// What is in it are its episodes.
    var isFeed = false
  }

  var document = OPMLDocument()
  var warnings = FeedWarnings(most: OPMLBuilder.warningLimit)
  private(set) var rootName: String?
  private var open: [Open] = []
  private var isInTitle = false
  private var buffer: [UInt8] = []
  private var stray: [UInt8] = []

  var isOPML: Bool { rootName == "opml" }

  override func restart() {
    document = OPMLDocument()
    warnings = FeedWarnings(most: Self.warningLimit)
    (rootName, open, isInTitle, buffer, stray) = (nil, [], false, [], [])
  }

  /// The document has ended.
  func finish() { tellStrayEntries() }

  override func startElement(_ element: XMLElement) {
    if rootName == nil { rootName = String(cString: element.localName).lowercased() }
    isInTitle = open.count == 2 && XMLName.isEqual(element.localName, "title")
    tellStrayEntries()
    guard XMLName.isEqual(element.localName, "outline") else {
      open.append(Open())
      return
    }
    if let last = open.indices.last { open[last].loss = nil }
    let title = element.attribute("title") ?? element.attribute("text")
    open.append(Open(name: title.map(FeedText.oneLine) ?? ""))
    addFeed(element, title)
  }

  override func endElement() {
    tellStrayEntries()
    if isInTitle, !buffer.isEmpty {
      document.title = document.title ?? buffer.withUnsafeBufferPointer { FeedText.title($0) }
    }
    isInTitle = false
    buffer.removeAll(keepingCapacity: true)
    if let loss = open.popLast()?.loss { warnings.add(loss) }
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if isInTitle {
      if buffer.count < 4096 { buffer.append(contentsOf: bytes) }
    } else if !stray.isEmpty || bytes.contains(UInt8(ascii: "<")) {
      stray.append(contentsOf: bytes.prefix(Self.strayLimit - min(stray.count, Self.strayLimit)))
    }
  }

  /// What began as an entry and ended as text: the document was cut within it, or it has no end.
  private func tellStrayEntries() {
    guard !stray.isEmpty else { return }
    for entry in OPMLStrayEntry.all(in: stray) {
      warnings.add("\(Self.quoted(entry.name)) is cut off, or has no end")
    }
    stray.removeAll(keepingCapacity: true)
  }

  private static func quoted(_ title: String?) -> String {
    title.map { "“\(FeedText.oneLine($0))”" } ?? "an outline without a name"
  }

  private func addFeed(_ element: XMLElement, _ title: String?) {
    let type = element.attribute("type")?.lowercased()
    let name = Self.quoted(title)
    guard let address = element.attribute("xmlurl") ?? feedAddress(element, type) else {
      if let title, let damaged = OPMLStrayEntry.nameBeforeAddress(title) {
        warnings.add("\(Self.quoted(damaged)) has a quote that is not closed: its address can't be read")
      } else if type == "rss" || type == "atom" {
        warnings.add("\(name) has no address")
      } else if element.hasAttribute(where: Self.isAddress), let last = open.indices.last,
        open.dropLast().last?.isFeed != true
      {
        open[last].loss = "\(name) has an address, but none that is said to be a feed's (xmlUrl)"
      }
      return
    }
    if let last = open.indices.last { open[last].isFeed = true }
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
        folders: open.dropLast().compactMap(\.name).filter { !$0.isEmpty }))
  }

  private static func isAddress(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    let start = FeedText.string(UnsafeBufferPointer(rebasing: FeedText.trimmed(value).prefix(8))).lowercased()
    return ["http:", "https:", "feed:", "itpc:", "pcast:"].contains(where: start.hasPrefix)
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
