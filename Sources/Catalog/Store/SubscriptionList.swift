internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// `subscriptions.opml`: its bytes are a function of what is in the catalogue.
enum SubscriptionList {
  private enum PodcastColumn: Int, ColumnList { case feedURL, title, link }
  private enum Column: Int, ColumnList { case name, isOwnName }

  private static let query = """
    SELECT \(Column.list(of: "s")), \(PodcastColumn.list(of: "p"))
    FROM subscription s JOIN shown p ON p.id = s.podcast_id
    """

  static func bytes(in database: Database) throws -> [UInt8] {
    let feeds = try database.all("\(query) ORDER BY s.name_key", as: feed)
    return Array(document(feeds).text(created: try created(in: database)).utf8)
  }

  /// After a change of what a podcast's line shows.
  static func changed(podcast: Int64, in database: Database) throws {
    if try SubscriptionRows.isSubscribed(podcast, in: database) { try Folder.list.touch(in: database) }
  }

  private static func document(_ feeds: [OPMLDocument.Feed]) -> OPMLDocument {
    OPMLDocument(title: "podcastfs subscriptions", feeds: feeds)
  }

  /// The date in it is that of its last change.
  private static func created(in database: Database) throws -> Int64 {
    try database.first("SELECT changed FROM folder WHERE name = 'list'") { $0.int64(0) / 1_000_000_000 } ?? 0
  }

  private static func feed(_ row: borrowing Row) -> OPMLDocument.Feed {
    let first = Column.count
    return OPMLDocument.Feed(
      url: WebAddress(row.string(PodcastColumn.feedURL, from: first)),
      title: row.string(PodcastColumn.title, from: first),
      name: row.bool(Column.isOwnName) ? row.string(Column.name) : nil,
      htmlURL: row.stringIfPresent(PodcastColumn.link, from: first).map { WebAddress($0) })
  }
}
