internal import PodcastModel

extension OPMLDocument {
  package static let byteLimit = 16 << 20
  /// The most bytes that a backup may have: AntennaPod's has all show notes.
  package static let backupLimit = 192 << 20

  /// The most bytes that a document may have. Its first `bytes` tell whether it is a backup, which may be larger.
  static func limit(of bytes: UnsafeRawBufferPointer) -> Int {
    BackupDatabase.isOne(bytes) || StateFile.isOne(bytes) ? backupLimit : byteLimit
  }

  fileprivate static let feedLimit = 100_000
  fileprivate static let episodeLimit = 500_000
  /// Each entry that is lost is named, up to so many.
  fileprivate static let mostWarnings = 10_000

  /// Reads OPML 1.0 or 2.0, one address a line, or a link file, in this
  /// process. An entry that has no usable address becomes a warning.
  /// - Throws: `FeedError.notAList` for any other document.
  package static func parse(bytes: [UInt8]) throws(FeedError) -> OPMLDocument {
    try bytes.withBytes { all throws(FeedError) in try parse(XMLDocument(all, httpCharset: nil)) }
  }

  static func parse(_ document: XMLDocument) throws(FeedError) -> OPMLDocument {
    if BackupDatabase.isOne(document.bytes) { return try BackupDatabase.read(document.bytes) }
    if let state = try StateFile.document(document.bytes) { return state }
    if let link = LinkFile.address(in: document) {
      var list = OPMLDocument()
      list.link = link
      return list
    }
    let builder = OPMLBuilder()
    let reading = try document.read(by: builder, byteLimit: byteLimit)
    var foreign = ForeignDocument(head: document.bytes, root: builder.state.rootName)
    if foreign.kind == .list, reading.isWhole || !builder.state.document.feeds.isEmpty {
      return builder.state.finished(reading.warnings)
    }
    if foreign.kind == .other,
      let found = document.withText({ OPMLBuilder.State(lines: $0, reason: &foreign.reason) })
    {
      return found.finished([])
    }
    throw .notAList(foreign)
  }
}

private final class OPMLBuilder: XMLReceiver {
  struct State {
    var document = OPMLDocument()
    var warnings = FeedWarnings(most: OPMLDocument.mostWarnings)
    var rootName: String?
    var depth = 0
    /// The feed whose outline is open. Overcast lists its episodes within it.
    var feed: WebAddress?
    /// What the list's title has so far, while it is read.
    var text: [UInt8]?

    func finished(_ repairs: [String]) -> OPMLDocument {
      var finished = document
      finished.refusals = warnings.count
      finished.warnings = repairs + warnings.lines
      return finished
    }
  }

  private(set) var state = State()

  override func restart() { state = State() }

  override func startElement(_ element: XMLElement) {
    if state.rootName == nil { state.rootName = String(cString: element.localName).lowercased() }
    state.text = state.document.title == nil && state.depth == 2 && element.isNamed("title") ? [] : nil
    state.depth += 1
    if element.isNamed("outline") { state.add(element) }
  }

  override func endElement() {
    let title = state.text?.withUnsafeBufferPointer { FeedText.title($0) } ?? ""
    if !title.isEmpty { state.document.title = title }
    state.text = nil
    state.depth -= 1
  }

  override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
    if let count = state.text?.count, count < 4096 { state.text?.append(contentsOf: bytes) }
  }
}

extension OPMLBuilder.State {
  /// One address a line; lines that begin with # are comments. Prose has addresses, too: a text of which most lines are none
  /// is no list.
  /// - Parameter reason: gets the first line that is no address, where the text is no list.
  init?(lines bytes: UnsafeBufferPointer<UInt8>, reason: inout String?) {
    let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }
    guard isText, let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var refused: [String] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (place, line) in lines.enumerated() {
      let entry = FeedText.oneLine(String(line))
      if entry.isEmpty || entry.hasPrefix("#") { continue }
      if let url = SubscriptionAddress.listed(entry) {
        add(OPMLDocument.Feed(url: url))
      } else {
        refused.append(
          "line \(place + 1) is no address: “\(PrintableText.line(WebAddress(entry).shown).prefix(80))”")
      }
    }
    if refused.count > document.feeds.count || document.feeds.isEmpty {
      reason = refused.first
      return nil
    }
    for line in refused { warnings.add(line) }
  }

  mutating func add(_ element: XMLElement) {
    let type = element.attribute("type")?.lowercased()
    if type == "podcast-episode" { return addEpisode(element) }
    feed = nil
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
    feed = url
    var listed = OPMLDocument.Feed(
      url: url, title: title, name: text == title ? nil : text,
      htmlURL: element.attributeBytes("htmlurl").flatMap { FeedAddress.absolute($0) })
    listed.mayBePrivate =
      element.attributeBytes("private", prefix: "podcastfs").map(FeedText.string) == "true"
    add(listed)
  }

  /// An episode as Overcast's "all data" has it.
  private mutating func addEpisode(_ element: XMLElement) {
    guard let feed, document.episodes.count < OPMLDocument.episodeLimit,
      let address = element.attribute("enclosureurl") ?? element.attribute("url")
    else { return }
    var episode = EpisodeReport(podcast: feed, address: WebAddress(address))
    if element.attribute("played") == "1" {
      episode.state = .played
    } else if let progress = element.attribute("progress").flatMap({ Int64($0) }), (1..<1_000_000) ~= progress
    {
      episode.state = .position(progress * 1000, of: nil)
    }
    episode.time = element.attribute("userupdateddate").flatMap { DateText.seconds($0) } ?? 0
    if episode.isNews { document.episodes.append(episode) }
  }

  private mutating func add(_ feed: OPMLDocument.Feed) {
    if document.feeds.count < OPMLDocument.feedLimit { return document.feeds.append(feed) }
    warnings.add("has more than \(OPMLDocument.feedLimit) feeds: the rest is left out")
  }
}
