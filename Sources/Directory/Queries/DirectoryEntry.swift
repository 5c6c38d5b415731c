package import PodcastModel
internal import SQLiteKit

/// A podcast of the directory.
package struct DirectoryEntry: Hashable, Sendable {
  /// 1 is the best.
  package var rank: Int64
  package var feedURL: WebAddress
  package var title: String
  package var author: String?
  package var language: String?
  package var categories: [String]

  static let columns = "p.id, p.feed, p.title, p.author, p.language, p.categories"

  init(_ row: borrowing Row) {
    rank = row.int64(0)
    let feed = row.string(1)
    feedURL = WebAddress(feed.hasPrefix("http://") ? feed : DirectorySchema.usualScheme + feed)
    title = row.string(2)
    author = row.stringIfPresent(3)
    language = row.stringIfPresent(4)
    categories = row.blob(5).compactMap(Categories.name)
  }
}
