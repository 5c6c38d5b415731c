internal import Glibc
package import PodcastModel
internal import PosixKit

/// Reads a feed as its bytes come: RSS 0.9x, 1.0 and 2.0, Atom 1.0 and 0.3, with the vocabularies of iTunes,
/// Podcasting 2.0, Media RSS, content and Dublin Core.
///
/// The document is parsed strictly while it comes. Where that fails it is repaired (see `XMLRepairer`) and
/// parsed again at the end, for which its bytes are kept: the first in memory, the rest in a temporary file.
package final class FeedParser {
  private let builder: FeedBuilder
  private let reader: XMLDocumentReader

  /// - Parameters:
  ///   - baseURL: where the feed came from, after redirects: relative addresses start from it.
  ///   - httpCharset: the `charset` parameter of the answer's Content-Type.
  package init(
    baseURL: WebAddress? = nil, httpCharset: String? = nil, limits: FeedLimits = FeedLimits()
  ) throws(FeedError) {
    builder = FeedBuilder(documentURL: baseURL, limits: limits)
    reader = try XMLDocumentReader(
      receiver: builder, httpCharset: httpCharset, byteLimit: limits.document,
      entityLimit: limits.entities)
  }

  /// Takes the next bytes.
  package func consume(_ bytes: UnsafeRawBufferPointer) throws(FeedError) { try reader.consume(bytes) }

  /// All bytes have come.
  package func finish() throws(FeedError) -> ParsedFeed {
    let repairs = try reader.finish()
    guard builder.isFeed else { throw .notAFeed(root: builder.rootName) }
    do { try builder.finish() } catch { throw .storage(error) }
    var feed = builder.feed
    feed.warnings = (repairs?.warnings ?? []) + builder.warnings.lines
    return feed
  }

  /// Parses a feed that is wholly here.
  package static func parse(
    bytes: [UInt8], baseURL: WebAddress? = nil, httpCharset: String? = nil, limits: FeedLimits = FeedLimits()
  ) throws(FeedError) -> ParsedFeed {
    let parser = try FeedParser(baseURL: baseURL, httpCharset: httpCharset, limits: limits)
    try bytes.withUnsafeBufferPointer { all throws(FeedError) in
      try parser.consume(UnsafeRawBufferPointer(all))
    }
    return try parser.finish()
  }

  /// Parses a file, of which only a piece is in memory at a time.
  /// - Throws: `FeedError.storage` where it cannot be read.
  package static func parse(file path: String) throws(FeedError) -> ParsedFeed {
    let parser = try FeedParser()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
    defer { buffer.deallocate() }
    do {
      let file = try FileDescriptor(opening: path, O_RDONLY)
      var offset: Int64 = 0
      while true {
        let count = try file.read(into: buffer, at: offset)
        if count == 0 { break }
        try parser.consume(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        offset += Int64(count)
      }
    } catch let error as PosixError {
      throw .storage(error)
    } catch let error as FeedError {
      throw error
    } catch {
      throw .outOfMemory
    }
    return try parser.finish()
  }
}
