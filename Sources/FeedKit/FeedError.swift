package import PodcastModel
package import PosixKit

/// Why something is no feed or no subscription list.
package enum FeedError: Error, Hashable, Sendable, CustomStringConvertible {
  case notAFeed(ForeignDocument)
  case notAList(ForeignDocument)
  case tooLarge(limit: Int)
  /// It is compressed, and nothing of it can be decompressed.
  case damagedCompression
  case incomplete
  /// The temporary file failed that keeps what has come.
  case storage(PosixError)
  case outOfMemory
  /// The process that parsed it ended by this signal, or without a result.
  case parserEnded(signal: Int32?)
  case tooSlow

  package var description: String {
    switch self {
    case .notAFeed(let found): found.description(wanted: "a feed")
    case .notAList(let found) where found.kind == .other:
      "is neither a list of subscriptions (OPML, or one address a line) nor a backup of another app"
        + (found.reason.map { ": \($0)" } ?? "")
    case .notAList(let found) where found.kind == .list: "is damaged: it breaks off before its first feed"
    case .notAList(let found): found.description(wanted: "a list of subscriptions")
    case .tooLarge(let limit): "is larger than \(limit >> 20) MiB"
    case .damagedCompression: "is compressed, but its compression is damaged"
    case .incomplete: "is incomplete: it ends before its first episode"
    case .storage(let error): error.description
    case .outOfMemory: "takes too much memory"
    case .parserEnded(nil): "could not be read: its parser failed"
    case .parserEnded(let signal?): "could not be read: its parser ended by signal \(signal)"
    case .tooSlow: "takes too long to read"
    }
  }
}

/// The errors that parsing gives; any other is as if there were no memory.
extension FeedError: BinaryValue {
  package func encode(into bytes: inout [UInt8]) {
    switch self {
    case .notAFeed(let found): bytes.put(false, Optional(found))
    case .notAList(let found): bytes.put(true, Optional(found))
    default: bytes.put(false, ForeignDocument?.none)
    }
  }

  package init(from reader: inout BinaryReader) throws(BinaryError) {
    let (isList, found): (Bool, ForeignDocument?) = (try reader.next(), try reader.next())
    self = found.map { isList ? .notAList($0) : .notAFeed($0) } ?? .outOfMemory
  }
}
