internal import FeedKit
package import PodcastModel
internal import SQLiteKit

extension Catalog {
  private enum ListColumn: Int, ColumnList { case feedURL, title, link, id }

  /// All subscriptions as OPML 2.0, with the whole addresses: for the owner's eyes only. The date in it is that of its
  /// last change.
  package func exportOPML() throws(CatalogError) -> [UInt8] { try Self.exportOPML(from: store) }

  static func exportOPML(from store: CatalogStore) throws(CatalogError) -> [UInt8] {
    let (feeds, changed) = try store.read { database in
      let followed = try Self.feeds(in: database).map { $0.feed }
      return (followed, try database.number("SELECT list_changed FROM counter"))
    }
    let list = OPMLDocument(title: "podcastfs subscriptions", feeds: feeds)
    return Array(list.text(created: (changed ?? 0) / 1_000_000_000).utf8)
  }

  package func subscriptionListSize() throws(CatalogError) -> Int64 { Int64(try exportOPML().count) }

  private static func feeds(
    in database: Database
  ) throws -> [(podcast: Int64, feed: OPMLDocument.Feed)] {
    try database.all(
      """
      SELECT \(ListColumn.list(of: "p")), CASE WHEN s.is_own_name THEN s.name END
      FROM subscription s JOIN shown p ON p.id = s.podcast_id ORDER BY s.name_key
      """
    ) { row in
      let feed = OPMLDocument.Feed(
        url: WebAddress(row.string(ListColumn.feedURL)), title: row.string(ListColumn.title),
        name: row.stringIfPresent(ListColumn.count),
        htmlURL: row.stringIfPresent(ListColumn.link).map { WebAddress($0) })
      return (row.int64(ListColumn.id), feed)
    }
  }

  /// All that a new machine needs but the audio, as JSON (`StateFile`): subscriptions with their rules, searches, and the
  /// episodes that somebody has listened to, hidden, kept or queued. With the whole addresses.
  /// - Parameter kept: the keys of episodes that the transfers keep.
  package func exportState(kept: Set<MediaKey>) throws(CatalogError) -> [UInt8] {
    let state = try store.read { database in
      var feeds: [OPMLDocument.Feed] = []
      for (podcast, var feed) in try Self.feeds(in: database) {
        feed.rules = try RuleRows.rules(ofPodcast: podcast, in: database)
        feeds.append(feed)
      }
      let searches = try SearchRows.searches(in: database).filter { $0.category == nil }.map(\.name)
      let hidden = try database.all(
        """
        SELECT s.name, p.feed_url FROM result r JOIN search s ON s.id = r.search_id JOIN shown p ON p.id = r.podcast_id
        WHERE r.state = ? ORDER BY s.name, p.feed_url
        """, ResultState.hidden.rawValue
      ) { HiddenResult(search: $0.string(0), feed: WebAddress($0.string(1))) }
      var state = OPMLDocument(feeds: feeds)
      (state.searches, state.hiddenResults) = (searches, hidden.filter { searches.contains($0.search) })
      state.episodes = try ExportedEpisodes.all(kept: kept, in: database)
      return state
    }
    return Array(StateFile.json(state).indentedText.utf8) + [UInt8(ascii: "\n")]
  }
}

/// The episodes of an export, in an order of their own: the same on each machine.
private enum ExportedEpisodes {
  static func all(kept: Set<MediaKey>, in database: Database) throws -> [EpisodeReport] {
    let queue = try QueueRows.all(in: database)
    let places = Dictionary(queue.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
    let orders = Set(try database.numbers("SELECT episode_id FROM keep_order"))
    let held = try EpisodeRow.entries(forKeys: Array(kept), in: database).map(\.episode.id)
    let marked = try database.numbers(
      "SELECT id FROM episode WHERE listening_changed IS NOT NULL UNION SELECT id FROM episode WHERE hidden = 1"
    )
    var feeds: [Int64: WebAddress] = [:]
    var reports: [EpisodeReport] = []
    for episode in try EpisodeRow.episodes(
      Array(Set(marked).union(orders).union(held).union(places.keys)), in: database)
    {
      let feed = try feeds[episode.podcastID] ?? FeedRecord.load(episode.podcastID, in: database)?.feedURL
      feeds[episode.podcastID] = feed
      guard let feed else { continue }
      var report = EpisodeReport(podcast: feed, address: episode.enclosureURL, guid: episode.guid)
      report.take(episode.listening)
      report.isHidden = episode.hidden
      report.isKept = kept.contains(episode.mediaKey) || orders.contains(episode.id)
      report.queuePlace = places[episode.id] ?? 0
      reports.append(report)
    }
    for var report in try AwaitedReport.all(in: database).map(\.report) {
      let listening = report.listening(duration: nil, margin: AwaitedReport.margin, time: report.time)
      if let listening { report.take(listening) }
      reports.append(report)
    }
    // One queue, without gaps.
    let queued = reports.indices.filter { reports[$0].queuePlace > 0 }
    for (place, index) in queued.sorted(by: { reports[$0].queuePlace < reports[$1].queuePlace }).enumerated()
    {
      reports[index].queuePlace = place + 1
    }
    return reports.sorted {
      ($0.podcast.forRequest, $0.address.forRequest) < ($1.podcast.forRequest, $1.address.forRequest)
    }
  }
}
