internal import FeedKit
internal import PodcastModel

/// Any bytes give a feed or an error, the same in pieces of any size; what they give has only addresses that
/// may be asked for.
enum FeedFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    let whole = parse(bytes, pieceSize: max(1, bytes.count))
    let size = bytes.first.map { Int($0) % 97 + 1 } ?? 1
    let pieces = parse(bytes, pieceSize: size)
    precondition(whole == pieces, "pieces of \(size) bytes make a difference")
    guard let whole else { return 0 }
    for enclosure in whole.episodes.lazy.flatMap(\.enclosures) {
      precondition(enclosure.url.isWeb, enclosure.url.forRequest)
      precondition(enclosure.length.map { $0 > 0 } ?? true)
    }
    for notes in whole.episodes.lazy.compactMap(\.notes) { _ = PlainText.text(notes) }
    let report = FeedReport(feed: whole, feedURL: nil, now: 0)
    precondition(Set(report.names.map(UniqueNames.key)).count == report.names.count)
    precondition(!report.json.compactText.isEmpty && !report.text.isEmpty)
    return 0
  }

  private static func parse(_ bytes: UnsafeRawBufferPointer, pieceSize: Int) -> ParsedFeed? {
    guard let body = try? FeedBody(limit: 1 << 20) else { return nil }
    var start = 0
    while start < bytes.count {
      let end = min(start + pieceSize, bytes.count)
      guard (try? body.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))) != nil else {
        return nil
      }
      start = end
    }
    return try? FeedReader.inThisProcess.parse(body, baseURL: "https://h/f", httpCharset: nil)
  }
}
