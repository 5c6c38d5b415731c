internal import FeedKit
internal import PodcastModel

/// Whatever a parser's process writes gives a feed or an error: it is not trusted.
enum ResultFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    if let feed: ParsedFeed = result(bytes) {
      precondition(feed.episodes.count <= bytes.count)
      for episode in feed.episodes { precondition((episode.notes?.utf8.count ?? 0) <= bytes.count) }
    }
    if let list: OPMLDocument = result(bytes) { precondition(list.feeds.count <= bytes.count) }
    return 0
  }

  private static func result<Document: FieldCoded>(_ bytes: UnsafeRawBufferPointer) -> Document? {
    guard let document = try? Result<Document, FeedError>(decoding: Array(bytes)[...]).get() else {
      return nil
    }
    // What was read is written again as it was read.
    require((try? Document(decoding: document.encoded[...]).encoded) == document.encoded)
    return document
  }
}
