internal import PodcastModel

extension OPMLDocument {
  /// The most bytes that a list may have.
  package static let byteLimit = 16 << 20
  /// More feeds are left out, with a warning.
  fileprivate static let feedLimit = 100_000
  /// Each entry that is lost is named, up to so many.
  fileprivate static let mostWarnings = 10_000

  /// Reads OPML 1.0 or 2.0, outlines without a document around them, one address a line, or a link file, in this
  /// process. An entry that has no usable address becomes a warning.
  /// - Throws: `FeedError.notAList` for any other document.
  package static func parse(bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    try bytes.withBytes { all throws(FeedError) in try parse(XMLDocument(all, httpCharset: nil)) }
  }

  static func parse(_ document: XMLDocument) throws(FeedError) -> OPMLDocument {
    if let link = LinkFile.address(inBinary: document.bytes) { return OPMLDocument(link: link) }
    let builder = OPMLBuilder()
    let repairs = try document.read(by: builder, byteLimit: byteLimit)
    // Some programs write outlines without `opml` and `body` around them.
    if ["opml", "outline", "body"].contains(builder.state.rootName) {
      return OPMLDocument(builder.state, repairs)
    }
    if let link = builder.state.link { return OPMLDocument(link: link) }
    if document.bytes.count <= LinkFile.byteLimit,
      let link = document.withText({ LinkFile.address(inText: FeedText.string($0)) })
    {
      return OPMLDocument(link: link)
    }
    let foreign = ForeignDocument(head: document.bytes.prefix(1024), root: builder.state.rootName)
    if foreign.kind == .text {
      let list = OPMLDocument(document.withText { OPMLBuilder.State(lines: FeedText.string($0)) }, nil)
      if !list.feeds.isEmpty { return list }
    }
    throw .notAList(foreign)
  }

  private init(link: String) {
    self.init()
    self.link = link
  }

  private init(_ found: OPMLBuilder.State, _ repairs: XMLRepairs?) {
    self.init(title: found.title, feeds: found.feeds)
    refusals = found.warnings.count
    warnings = (repairs?.warnings ?? []) + found.warnings.lines
  }
}

/// Reads outlines, however deep they are.
private final class OPMLBuilder: XMLReceiver {
  struct State {
    var title: String?
    var feeds: [OPMLDocument.Feed] = []
    var warnings = FeedWarnings(most: OPMLDocument.mostWarnings)
    /// The name of the first element.
    var rootName: String?
    /// The address in a `.webloc` file of macOS, a property list: `<key>URL</key><string>…</string>`.
    var link: String?
    var depth = 0
    var isLinkNext = false
    /// The element whose text is read.
    var reading: Reading?
    var text: [UInt8] = []
  }

  enum Reading { case title, key, link }

  private(set) var state = State()

  override func restart() { state = State() }

  override func startElement(_ element: XMLElement) {
    if state.rootName == nil { state.rootName = String(cString: element.localName).lowercased() }
    state.reading =
      if state.rootName != "plist" {
        state.depth == 2 && element.isNamed("title") ? .title : nil
      } else if element.isNamed("key") {
        .key
      } else {
        state.isLinkNext && element.isNamed("string") ? .link : nil
      }
    state.depth += 1
    if element.isNamed("outline") { state.add(element) }
  }

  override func endElement() {
    let text = state.text.withUnsafeBufferPointer { FeedText.title($0) }
    switch state.reading {
    case .title where !text.isEmpty: state.title = state.title ?? text
    case .key: state.isLinkNext = text == "URL"
    case .link: state.link = state.link ?? text
    case .title, nil: break
    }
    state.reading = nil
    state.text.removeAll(keepingCapacity: true)
    state.depth -= 1
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if state.reading != nil, state.text.count < 4096 { state.text.append(contentsOf: bytes) }
  }
}

extension OPMLBuilder.State {
  /// One address a line; lines that begin with # are comments.
  init(lines text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let entry = FeedText.oneLine(String(line))
      if entry.isEmpty || entry.hasPrefix("#") { continue }
      guard let url = SubscriptionAddress.normalized(entry) else {
        warnings.add("“\(entry.prefix(80))” is no address of a feed")
        continue
      }
      add(OPMLDocument.Feed(url: url))
    }
  }

  mutating func add(_ element: XMLElement) {
    let type = element.attribute("type")?.lowercased()
    let isFeed = type == "rss" || type == "atom"
    let text = element.attribute("text").map(FeedText.oneLine)
    let title = element.attribute("title").map(FeedText.oneLine) ?? text
    let shown = title.map { "“\($0)”" } ?? "an outline without a name"
    // Some programs write the feed's address as `url` (OPML 1.0).
    guard let address = element.attribute("xmlurl") ?? (isFeed ? element.attribute("url") : nil) else {
      if isFeed { warnings.add("\(shown) has no address") }
      return
    }
    // Overcast lists also what it no longer follows.
    if element.attribute("subscribed") == "0" { return }
    guard let url = SubscriptionAddress.normalized(address) else {
      return warnings.add("\(shown) has an address that is neither http nor https")
    }
    let page = element.attributeBytes("htmlurl").flatMap { FeedAddress.absolute($0, base: nil) }
    add(
      OPMLDocument.Feed(
        url: url, title: title, name: text == title ? nil : text, htmlURL: page.map { WebAddress($0) }))
  }

  private mutating func add(_ feed: OPMLDocument.Feed) {
    if feeds.count < OPMLDocument.feedLimit { return feeds.append(feed) }
    warnings.add("has more than \(OPMLDocument.feedLimit) feeds: the rest is left out")
  }
}
