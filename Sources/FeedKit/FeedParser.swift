internal import Glibc
package import PodcastModel
package import PosixKit

/// Reads a feed: RSS 0.9x, 1.0 and 2.0, Atom 1.0 and 0.3, with the vocabularies of iTunes, Podcasting 2.0, Media
/// RSS, content and Dublin Core. The document is parsed strictly; where that fails it is repaired (see
/// `XMLRepairer`) and parsed again.
package enum FeedParser {
  /// Of what the parser makes of a document: to be raised by one wherever that changes, so that feeds whose bytes
  /// are the same as before are read anew.
  static let version: UInt64 = 4

  /// Parses a feed that is wholly in memory.
  /// - Parameters:
  ///   - baseURL: where the feed came from, after redirects: relative addresses start from it.
  ///   - httpCharset: the `charset` parameter of the answer's Content-Type.
  package static func parse(
    bytes: [UInt8], baseURL: WebAddress? = nil, httpCharset: String? = nil, limits: FeedLimits = FeedLimits()
  ) throws(FeedError) -> ParsedFeed {
    try bytes.withUnsafeBufferPointer { all throws(FeedError) in
      try parse(.memory(UnsafeRawBufferPointer(all)), baseURL, httpCharset, limits)
    }
  }

  /// Parses a file that nobody else can change: it is read where it lies.
  /// - Parameter episodes: who gets them, instead of the feed.
  /// - Throws: `FeedError.storage` where it cannot be read.
  package static func parse(
    _ file: borrowing FileDescriptor, baseURL: WebAddress? = nil, httpCharset: String? = nil,
    limits: FeedLimits = FeedLimits(), episodes: EpisodeReceiver? = nil
  ) throws(FeedError) -> ParsedFeed {
    let mapped: SharedMemory?
    do {
      let size = Int(try file.status().st_size)
      mapped = size == 0 ? nil : try SharedMemory(file, size: size, writable: false)
    } catch {
      throw .storage(error)
    }
    guard let mapped else {
      return try parse(.memory(UnsafeRawBufferPointer(start: nil, count: 0)), baseURL, httpCharset, limits)
    }
    defer { withExtendedLifetime(mapped) {} }
    return try parse(
      .memory(UnsafeRawBufferPointer(mapped.bytes)), baseURL, httpCharset, limits, episodes)
  }

  /// Parses any file, of which only a piece is in memory at a time.
  package static func parse(file path: String) throws(FeedError) -> ParsedFeed {
    let file: FileDescriptor
    do { file = try FileDescriptor(opening: path, O_RDONLY) } catch { throw .storage(error) }
    return try parse(.file(file.rawValue), nil, nil, FeedLimits())
  }

  private static func parse(
    _ source: XMLSource, _ baseURL: WebAddress?, _ httpCharset: String?, _ limits: FeedLimits,
    _ episodes: EpisodeReceiver? = nil
  ) throws(FeedError) -> ParsedFeed {
    let builder = FeedBuilder(documentURL: baseURL, limits: limits, episodes: episodes)
    let reader = XMLDocumentReader(
      receiver: builder, httpCharset: httpCharset, byteLimit: limits.document, entityLimit: limits.entities)
    let repairs = try reader.read(source)
    guard builder.isFeed else { throw .notAFeed(root: builder.rootName) }
    let ending = repairs?.ending ?? .whole
    if repairs?.isWithinItem == true { builder.leaveOutLastItem() }
    do { try builder.finish() } catch { throw .storage(error) }
    var feed = builder.feed
    feed.ending = ending
    feed.warnings = (repairs?.warnings ?? []) + builder.warnings.lines
    return feed
  }
}
