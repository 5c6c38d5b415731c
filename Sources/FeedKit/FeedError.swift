package import PosixKit

/// Why something is no feed or no subscription list.
package enum FeedError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is another kind of document: the name of its first element ("html"), nil where it has none.
  case notAFeed(root: String?)
  case notOPML(root: String?)
  /// It has more bytes than are read.
  case tooLarge(limit: Int)
  /// The temporary file failed that keeps what has come.
  case storage(PosixError)
  case outOfMemory
  /// The process that parsed it ended by this signal, or without a result.
  case parserEnded(signal: Int32?)
  /// It takes more time than any honest one.
  case tooSlow

  package var description: String {
    switch self {
    case .notAFeed(nil), .notOPML(nil): "is not XML"
    case .notAFeed("html"?): "is a web page, not a feed"
    case .notAFeed(let root?): "is not a feed: its first element is <\(root)>"
    case .notOPML(let root?): "is not OPML: its first element is <\(root)>"
    case .tooLarge(let limit): "is larger than \(limit >> 20) MiB"
    case .storage(let error): error.description
    case .outOfMemory: "takes too much memory"
    case .parserEnded(nil): "could not be read: its parser failed"
    case .parserEnded(let signal?): "could not be read: its parser ended by signal \(signal)"
    case .tooSlow: "takes too long to read"
    }
  }
}
