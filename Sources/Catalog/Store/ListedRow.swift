internal import PodcastModel
internal import SQLiteKit

/// How a podcast under a name lies in its rows.
enum ListedRow {
  static let results = """
    SELECT r.id, r.name, max(r.changed, p.changed, p.created * 1000000000), 0, \(PodcastRow.columns)
    FROM result r JOIN podcast p ON p.id = r.podcast_id
    """
  static let subscriptions = """
    SELECT s.id, s.name, max(s.changed, p.changed, p.created * 1000000000), p.hidden_count, \(PodcastRow.columns)
    FROM subscription s JOIN podcast p ON p.id = s.podcast_id
    """

  static func read(_ row: borrowing Row) -> ListedPodcast {
    var listed = ListedPodcast(id: row.int64(0), name: row.string(1), podcast: PodcastRow.read(row, from: 4))
    listed.changed = row.int64(2)
    listed.hiddenCount = row.int(3)
    return listed
  }
}
