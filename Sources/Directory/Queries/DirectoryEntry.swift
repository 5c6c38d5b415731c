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

  enum Column: Int, ColumnList { case id, feed, title, author, language, categories }

  init(_ row: borrowing Row) {
    rank = row.int64(Column.id)
    let feed = row.string(Column.feed)
    feedURL = WebAddress(feed.hasPrefix("http://") ? feed : DirectorySchema.usualScheme + feed)
    title = row.string(Column.title)
    author = row.stringIfPresent(Column.author)
    language = row.stringIfPresent(Column.language)
    categories = row.blob(Column.categories).compactMap(Categories.name)
  }
}
