internal import PodcastModel
internal import SQLiteKit

/// gPodder's `Database` (schema 8, and those before it). An episode that is no longer new was played, or its user does not
/// want it; what is archived is kept. Left out: sections, for which there is no place.
struct GPodderBackup {
  private let tables: BackupTables

  init(_ tables: BackupTables) { self.tables = tables }

  var document: OPMLDocument {
    get throws {
      var document = OPMLDocument(title: "gPodder")
      document.isBackup = true
      var feeds: [Int64: WebAddress] = [:]
      let podcasts = try tables.rows("podcast", ["id", "title", "url", "auth_username", "auth_password"]) {
        row in
        (
          id: row.int64(0), title: row.stringIfPresent(1), address: row.stringIfPresent(2),
          url: WebAddress(
            feed: row.stringIfPresent(2), user: row.stringIfPresent(3), password: row.stringIfPresent(4))
        )
      }
      for podcast in podcasts {
        guard let url = podcast.url else {
          document.refuse(podcast.title, at: podcast.address)
          continue
        }
        feeds[podcast.id] = url
        document.feeds.append(OPMLDocument.Feed(url: url, title: podcast.title))
      }
      document.episodes = try tables.rows("episode", Self.columns) { Self.episode($0, feeds) }.compactMap {
        $0
      }
      return document
    }
  }

  private static let columns = [
    "podcast_id", "url", "guid", "is_new", "archive", "total_time", "current_position",
    "current_position_updated",
    "last_playback",
  ]

  private static func episode(_ row: borrowing Row, _ feeds: [Int64: WebAddress]) -> EpisodeReport? {
    guard let feed = feeds[row.int64(0)], let url = row.stringIfPresent(1) else { return nil }
    var episode = EpisodeReport(podcast: feed, address: WebAddress(url), guid: row.stringIfPresent(2))
    // In seconds.
    let (length, position) = (row.int64(5), row.int64(6))
    // As gPodder itself counts an episode as finished.
    let isFinished = length > 0 && position * 100 >= length * 99
    if position > 0, !isFinished {
      episode.state = .position(position * 1000, of: length > 0 ? length * 1000 : nil)
    } else if isFinished || row.int64(3) == 0 {
      episode.state = .played
    }
    episode.isKept = row.int64(4) != 0
    episode.time = max(row.int64(7), row.int64(8), 0)
    return episode.isNews ? episode : nil
  }
}
