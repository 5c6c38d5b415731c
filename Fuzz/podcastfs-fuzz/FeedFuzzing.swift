internal import FeedKit
internal import PodcastModel

/// Any bytes give a feed or an error, the same in pieces of any size; what they give has only addresses that
/// may be asked for. With limits so low that every document meets them, they hold.
enum FeedFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    let whole = parse(bytes, pieceSize: max(1, bytes.count))
    let size = bytes.first.map { Int($0) % 97 + 1 } ?? 1
    let pieces = parse(bytes, pieceSize: size)
    precondition(whole == pieces, "pieces of \(size) bytes make a difference")
    checkLimits(bytes)
    guard let whole else { return 0 }
    for enclosure in whole.episodes.lazy.flatMap(\.enclosures) {
      precondition(enclosure.url.isWeb, enclosure.url.forRequest)
      precondition(enclosure.length.map { $0 > 0 } ?? true)
    }
    precondition(whole.episodes.allSatisfy { $0.duration.map { $0 > 0 } ?? true })
    for notes in whole.episodes.lazy.compactMap(\.notes) { _ = PlainText.text(notes) }
    let report = FeedReport(feed: whole, feedURL: nil, now: 0)
    precondition(report.names.allSatisfy { !$0.isEmpty })
    precondition(!report.json.compactText.isEmpty && !report.text.isEmpty)
    return 0
  }

  private static func checkLimits(_ bytes: UnsafeRawBufferPointer) {
    var limits = FeedLimits()
    (limits.text, limits.line, limits.episodes) = (40, 20, 3)
    guard let feed = try? FeedParser.parse(bytes: Array(bytes), baseURL: "https://h/f", limits: limits) else {
      return
    }
    precondition(feed.episodes.count <= limits.episodes)
    precondition((feed.description?.utf8.count ?? 0) <= limits.text)
    // What is not UTF-8 becomes U+FFFD, which is longer.
    func isShort(_ text: String?) -> Bool { (text?.utf8.count ?? 0) <= limits.line * 3 }
    precondition(isShort(feed.title) && isShort(feed.author) && feed.categories.count <= 100)
    for episode in feed.episodes {
      precondition((episode.notes?.utf8.count ?? 0) <= limits.text * 3)
      precondition(isShort(episode.title) && episode.enclosures.count <= 50)
      precondition(episode.transcripts.count <= 50)
    }
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer, pieceSize: Int) -> ParsedFeed? {
    guard let body = try? FeedBody(Array(bytes), limit: 1 << 20) else { return nil }
    return try? FeedParser.parse(bytes: body.bytes(), baseURL: "https://h/f")
  }
}
