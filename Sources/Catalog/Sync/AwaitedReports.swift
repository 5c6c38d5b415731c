internal import Configuration
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reports of episodes that are not known yet, because their podcast has not been fetched or is not followed: kept until
/// the episode comes. The last one of an episode counts, so that a year of them is one row an episode.
enum AwaitedReports {
  /// Seconds: what nobody has followed until then is given up.
  private static let lifetime: Int64 = 90 * 86_400
  /// Rows. A server that tells of more than these loses the oldest.
  private static let most = 200_000
  /// Seconds before the end that count as the end.
  private static let margin = Settings().playedMargin

  /// - Parameter isExchanged: it is of the synchronization's server, which need not be told of it.
  static func save(
    _ report: ListeningReport, isExchanged: Bool, now: Int64, in database: Database
  ) throws {
    let (state, position, length): (Int, Int64?, Int64?) =
      switch report.state {
      case .unplayed: (0, nil, nil)
      case .played: (1, nil, nil)
      case .position(let position, let length): (2, position, length)
      }
    try database.run(
      """
      INSERT INTO awaited_report
        (feed_key, address, guid, state, position, length, time, is_exchanged, kept)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (feed_key, address) DO UPDATE SET guid = excluded.guid, state = excluded.state,
        position = excluded.position, length = excluded.length, time = excluded.time,
        is_exchanged = excluded.is_exchanged, kept = excluded.kept
      WHERE excluded.time >= time
      """, FeedKey.text(report.podcast), report.episode.forRequest, report.guid, state, position, length,
      report.time,
      isExchanged, now)
  }

  static func giveUpOld(now: Int64, in database: Database) throws {
    try database.run("DELETE FROM awaited_report WHERE kept < ? OR kept > ?", now - lifetime, now + lifetime)
    try database.run(
      """
      DELETE FROM awaited_report WHERE (feed_key, address) IN
        (SELECT feed_key, address FROM awaited_report ORDER BY time DESC LIMIT -1 OFFSET ?)
      """, most)
  }

  /// Gives episodes of a podcast what was told of them; within the transaction that adds them, or that follows it.
  /// - Parameter new: these only; nil for all that are known.
  static func apply(
    toPodcast podcast: Int64, new: [Int64]? = nil, now: Int64, in database: Database
  ) throws {
    if new?.isEmpty == true { return }
    let keys = try FormerAddresses.keys(of: podcast, in: database)
    for key in keys {
      let reports = try database.all(
        "SELECT address, guid, state, position, length, time, is_exchanged FROM awaited_report WHERE feed_key = ?",
        key
      ) { read($0, feed: key) }
      if reports.isEmpty { continue }
      let isNew = new.map { Set($0) }
      var lookup = try EpisodeLookup(podcast: podcast, in: database)
      for (report, isExchanged) in reports {
        guard let id = lookup.episode(guid: report.guid, address: report.episode),
          isNew?.contains(id) ?? true,
          let episode = try SyncRows(database).episodes([id]).first,
          (episode.listening.changed ?? .min) < report.time
        else { continue }
        let state = report.state.listening(
          duration: episode.duration, margin: margin, time: min(report.time, now))
        _ = try EpisodeMarks.set(state, episode: id, in: database)
        if isExchanged {
          try SyncRows(database).save(
            ExchangedState(position: state.position, isPlayed: state.isPlayed, time: report.time), of: id)
        }
        try database.run(
          "DELETE FROM awaited_report WHERE feed_key = ? AND address = ?", key, report.episode.forRequest)
      }
    }
  }

  private static func read(
    _ row: borrowing Row, feed key: String
  ) -> (report: ListeningReport, isExchanged: Bool) {
    let state: ListeningReport.State =
      switch row.int(2) {
      case 1: .played
      case 2: .position(row.int64(3), of: row.int64IfPresent(4))
      default: .unplayed
      }
    let report = ListeningReport(
      podcast: WebAddress(key), episode: WebAddress(row.string(0)), guid: row.stringIfPresent(1),
      state: state,
      time: row.int64(5))
    return (report, row.bool(6))
  }
}

extension SyncRows {
  /// Keeps a report of the server until its episode is known.
  package func keep(_ report: ListeningReport, now: Int64) throws {
    try AwaitedReports.save(report, isExchanged: true, now: now, in: database)
  }

  package func giveUpOldReports(now: Int64) throws { try AwaitedReports.giveUpOld(now: now, in: database) }
}
