internal import PodcastModel
internal import SQLiteKit

/// How a podcast lies in its row.
enum PodcastRow {
  enum Column: Int, ColumnList {
    case id, feedURL, title, name, author, link, language, categories, description, imageURL, explicit,
      episodeCount
    case lastRefresh, nextRefresh, error, isPrivate, isListed, created
  }

  /// For a `FROM shown p`.
  static let columns = Column.list(of: "p")
  static let count = Column.count

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Podcast {
    var podcast = Podcast(
      id: row.int64(Column.id, from: first), feedURL: WebAddress(row.string(Column.feedURL, from: first)),
      title: row.string(Column.title, from: first), name: row.string(Column.name, from: first))
    podcast.author = row.stringIfPresent(Column.author, from: first)
    podcast.link = row.stringIfPresent(Column.link, from: first).map { WebAddress($0) }
    podcast.language = row.stringIfPresent(Column.language, from: first)
    podcast.categories = row.string(Column.categories, from: first).split(separator: "\n").map(String.init)
    podcast.description = row.stringIfPresent(Column.description, from: first)
    podcast.imageURL = row.stringIfPresent(Column.imageURL, from: first).map { WebAddress($0) }
    podcast.explicit = row.boolIfPresent(Column.explicit, from: first)
    podcast.episodeCount = row.int(Column.episodeCount, from: first)
    podcast.lastRefresh = row.int64IfPresent(Column.lastRefresh, from: first)
    podcast.nextRefresh = row.int64IfPresent(Column.nextRefresh, from: first)
    podcast.error = row.stringIfPresent(Column.error, from: first)
    podcast.allowsPrivateHosts = row.bool(Column.isPrivate, from: first)
    podcast.isListed = row.bool(Column.isListed, from: first)
    podcast.created = row.int64(Column.created, from: first)
    return podcast
  }

  /// Categories as one text.
  static func joined(_ categories: [String]) -> String? {
    categories.isEmpty ? nil : categories.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }
}
