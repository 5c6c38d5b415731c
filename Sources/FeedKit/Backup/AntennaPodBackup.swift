internal import PodcastModel
internal import SQLiteKit

/// AntennaPod's database, as its settings export it ("Database export"). Left out: tags, speeds and skips, for which there is
/// no place; podcasts that were looked at and not followed; folders of the phone.
struct AntennaPodBackup {
  private let tables: BackupTables

  init(_ tables: BackupTables) { self.tables = tables }

  var document: OPMLDocument {
    get throws {
      var document = OPMLDocument(title: "AntennaPod")
      document.isBackup = true
      var feeds: [Int64: WebAddress] = [:]
      for feed in try tables.rows("Feeds", Feed.columns, Feed.init) {
        // Of versions before `state` was there, all are followed.
        if feed.state != 0 { continue }
        guard let url = WebAddress(feed: feed.url, user: feed.user, password: feed.password) else {
          document.refuse(feed.title, at: feed.url)
          continue
        }
        feeds[feed.id] = url
        var listed = OPMLDocument.Feed(url: url, title: feed.title, name: feed.customTitle)
        listed.rules = feed.rules
        document.feeds.append(listed)
      }
      document.episodes = try episodes(of: feeds)
      return document
    }
  }

  private struct Feed {
    static let columns = [
      "id", "title", "custom_title", "download_url", "username", "password", "include_filter",
      "exclude_filter",
      "minimal_duration_filter", "state",
    ]
    let id: Int64
    let title, customTitle, url, user, password, include, exclude: String?
    /// In seconds; below 1 for none.
    let minimum: Int64
    let state: Int64

    init(_ row: borrowing Row) {
      id = row.int64(0)
      (title, customTitle, url) = (row.stringIfPresent(1), row.stringIfPresent(2), row.stringIfPresent(3))
      (user, password) = (row.stringIfPresent(4), row.stringIfPresent(5))
      (include, exclude) = (row.stringIfPresent(6), row.stringIfPresent(7))
      (minimum, state) = (row.int64(8), row.int64(9))
    }

    var rules: [ImportedRule] {
      var rules: [ImportedRule] = []
      if let include, !include.isEmpty { rules.append(ImportedRule("include", include)) }
      if let exclude, !exclude.isEmpty { rules.append(ImportedRule("exclude", exclude)) }
      if minimum > 0 { rules.append(ImportedRule("min_duration", "\(minimum)s")) }
      return rules
    }
  }

  /// An episode's file, and how far the listener is in it. Times are in milliseconds.
  private struct Media {
    static let columns = [
      "feeditem", "download_url", "duration", "position", "playback_completion_date", "last_played_time",
    ]
    let item: Int64
    let url: String?
    let duration, position, completed, lastPlayed: Int64

    init(_ row: borrowing Row) {
      (item, url) = (row.int64(0), row.stringIfPresent(1))
      (duration, position, completed, lastPlayed) = (row.int64(2), row.int64(3), row.int64(4), row.int64(5))
    }
  }

  private func episodes(of feeds: [Int64: WebAddress]) throws -> [EpisodeReport] {
    let kept = Set(try tables.rows("Favorites", ["feeditem"]) { $0.int64(0) })
    var places: [Int64: Int] = [:]
    for (_, item) in try tables.rows("Queue", ["id", "feeditem"], { ($0.int64(0), $0.int64(1)) })
      .sorted(by: { $0.0 < $1.0 })
    {
      places[item] = places[item] ?? places.count + 1
    }
    let media = Dictionary(
      try tables.rows("FeedMedia", Media.columns, Media.init).map { ($0.item, $0) },
      uniquingKeysWith: { first, _ in first })
    let items = try tables.rows("FeedItems", ["id", "feed", "read", "item_identifier"]) {
      (id: $0.int64(0), feed: $0.int64(1), read: $0.int64(2), guid: $0.stringIfPresent(3))
    }
    return items.compactMap { item in
      guard let feed = feeds[item.feed], let media = media[item.id], let url = media.url else { return nil }
      var episode = EpisodeReport(podcast: feed, address: WebAddress(url), guid: item.guid)
      if item.read == 1 {
        episode.state = .played
      } else if media.position > 0 {
        episode.state = .position(media.position, of: media.duration > 0 ? media.duration : nil)
      }
      episode.time = max(media.completed, media.lastPlayed, 0) / 1000
      episode.isKept = kept.contains(item.id)
      episode.queuePlace = places[item.id] ?? 0
      return episode.isNews ? episode : nil
    }
  }
}
