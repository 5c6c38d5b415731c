package import PodcastModel

/// Reads a feed: RSS 0.9x, 1.0 and 2.0, Atom 1.0 and 0.3, with the vocabularies of iTunes, Podcasting 2.0, Media
/// RSS, content and Dublin Core. The document is parsed strictly; where that fails it is repaired (see
/// `XMLRepairer`) and parsed again.
package enum FeedParser {
  /// Of what the parser makes of a document: to be raised by one wherever that changes, so that feeds whose bytes
  /// are the same as before are read anew.
  static let version: UInt64 = 6

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

  /// - Parameter episodes: gets the episodes, which the feed then does not hold.
  static func parse(
    _ document: XMLDocument, baseURL: WebAddress?, limits: FeedLimits, episodes: EpisodeReceiver? = nil
  ) throws(FeedError) -> ParsedFeed {
    let builder = FeedBuilder(documentURL: baseURL, limits: limits, episodes: episodes)
    let reader = XMLDocumentReader(receiver: builder, byteLimit: limits.document)
    let repairs = try reader.read(document)
    guard builder.isFeed else {
      throw .notAFeed(foreign(document, root: builder.rootName, baseURL: baseURL))
    }
    let ending = repairs?.ending ?? .whole
    if repairs?.isWithinItem == true { builder.leaveOutLastItem() }
    builder.finish()
    var feed = builder.feed
    feed.ending = ending
    feed.warnings = (repairs?.warnings ?? []) + builder.warnings.lines
    return feed
  }

  private static func foreign(_ document: XMLDocument, root: String?, baseURL: WebAddress?) -> ForeignDocument
  {
    var found = ForeignDocument(head: document.bytes.prefix(1024), root: root)
    if found.kind == .webPage, let baseURL { found.feeds = FeedLinks.find(document.bytes, baseURL: baseURL) }
    return found
  }
}
