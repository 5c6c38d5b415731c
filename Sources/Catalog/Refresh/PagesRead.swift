package import FeedKit
package import PodcastModel

/// The pages of a paged feed (RFC 5005) that one walk has read, and when it ends: some lead back to each other, or on for
/// ever.
package struct PagesRead: Sendable {
  private var visited: Set<WebAddress> = []
  /// The items of the pages so far, as hashes.
  private var seen: Set<Int> = []
  /// How many pages in a row had nothing that an earlier one did not have.
  private var repetitions = 0

  /// Pages in a row that only repeat others, after which the archive counts as read.
  private static let longestRepetition = 3
  /// The most bytes of one page, and of all pages of an archive: several times what the largest honest ones have.
  static let pageBytes: Int64 = 16 << 20
  package static let archiveBytes: Int64 = 256 << 20
  /// The most pages at one refresh.
  package static let limit = 5000

  package init() {}

  /// Whether the next page is left to another refresh.
  package var areEnough: Bool { visited.count >= Self.limit }

  /// A page is asked for.
  package mutating func begin(_ page: WebAddress) { visited.insert(page) }

  /// A page has come.
  /// - Returns: the page after it, if there is to be one.
  package mutating func add(_ items: some Sequence<ParsedEpisode>, next: WebAddress?) -> WebAddress? {
    var isRepeated = true
    for item in items {
      var hasher = Hasher()
      hasher.combine(item.guid)
      hasher.combine(item.title)
      hasher.combine(item.enclosure?.url.forRequest)
      if seen.insert(hasher.finalize()).inserted { isRepeated = false }
    }
    repetitions = isRepeated ? repetitions + 1 : 0
    guard let next, next.isWeb, !visited.contains(next), repetitions < Self.longestRepetition else {
      return nil
    }
    return next
  }
}
