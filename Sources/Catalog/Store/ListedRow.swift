internal import PodcastModel
internal import SQLiteKit

/// How a podcast under a name lies in its rows.
enum ListedRow {
  private enum Column: Int, ColumnList {
    case id, name, changed, hiddenCount, newest

    /// - Parameter table: that of the name, of results (`r`) or of subscriptions (`s`).
    func expression(of table: String) -> String {
      switch self {
      case .id, .name: "\(table).\(name)"
      case .changed: "max(\(table).changed, p.changed, p.created * 1000000000)"
      case .newest: "coalesce(p.newest, 0)"
      case .hiddenCount: table == "s" ? "p.hidden_count" : "0"
      }
    }
  }

  private static let resultRows = "\(columns(of: "r")) FROM result r JOIN shown p ON p.id = r.podcast_id"
  private static let subscriptionRows =
    "\(columns(of: "s")) FROM subscription s JOIN shown p ON p.id = s.podcast_id"

  private static func columns(of table: String) -> String {
    "SELECT \(Column.allCases.map { $0.expression(of: table) }.joined(separator: ", ")), \(PodcastRecord.shownColumns)"
  }

  private static func read(_ row: borrowing Row) -> ListedPodcast {
    var listed = ListedPodcast(
      id: row.int64(Column.id), name: row.string(Column.name),
      podcast: PodcastRecord.readPodcast(row, from: Column.count))
    listed.changed = row.int64(Column.changed)
    listed.hiddenCount = row.int(Column.hiddenCount)
    listed.newest = row.int64(Column.newest)
    return listed
  }

  /// The results for which a condition holds that are shown, the best first.
  static func results(_ condition: String, _ id: Int64, in database: Database) throws -> [ListedPodcast] {
    try database.all("\(resultRows) WHERE \(condition) AND r.state = 0 ORDER BY r.position", id, as: read)
  }

  /// By name.
  static func subscriptions(in database: Database) throws -> [ListedPodcast] {
    try database.all("\(subscriptionRows) ORDER BY s.name_key", as: read)
  }

  static func subscription(_ id: Int64, in database: Database) throws -> ListedPodcast? {
    try database.first("\(subscriptionRows) WHERE s.id = ?", id, as: read)
  }

  /// The subscription whose feed has this address, written in any way that means the same.
  static func subscription(at address: WebAddress, in database: Database) throws -> ListedPodcast? {
    try database.first("\(subscriptionRows) WHERE p.feed_key = ?", FeedKey.text(address), as: read)
  }
}
