internal import PodcastModel

/// Makes a `ParsedFeed` of a document's elements. Where an element means something depends on its parent:
/// the title of an image is not the channel's, an item within a live item or another publisher's element is
/// none.
///
/// Its properties are those of a value that only the parser's calls change, one after the other: to check each access for
/// another one (exclusivity) would be an eighth of the time that a feed takes.
final class FeedBuilder: XMLReceiver {
  enum Context {
    case document, root, channel, item, image, author, mediaGroup, mediaContent, simpleChapters
    case alternateEnclosure
  }

  struct State {
    var feed = ParsedFeed()
    var title = Ranked<String>()
    var author = Ranked<String>()
    var about = Ranked<String>()
    var link = Ranked<WebAddress>()
    var image = Ranked<WebAddress>()
    var warnings = FeedWarnings()
    var rootName: String?
    var isFeed = false
    var guidIsPermalink = false
    fileprivate var vocabulary = FeedVocabulary()
    fileprivate var contexts: [Context] = [.document]
    /// How many elements are open within one that means nothing to us.
    fileprivate var ignoredDepth = 0
    fileprivate var itemCount = 0
    /// Addresses that relative ones start from: the document's own, then each `xml:base`.
    fileprivate var bases: [(depth: Int, address: WebAddress)] = []
  }

  @exclusivity(unchecked) var state = State()
  /// Beside the state: what it does with addresses changes that.
  @exclusivity(unchecked) var draft = EpisodeDraft(index: 0)
  /// The element whose text is being collected; nil for none.
  @exclusivity(unchecked) private var captured: FeedElement? { didSet { wantsText = captured != nil } }
  @exclusivity(unchecked) private var capturedDepth = 0
  @exclusivity(unchecked) private var keepsMarkup = false
  @exclusivity(unchecked) private(set) var capturedIsHTML = false
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  /// The most bytes that are collected now.
  @exclusivity(unchecked) private var bufferLimit = 0
  private let documentURL: WebAddress?
  private let limits: FeedLimits

  /// - Parameter documentURL: where the document came from.
  init(documentURL: WebAddress?, limits: FeedLimits) {
    self.documentURL = documentURL
    self.limits = limits
    buffer.reserveCapacity(4096)
    super.init()
    wantsText = false
  }

  override func restart() {
    state = State()
    captured = nil
    buffer.removeAll(keepingCapacity: true)
  }

  /// The document has ended. An item that it broke off in is left out.
  func finish() -> ParsedFeed {
    var feed = state.feed
    feed.emptiness = emptiness
    if let emptiness { state.warnings.add(emptiness) }
    (feed.title, feed.author, feed.description) = (state.title.value, state.author.value, state.about.value)
    (feed.link, feed.imageURL) = (state.link.value, state.image.value)
    return feed
  }

  private var emptiness: String? {
    let count = state.itemCount
    if !state.feed.episodes.isEmpty || count == 0 { return nil }
    return "the feed has \(count == 1 ? "one item" : "\(count) items"), and nothing to play"
  }

  override func startElement(_ element: XMLElement) {
    if state.ignoredDepth > 0 {
      state.ignoredDepth += 1
    } else if captured != nil {
      if element.isNamed("script") || element.isNamed("style") { return ignore() }
      capturedDepth += 1
      if keepsMarkup { appendStartTag(element) }
    } else {
      start(element)
    }
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if captured != nil, state.ignoredDepth == 0 { collect(bytes) }
  }

  /// Adds to the text that is collected what there is room for, whole characters only.
  private func collect(_ bytes: some BidirectionalCollection<UInt8>) {
    let room = bufferLimit - buffer.count
    if bytes.count <= room { return buffer.append(contentsOf: bytes) }
    // Nothing more fits.
    bufferLimit = buffer.count
    var end = bytes.index(bytes.startIndex, offsetBy: max(room, 0))
    while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
    buffer.append(contentsOf: bytes[..<end])
  }

  override func endElement() {
    if state.ignoredDepth > 0 {
      state.ignoredDepth -= 1
    } else if captured != nil, capturedDepth > 0 {
      capturedDepth -= 1
      if keepsMarkup { collect(CollectionOfOne(0x20)) }
    } else if let kind = captured {
      captured = nil
      buffer.withUnsafeBufferPointer { bytes in
        let text = FeedText.trimmed(bytes)
        if !text.isEmpty { store(kind, text, state.contexts.last ?? .document) }
      }
      buffer.removeAll(keepingCapacity: true)
    } else {
      end(state.contexts.popLast() ?? .document)
    }
  }

  private func start(_ element: XMLElement) {
    let context = state.contexts.last ?? .document
    if context == .document { state.vocabulary.noteRoot(element) }
    let kind = state.vocabulary.find(element)
    switch (context, kind) {
    case (.document, .rss), (.document, .rdf): enter(.root, element)
    case (.document, .atomFeed), (.document, .channel), (.root, .channel): enter(.channel, element)
    case (.root, .item), (.channel, .item), (.channel, .atomEntry): beginItem(element)
    case (.channel, .image), (.root, .image): enter(.image, element)
    case (.channel, .atomAuthor): enter(.author, element)
    case (.item, .mediaGroup): enter(.mediaGroup, element)
    case (.item, .pscChapters): enter(.simpleChapters, element)
    case (.item, .podcastAlternateEnclosure):
      enter(.alternateEnclosure, element)
      draft.describeFile(element)
    case (.alternateEnclosure, .podcastSource):
      draft.addSource(element)
      ignore()
    case (.simpleChapters, .pscChapter):
      draft.addChapter(element, absolute)
      ignore()
    case (.channel, _): channelElement(kind, element)
    case (.item, _), (.mediaGroup, _), (.mediaContent, _): itemElement(kind, element, context)
    case (.image, .url), (.author, .atomName): capture(kind)
    default: ignore()
    }
    if state.rootName == nil {
      state.rootName = String(cString: element.localName).lowercased()
      state.isFeed = state.contexts.count > 1
    }
  }

  func ignore() { state.ignoredDepth = 1 }

  /// Collects an element's text; `store` gets it at the element's end.
  /// - Parameter element: where its attributes say how the text is written (Atom).
  func capture(_ kind: FeedElement, _ element: XMLElement? = nil, keepsMarkup: Bool = false) {
    captured = kind
    bufferLimit = kind.rankOfNotes == nil ? limits.line : limits.text
    capturedDepth = 0
    self.keepsMarkup = keepsMarkup
    capturedIsHTML = element?.attribute("type").map { $0.lowercased().contains("html") } ?? false
  }

  func enter(_ context: Context, _ element: XMLElement) {
    state.contexts.append(context)
    guard element.attributeCount > 0 else { return }
    if let address = element.attributeBytes("base", prefix: "xml").flatMap(absolute) {
      state.bases.append((state.contexts.count, address))
    }
    if context == .channel, state.feed.language == nil {
      state.feed.language = element.attributeBytes("lang", prefix: "xml").map(FeedText.collapsed)
    }
  }

  private func end(_ context: Context) {
    while let last = state.bases.last, last.depth > state.contexts.count { state.bases.removeLast() }
    if context == .item { endItem() }
  }

  private func beginItem(_ element: XMLElement) {
    enter(.item, element)
    draft = EpisodeDraft(index: state.itemCount)
    state.itemCount += 1
    // `rdf:about` (RSS 1.0) stands for the guid where there is none.
    draft.guid.offer(element.attribute("about"), rank: 1)
  }

  private func endItem() {
    guard let episode = draft.finish(&state.warnings) else { return }
    if state.feed.episodes.count < limits.episodes {
      state.feed.episodes.append(episode)
    } else {
      state.warnings.add("has more than \(limits.episodes) episodes: the rest is left out")
    }
  }

  /// An address made absolute: from the nearest `xml:base`, the channel's page or the document's address.
  func absolute(_ address: UnsafeBufferPointer<UInt8>) -> WebAddress? {
    FeedAddress.absolute(address, base: state.bases.last?.address ?? state.link.value ?? documentURL)
  }

  /// Show notes that stand in the document as XHTML or unescaped HTML are kept as text, paragraphs and links.
  private func appendStartTag(_ element: XMLElement) {
    guard buffer.count < bufferLimit else { return }
    let name = String(cString: element.localName)
    let link = element.attributeBytes("href").map { " href=\"\(FeedText.string($0))\"" } ?? ""
    collect(Array("<\(name)\(link)>".utf8))
  }
}
