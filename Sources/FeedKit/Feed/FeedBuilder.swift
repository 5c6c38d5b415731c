internal import PodcastModel

/// Makes a `ParsedFeed` of a document's elements, by the rules of `FeedRule`.
///
/// Its properties are those of a value that only the parser's calls change, one after the other: to check each access for
/// another one (exclusivity) would be an eighth of the time that a feed takes.
final class FeedBuilder: XMLReceiver {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  struct State {
    var feed = ParsedFeed()
    var channel = FeedFacts()
    var warnings = FeedWarnings()
    var rootName: String?
    var isFeed = false
    fileprivate var vocabulary = FeedVocabulary()
    fileprivate var contexts: [FeedContext] = [.document]
    /// How many elements are open within one that means nothing to us.
    fileprivate var ignoredDepth = 0
    fileprivate var itemCount = 0
    /// Addresses that relative ones start from: the document's own, then each `xml:base`.
    fileprivate var bases: [(depth: Int, address: WebAddress)] = []
  }

  /// The element whose text is being collected.
  private struct Capture {
    var rule: FeedRule
    /// How many elements are open in it.
    var depth = 0
    var keepsMarkup: Bool
    var isHTML: Bool
    /// The most bytes that are collected.
    var limit: Int
  }

  @exclusivity(unchecked) var state = State()
  /// Beside the state: what it does with addresses changes that.
  @exclusivity(unchecked) var draft = EpisodeDraft(index: 0)
  @exclusivity(unchecked) private var capture: Capture? { didSet { wantsText = capture != nil } }
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  private let documentURL: WebAddress?
  private let limits: FeedLimits

  init(documentURL: WebAddress?, limits: FeedLimits) {
    (self.documentURL, self.limits) = (documentURL, limits)
    buffer.reserveCapacity(4096)
    super.init()
    wantsText = false
  }

  override func restart() {
    state = State()
    capture = nil
    buffer.removeAll(keepingCapacity: true)
  }

  /// The document has ended. An item that it broke off in is left out.
  func finish() -> ParsedFeed {
    var feed = state.feed
    if feed.episodes.isEmpty, state.itemCount > 0 {
      let items = state.itemCount == 1 ? "one item" : "\(state.itemCount) items"
      let emptiness = "the feed has \(items), and nothing to play"
      feed.emptiness = emptiness
      state.warnings.add(emptiness)
    }
    let facts = state.channel
    (feed.title, feed.author, feed.description) = (facts.title.value, facts.author.value, facts.notes.value)
    (feed.link, feed.imageURL) = (facts.link.value, facts.image.value)
    (feed.explicit, feed.people) = (facts.explicit, facts.people)
    return feed
  }

  override func startElement(_ element: XMLElement) {
    if state.ignoredDepth > 0 {
      state.ignoredDepth += 1
    } else if capture != nil {
      if element.isNamed("script") || element.isNamed("style") { return state.ignoredDepth = 1 }
      capture?.depth += 1
      if capture?.keepsMarkup == true { collectStartTag(element) }
    } else {
      let context = state.contexts.last ?? .document
      apply(state.vocabulary.rule(for: element, in: context), element)
      if state.rootName == nil {
        state.rootName = String(cString: element.localName).lowercased()
        state.isFeed = state.contexts.count > 1
      }
    }
  }

  override func text(_ bytes: Bytes) { if capture != nil, state.ignoredDepth == 0 { collect(bytes) } }

  override func endElement() {
    if state.ignoredDepth > 0 {
      state.ignoredDepth -= 1
    } else if let ended = capture, ended.depth == 0 {
      capture = nil
      buffer.withUnsafeBufferPointer { bytes in
        let text = FeedText.trimmed(bytes)
        if !text.isEmpty { store(text, ended) }
      }
      buffer.removeAll(keepingCapacity: true)
    } else if capture != nil {
      capture?.depth -= 1
      if capture?.keepsMarkup == true { collect(CollectionOfOne(0x20)) }
    } else {
      let context = state.contexts.popLast()
      while let last = state.bases.last, last.depth > state.contexts.count { state.bases.removeLast() }
      if context == .item { endItem() }
    }
  }

  private func apply(_ rule: FeedRule, _ element: XMLElement) {
    switch rule {
    case .ignore: state.ignoredDepth = 1
    case .enter(let context): enter(context, element)
    case .element(let read): apply(read(self, element), element)
    case .notes(let rank):
      if rank <= (isInItem ? draft.facts : state.channel).notes.rank { return state.ignoredDepth = 1 }
      capture = Capture(rule: rule, keepsMarkup: isInItem, isHTML: false, limit: limits.text)
    case .title:
      // Atom says in an attribute how the title is written.
      let isHTML = element.attribute("type")?.lowercased().contains("html") ?? false
      capture = Capture(rule: rule, keepsMarkup: false, isHTML: isHTML, limit: limits.line)
    case .text: capture = Capture(rule: rule, keepsMarkup: false, isHTML: false, limit: limits.line)
    }
  }

  private func enter(_ context: FeedContext, _ element: XMLElement) {
    state.contexts.append(context)
    if context == .item {
      draft = EpisodeDraft(index: state.itemCount)
      state.itemCount += 1
      // `rdf:about` (RSS 1.0) stands for the guid where there is none.
      draft.guid.offer(element.attribute("about"), rank: 1)
    }
    guard element.attributeCount > 0 else { return }
    if let address = element.attributeBytes("base", prefix: "xml").flatMap(absolute) {
      state.bases.append((state.contexts.count, address))
    }
    if context == .channel, state.feed.language == nil {
      state.feed.language = element.attributeBytes("lang", prefix: "xml").map(FeedText.collapsed)
    }
  }

  private func store(_ text: Bytes, _ ended: Capture) {
    switch ended.rule {
    case .title(let rank):
      let title = FeedText.title(text)
      let meant = ended.isHTML ? FeedText.oneLine(TitleText.plain(title)) : title
      note { $0.title.offer(meant, rank: rank) }
    case .notes(let rank): note { $0.notes.offer(FeedText.string(text), rank: rank) }
    case .text(let take): take(self, text)
    case .ignore, .enter, .element: preconditionFailure("their text is not collected")
    }
  }

  private func endItem() {
    guard let episode = draft.finish(&state.warnings) else { return }
    if state.feed.episodes.count < limits.episodes {
      state.feed.episodes.append(episode)
    } else {
      state.warnings.add("has more than \(limits.episodes) episodes: the rest is left out")
    }
  }

  private var isInItem: Bool {
    switch state.contexts.last {
    case .item, .media, .chapters, .alternateEnclosure: true
    default: false
    }
  }

  /// Notes something of the item that is open, else of the channel.
  func note(_ change: (inout FeedFacts) -> Void) {
    if isInItem { change(&draft.facts) } else { change(&state.channel) }
  }

  /// An address made absolute: from the nearest `xml:base`, the channel's page or the document's address.
  func absolute(_ address: Bytes) -> WebAddress? {
    FeedAddress.absolute(address, base: state.bases.last?.address ?? state.channel.link.value ?? documentURL)
  }

  func address(_ element: XMLElement, _ attribute: StaticString) -> WebAddress? {
    element.attributeBytes(attribute).flatMap(absolute)
  }

  /// Adds to the text that is collected what there is room for, whole characters only.
  private func collect(_ bytes: some BidirectionalCollection<UInt8>) {
    let room = (capture?.limit ?? 0) - buffer.count
    if bytes.count <= room { return buffer.append(contentsOf: bytes) }
    // Nothing more fits.
    capture?.limit = buffer.count
    var end = bytes.index(bytes.startIndex, offsetBy: max(room, 0))
    while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
    buffer.append(contentsOf: bytes[..<end])
  }

  /// Show notes that stand in the document as XHTML or unescaped HTML are kept as text, paragraphs and links.
  private func collectStartTag(_ element: XMLElement) {
    guard buffer.count < capture?.limit ?? 0 else { return }
    let name = String(cString: element.localName)
    let link = element.attributeBytes("href").map { " href=\"\(FeedText.string($0))\"" } ?? ""
    collect(Array("<\(name)\(link)>".utf8))
  }
}
