package import PodcastModel

/// Reads a feed: RSS 0.9x, 1.0 and 2.0, Atom 1.0 and 0.3, with the vocabularies of iTunes, Podcasting 2.0, Media
/// RSS, content and Dublin Core. The document is parsed strictly; where that fails it is repaired (see
/// `XMLRepairer`) and parsed again.
package enum FeedParser {
  /// Raise it by one wherever the parser makes something else of a document: feeds whose bytes are the same as before
  /// are then read anew.
  static let version: UInt32 = 9

  /// Parses a feed in this process.
  /// - Parameters:
  ///   - baseURL: where the feed came from, after redirects: relative addresses start from it.
  ///   - httpCharset: the `charset` parameter of the answer's Content-Type.
  package static func parse(
    bytes: [UInt8], baseURL: WebAddress? = nil, httpCharset: String? = nil, limits: FeedLimits = FeedLimits()
  ) throws(FeedError) -> ParsedFeed {
    try bytes.withBytes { all throws(FeedError) in
      try parse(XMLDocument(all, httpCharset: httpCharset), baseURL: baseURL, limits: limits)
    }
  }

  static func parse(
    _ document: XMLDocument, baseURL: WebAddress?, limits: FeedLimits
  ) throws(FeedError) -> ParsedFeed {
    let builder = FeedBuilder(documentURL: baseURL, limits: limits)
    let reading = try document.read(by: builder, byteLimit: limits.document)
    guard builder.state.isFeed else {
      var found = ForeignDocument(head: document.bytes, root: builder.state.rootName)
      if found.kind == .webPage, let baseURL {
        found.feeds = FeedLinks.find(document.bytes, baseURL: baseURL)
      }
      throw .notAFeed(found)
    }
    var feed = builder.finish()
    feed.isWhole = reading.isWhole
    feed.warnings = reading.warnings + builder.state.warnings.lines
    return feed
  }
}
