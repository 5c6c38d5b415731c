internal import PodcastModel
internal import SQLiteKit

/// How a podcast under a name lies in its rows.
enum ListedRow {
  private static let resultRows = """
    SELECT r.id, r.name, max(r.changed, p.changed, p.created * 1000000000), 0, \(PodcastRow.columns)
    FROM result r JOIN podcast p ON p.id = r.podcast_id
    """
  private static let subscriptionRows = """
    SELECT s.id, s.name, max(s.changed, p.changed, p.created * 1000000000), p.hidden_count, \(PodcastRow.columns)
    FROM subscription s JOIN podcast p ON p.id = s.podcast_id
    """

  private static func read(_ row: borrowing Row) -> ListedPodcast {
    var listed = ListedPodcast(id: row.int64(0), name: row.string(1), podcast: PodcastRow.read(row, from: 4))
    listed.changed = row.int64(2)
    listed.hiddenCount = row.int(3)
    return listed
  }

  /// The results that are shown, the best first.
  static func results(ofSearch id: Int64, in database: Database) throws -> [ListedPodcast] {
    try database.all(
      "\(resultRows) WHERE r.search_id = ? AND r.state = ? ORDER BY r.position", id,
      ResultState.shown.rawValue, as: read)
  }

  /// A result that is shown.
  static func result(_ id: Int64, in database: Database) throws -> ListedPodcast? {
    try database.first(
      "\(resultRows) WHERE r.id = ? AND r.state = ?", id, ResultState.shown.rawValue, as: read)
  }

  /// By name.
  static func subscriptions(in database: Database) throws -> [ListedPodcast] {
    try database.all("\(subscriptionRows) ORDER BY s.name_key", as: read)
  }

  static func subscription(_ id: Int64, in database: Database) throws -> ListedPodcast? {
    try database.first("\(subscriptionRows) WHERE s.id = ?", id, as: read)
  }

  static func subscription(feedKey: String, in database: Database) throws -> ListedPodcast? {
    try database.first("\(subscriptionRows) WHERE p.feed_key = ?", feedKey, as: read)
  }
}
