internal import PodcastModel

extension OPMLDocument {
  /// The most bytes that a list may have.
  package static let byteLimit = 16 << 20
  /// More feeds are left out, with a warning.
  fileprivate static let feedLimit = 100_000

  /// Reads OPML 1.0 or 2.0, outlines without a document around them, one address a line, or a link file, in this
  /// process. An entry that has no usable address becomes a warning.
  /// - Throws: `FeedError.notAList` for any other document.
  package static func parse(bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    try bytes.withBytes { all throws(FeedError) in try parse(XMLDocument(all, httpCharset: nil)) }
  }

  static func parse(_ document: XMLDocument) throws(FeedError) -> OPMLDocument {
    if let link = LinkFile.address(inBinary: document.bytes) { return OPMLDocument(link: link) }
    let builder = OPMLBuilder()
    let reader = XMLDocumentReader(receiver: builder, byteLimit: byteLimit)
    let repairs = try reader.read(document)
    if builder.isList {
      var list = builder.document
      list.refusals = builder.warnings.count
      list.warnings = (repairs?.warnings ?? []) + builder.warnings.lines
      return list
    }
    if let link = builder.link { return OPMLDocument(link: link) }
    if document.bytes.count <= LinkFile.byteLimit,
      let link = document.withText({ LinkFile.address(inText: FeedText.string($0)) })
    {
      return OPMLDocument(link: link)
    }
    let foreign = ForeignDocument(head: document.bytes.prefix(1024), root: builder.rootName)
    if foreign.kind == .text, let list = document.withText({ OPMLDocument(lines: FeedText.string($0)) }) {
      return list
    }
    throw .notAList(foreign)
  }

  private init(link: String) {
    self.init()
    self.link = link
  }

  /// One address a line; lines that begin with # are comments.
  /// - Returns: nil where no line is an address.
  private init?(lines text: String) {
    self.init()
    var warnings = FeedWarnings(most: FeedWarnings.mostOfList)
    for line in text.split(whereSeparator: \.isNewline) {
      let entry = FeedText.oneLine(String(line))
      if entry.isEmpty || entry.hasPrefix("#") { continue }
      if let url = SubscriptionAddress.normalized(entry), feeds.count < Self.feedLimit {
        feeds.append(Feed(url: url))
      } else {
        warnings.add("“\(entry.prefix(80))” is no address of a feed")
      }
    }
    if feeds.isEmpty { return nil }
    self.warnings = warnings.lines
    refusals = warnings.count
  }
}

extension FeedWarnings {
  /// Each entry that is lost is named, up to so many.
  fileprivate static let mostOfList = 10_000
}

/// Makes an `OPMLDocument` of outlines, however deep they are.
private final class OPMLBuilder: XMLReceiver {
  /// An element that is open.
  private struct Open {
    /// What to say of an outline that holds no others: it has an address, but none of a feed.
    var loss: String?
    /// The outlines in it are its episodes.
    var isFeed = false
  }

  var document = OPMLDocument()
  var warnings = FeedWarnings(most: FeedWarnings.mostOfList)
  private(set) var rootName: String?
  private var open: [Open] = []
  /// The address in a `.webloc` file of macOS, a property list: `<key>URL</key><string>…</string>`.
  private(set) var link: String?
  private var isLinkNext = false
  /// The element whose text is read.
  private var reading: Reading?
  private enum Reading { case title, key, link }
  private var buffer: [UInt8] = []

  /// Some programs write outlines without `opml` and `body` around them.
  var isList: Bool { rootName == "opml" || rootName == "outline" || rootName == "body" }

  override func restart() {
    document = OPMLDocument()
    warnings = FeedWarnings(most: FeedWarnings.mostOfList)
    (rootName, open, reading, buffer) = (nil, [], nil, [])
    (link, isLinkNext) = (nil, false)
  }

  override func startElement(_ element: XMLElement) {
    if rootName == nil { rootName = String(cString: element.localName).lowercased() }
    reading = kind(element)
    let isOutline = XMLName.isEqual(element.localName, "outline")
    if isOutline, let last = open.indices.last { open[last].loss = nil }
    open.append(Open())
    if isOutline { addFeed(element, element.attribute("title") ?? element.attribute("text")) }
  }

  override func endElement() {
    buffer.withUnsafeBufferPointer { text in
      switch reading {
      case .title where !text.isEmpty: document.title = document.title ?? FeedText.title(text)
      case .key: isLinkNext = FeedText.oneLine(FeedText.string(text)) == "URL"
      case .link: link = link ?? FeedText.oneLine(FeedText.string(text))
      case .title, nil: break
      }
    }
    reading = nil
    buffer.removeAll(keepingCapacity: true)
    if let loss = open.popLast()?.loss { warnings.add(loss) }
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if reading != nil, buffer.count < 4096 { buffer.append(contentsOf: bytes) }
  }

  private func kind(_ element: XMLElement) -> Reading? {
    if rootName != "plist" {
      return open.count == 2 && XMLName.isEqual(element.localName, "title") ? .title : nil
    }
    if XMLName.isEqual(element.localName, "key") { return .key }
    return isLinkNext && XMLName.isEqual(element.localName, "string") ? .link : nil
  }

  private func addFeed(_ element: XMLElement, _ title: String?) {
    let type = element.attribute("type")?.lowercased()
    let name = title.map { "“\(FeedText.oneLine($0))”" } ?? "an outline without a name"
    guard let address = element.attribute("xmlurl") ?? feedAddress(element, type) else {
      if type == "rss" || type == "atom" {
        warnings.add("\(name) has no address")
      } else if element.hasAttribute(where: Self.isAddress), let last = open.indices.last,
        open.dropLast().last?.isFeed != true
      {
        open[last].loss = "\(name) has an address, but none that is said to be a feed's (xmlUrl)"
      }
      return
    }
    if let last = open.indices.last { open[last].isFeed = true }
    // Overcast lists also what it no longer follows.
    if element.attribute("subscribed") == "0" { return }
    guard let url = SubscriptionAddress.normalized(address) else {
      return warnings.add("\(name) has an address that is neither http nor https")
    }
    guard document.feeds.count < OPMLDocument.feedLimit else {
      return warnings.add("has more than \(OPMLDocument.feedLimit) feeds: the rest is left out")
    }
    document.feeds.append(
      OPMLDocument.Feed(
        url: url, title: title.map(FeedText.oneLine), name: Self.name(element, title),
        htmlURL: element.attributeBytes("htmlurl").flatMap {
          FeedAddress.absolute($0, base: nil).map { WebAddress($0) }
        }))
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
}
