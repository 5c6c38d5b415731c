internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

/// Puts a feed's channel into the podcast's row, within a transaction. Its names stay.
enum ChannelMerge {
  /// - Returns: whether anything is different now.
  static func merge(_ feed: ParsedFeed, into podcast: Int64, in database: Database) throws -> Bool {
    let columns = "title, author, link, language, categories, description, image_url, explicit"
    let old = try database.first("SELECT \(columns) FROM podcast WHERE id = ?", podcast) { row in
      (0..<7).map { row.stringIfPresent($0) } + [row.boolIfPresent(7).map { $0 ? "1" : "0" }]
    }
    guard let old else { throw CatalogError.unknown("podcast") }
    // What the feed does not say, a search may have said.
    let new: [String?] = [
      feed.title, feed.author ?? feed.owner, feed.link?.forRequest, feed.language,
      PodcastRow.joined(feed.categories),
      feed.description, feed.imageURL?.forRequest, feed.explicit.map { $0 ? "1" : "0" },
    ]
    let merged = zip(new, old).map { $0.flatMap { $0.isEmpty ? nil : $0 } ?? $1 }
    if feed.title?.isEmpty == false {
      try database.run("UPDATE podcast SET has_title = 1 WHERE id = ? AND has_title = 0", podcast)
    }
    if merged == old { return false }
    try FullText.removePodcast(podcast, in: database)
    try database.run(
      """
      UPDATE podcast SET title = ?, author = ?, link = ?, language = ?, categories = ?, description = ?,
        image_url = ?, explicit = ?
      WHERE id = ?
      """, values: merged.map { $0 as any Bindable } + [podcast])
    try FullText.indexPodcast(podcast, in: database)
    return true
  }
}
