internal import FeedKit

/// Any bytes give a list or an error; a list that is written is read again with the same feeds.
enum OPMLFuzzing {
  static func run(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let document = try? OPMLDocument.parse(bytes: Array(bytes)) else { return 0 }
    let text = document.text(created: 0)
    guard let again = try? OPMLDocument.parse(bytes: Array(text.utf8)) else {
      preconditionFailure("what was written is no OPML")
    }
    precondition(again.feeds.map(\.url) == document.feeds.map(\.url) && again.warnings.isEmpty, text)
    return 0
  }
}
