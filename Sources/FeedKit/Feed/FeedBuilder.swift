internal import PodcastModel

/// Makes a `ParsedFeed` of a document's elements. Where an element means something depends on its parent:
/// the title of an image is not the channel's, an item within a live item or another publisher's element is
/// none.
///
/// Its properties are those of a value that only the parser's calls change, one after the other: to check each access for
/// another one (exclusivity) would be an eighth of the time that a feed takes.
final class FeedBuilder: XMLReceiver {
  /// What an open element is to its children.
  enum Context {
    case document, root, channel, item, image, author, owner, mediaGroup, mediaContent, alternateEnclosure
  }

  @exclusivity(unchecked) var feed = ParsedFeed()
  @exclusivity(unchecked) var draft = EpisodeDraft(index: 0)
  @exclusivity(unchecked) var ranks = FeedRanks()
  @exclusivity(unchecked) var warnings = FeedWarnings()
  /// The name of the first element.
  @exclusivity(unchecked) private(set) var rootName: String?
  @exclusivity(unchecked) private(set) var isFeed = false
  @exclusivity(unchecked) private var table = FeedElementTable()
  @exclusivity(unchecked) private var contexts: [Context] = [.document]
  /// How many elements are open within one that means nothing to us.
  @exclusivity(unchecked) private var ignoredDepth = 0
  @exclusivity(unchecked) private var itemCount = 0
  @exclusivity(unchecked) private(set) var episodeCount = 0
  /// The last episode: handed on when it is sure that the document has not broken off within it.
  @exclusivity(unchecked) private var held: ParsedEpisode?
  @exclusivity(unchecked) var guidIsPermalink = false
  /// Who gets the episodes; nil where they are kept in `feed`.
  private let episodes: EpisodeReceiver?
  /// The element whose text is being collected, and how many elements are open within it.
  @exclusivity(unchecked) private var captured = FeedElement.other
  @exclusivity(unchecked) private var isCapturing = false { didSet { wantsText = isCapturing } }
  @exclusivity(unchecked) private var capturedDepth = 0
  @exclusivity(unchecked) private var keepsMarkup = false
  @exclusivity(unchecked) private(set) var capturedIsHTML = false
  @exclusivity(unchecked) private var buffer: [UInt8] = []
  /// The most bytes that are collected now.
  @exclusivity(unchecked) private var bufferLimit = 0
  /// Bytes of the texts and addresses that there have been.
  @exclusivity(unchecked) private var output = 0
  @exclusivity(unchecked) private var isExhausted = false
  /// Addresses that relative ones start from: the document's own, then each `xml:base`.
  @exclusivity(unchecked) private var bases: [(depth: Int, address: WebAddress)] = []
  let documentURL: WebAddress?

  private let limits: FeedLimits

  /// - Parameters:
  ///   - documentURL: where the document came from.
  ///   - episodes: who gets them; nil where they are kept in `feed`.
  init(documentURL: WebAddress?, limits: FeedLimits, episodes: EpisodeReceiver? = nil) {
    self.documentURL = documentURL
    self.episodes = episodes
    self.limits = limits
    buffer.reserveCapacity(4096)
    super.init()
    wantsText = false
  }

  override func restart() {
    episodes?.restart()
    episodeCount = 0
    held = nil
    feed = ParsedFeed()
    draft = EpisodeDraft(index: 0)
    ranks = FeedRanks()
    warnings = FeedWarnings()
    (output, isExhausted) = (0, false)
    (rootName, isFeed, contexts, ignoredDepth, itemCount) = (nil, false, [.document], 0, 0)
    (isCapturing, capturedDepth, bases) = (false, 0, [])
    buffer.removeAll(keepingCapacity: true)
    table.removeAll()
  }

  /// The document broke off amid its last item.
  func leaveOutLastItem() {
    guard held?.index == itemCount - 1 else { return }
    held = nil
    episodeCount -= 1
  }

  private func handOn() {
    guard let episode = held.take() else { return }
    if let episodes { episodes.take(episode) } else { feed.episodes.append(consume episode) }
  }

  /// The document has ended.
  func finish() {
    handOn()
    (feed.itemCount, feed.episodeCount) = (itemCount, episodeCount)
    if let emptiness = feed.emptiness { warnings.add(emptiness) }
  }

  override func startElement(_ element: XMLElement) {
    if ignoredDepth > 0 {
      ignoredDepth += 1
    } else if isCapturing {
      if XMLName.isEqual(element.localName, "script") || XMLName.isEqual(element.localName, "style") {
        return ignore()
      }
      capturedDepth += 1
      if keepsMarkup { appendStartTag(element) }
    } else {
      start(element)
    }
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard isCapturing, ignoredDepth == 0 else { return }
    collect(bytes)
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
    if ignoredDepth > 0 {
      ignoredDepth -= 1
    } else if isCapturing, capturedDepth > 0 {
      capturedDepth -= 1
      if keepsMarkup { collect(CollectionOfOne(0x20)) }
    } else if isCapturing {
      isCapturing = false
      spend(buffer.count)
      buffer.withUnsafeBufferPointer { store(captured, $0, contexts.last ?? .document) }
      buffer.removeAll(keepingCapacity: true)
    } else {
      end(contexts.popLast() ?? .document)
    }
  }

  private func start(_ element: XMLElement) {
    if isExhausted { return ignore() }
    let context = contexts.last ?? .document
    if context == .document { table.noteRoot(element) }
    let kind = table.find(element)
    switch (context, kind) {
    case (.document, .rss), (.document, .rdf): enter(.root, element)
    case (.document, .atomFeed), (.document, .channel), (.root, .channel): enter(.channel, element)
    case (.root, .item), (.channel, .item), (.channel, .atomEntry): beginItem(element)
    case (.channel, .image), (.root, .image): enter(.image, element)
    case (.channel, .itunesOwner): enter(.owner, element)
    case (.channel, .atomAuthor): enter(.author, element)
    case (.item, .mediaGroup): enter(.mediaGroup, element)
    case (.item, .podcastAlternateEnclosure): beginAlternate(element)
    case (.channel, _): channelElement(kind, element)
    case (.item, _), (.mediaGroup, _), (.mediaContent, _): itemElement(kind, element, context)
    case (.image, .url), (.image, .title), (.owner, .itunesName), (.author, .atomName): capture(kind)
    case (.alternateEnclosure, .podcastSource):
      draft.addAlternateSource(element)
      ignore()
    default: ignore()
    }
    if rootName == nil {
      rootName = String(cString: element.localName).lowercased()
      isFeed = contexts.count > 1
    }
  }

  func ignore() { ignoredDepth = 1 }

  /// Collects an element's text; `store` gets it at the element's end.
  /// - Parameter element: where its attributes say how the text is written (Atom).
  func capture(_ kind: FeedElement, _ element: XMLElement? = nil, keepsMarkup: Bool = false) {
    captured = kind
    bufferLimit = kind.isLong ? limits.text : limits.line
    isCapturing = true
    capturedDepth = 0
    self.keepsMarkup = keepsMarkup
    capturedIsHTML = element?.attribute("type").map { $0.lowercased().contains("html") } ?? false
  }

  func enter(_ context: Context, _ element: XMLElement) {
    contexts.append(context)
    if element.attributeCount > 0 {
      if let address = element.xmlAttribute("base").flatMap(absolute) {
        bases.append((contexts.count, address))
      }
      if context == .channel, feed.language == nil {
        feed.language = element.xmlAttribute("lang").map(FeedText.string)
      }
    }
  }

  private func end(_ context: Context) {
    while let last = bases.last, last.depth > contexts.count { bases.removeLast() }
    if context == .item { endItem() }
  }

  private func beginItem(_ element: XMLElement) {
    enter(.item, element)
    draft.begin(index: itemCount)
    itemCount += 1
    if let about = element.attribute("about"), draft.episode.guid == nil { draft.about = about }
  }

  private func beginAlternate(_ element: XMLElement) {
    enter(.alternateEnclosure, element)
    draft.beginAlternate(element)
  }

  private func endItem() {
    guard let episode = draft.finish(&warnings) else {
      if draft.namesPage { feed.pageCount += 1 }
      return
    }
    handOn()
    if episodeCount < limits.episodes {
      episodeCount += 1
      held = episode
    } else {
      warnings.add("has more than \(limits.episodes) episodes: the rest is left out")
    }
  }

  /// Counts what a document becomes: one that becomes many times what it is ends here.
  private func spend(_ bytes: Int) {
    output += bytes
    guard output > limits.output(ofDocument: documentBytes), !isExhausted else { return }
    isExhausted = true
    warnings.add("its texts are many times as long as the feed itself: the rest is left out")
  }

  /// An address made absolute: from the nearest `xml:base`, the channel's page or the document's address.
  func absolute(_ address: UnsafeBufferPointer<UInt8>) -> WebAddress? {
    let base = bases.last?.address ?? feed.link ?? documentURL
    guard let found = FeedAddress.absolute(address, base: base?.forRequest) else { return nil }
    spend(found.utf8.count)
    return WebAddress(found)
  }

  /// Show notes that stand in the document as XHTML or unescaped HTML are kept as text, paragraphs and links.
  private func appendStartTag(_ element: XMLElement) {
    guard buffer.count < bufferLimit else { return }
    var tag = Array("<".utf8)
    tag += String(cString: element.localName).utf8
    if let link = element.attributeBytes("href") {
      tag += " href=\"".utf8
      tag += link
      tag.append(UInt8(ascii: "\""))
    }
    tag.append(UInt8(ascii: ">"))
    collect(tag)
  }
}
