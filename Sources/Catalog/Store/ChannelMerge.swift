internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

/// Puts a feed's channel into the podcast's row, within a transaction. Its names stay.
enum ChannelMerge {
  /// - Parameter isWhole: what the feed does not say is so; else it may stand in what is missing of it.
  /// - Returns: whether anything is different now.
  static func merge(
    _ feed: FetchedFeed, isWhole: Bool, into podcast: Int64, in database: Database
  ) throws -> Bool {
    let new: [(column: String, value: String?)] = [
      ("title", feed.title.map(TitleText.line)), ("author", (feed.author ?? feed.owner).map(TitleText.line)),
      ("link", feed.link?.forRequest),
      ("language", feed.language), ("categories", PodcastRow.joined(feed.categories)),
      ("description", feed.description), ("image_url", feed.imageURL?.forRequest),
      ("explicit", feed.explicit.map { $0 ? "1" : "0" }),
    ]
    let columns = new.map(\.column).joined(separator: ", ")
    let old = try database.first("SELECT \(columns) FROM podcast WHERE id = ?", podcast) { row in
      new.indices.map { row.stringIfPresent($0) }
    }
    guard let old else { throw CatalogError.unknown("podcast") }
    // A podcast always has a title; all else is the publisher's to take away, whatever a search has said.
    let merged = zip(new, old).map { new, old in
      new.value.flatMap { $0.isEmpty ? nil : $0 } ?? (isWhole && new.column != "title" ? nil : old)
    }
    if feed.title?.isEmpty == false {
      try database.run("UPDATE podcast SET has_title = 1 WHERE id = ? AND has_title = 0", podcast)
    }
    if merged == old { return false }
    try FullText.removePodcast(podcast, in: database)
    try database.update("podcast", id: podcast, zip(new, merged).map { ($0.column, $1 as any Bindable) })
    try FullText.indexPodcast(podcast, in: database)
    return true
  }
}
