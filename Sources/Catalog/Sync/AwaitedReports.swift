internal import Configuration
internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What other devices and backups say of episodes that are not known yet, because their podcast has not been fetched or is
/// not followed: kept until the episode comes. What came last of an episode counts, so that a year is one row an episode.
struct AwaitedReport {
  var report: EpisodeReport
  /// It is of the synchronization's server, which need not be told of it.
  var isExchanged = false

  /// Seconds: what nobody has followed until then is given up.
  private static let lifetime: Int64 = 90 * 86_400
  /// Rows. A server that tells of more than these loses the oldest.
  private static let most = 200_000
  /// Seconds before the end that count as the end.
  static let margin = Settings().playedMargin

  init(_ server: ListeningReport) {
    report = EpisodeReport(podcast: server.podcast, address: server.episode, guid: server.guid)
    (report.state, report.time, isExchanged) = (server.state, server.time, true)
  }

  init(_ report: EpisodeReport) {
    self.report = report
    // A backup that does not say when is of some time before.
    if report.time <= 0 { (self.report.time, self.report.lastPlayed) = (1, 0) }
  }
}

extension AwaitedReport {
  private enum Column: Int, ColumnList {
    case feedKey, address, feedURL, guid, state, position, length, time, lastPlayed, isExchanged, keep,
      hidden, queuePlace
  }

  private static func read(_ row: borrowing Row) -> AwaitedReport {
    var report = EpisodeReport(
      podcast: WebAddress(row.string(Column.feedURL)), address: WebAddress(row.string(Column.address)),
      guid: row.stringIfPresent(Column.guid))
    report.state = ListeningReport.State(
      kind: row.int64(Column.state), position: row.int64(Column.position),
      length: row.int64IfPresent(Column.length))
    (report.time, report.lastPlayed) = (row.int64(Column.time), row.int64IfPresent(Column.lastPlayed))
    (report.isKept, report.isHidden) = (row.bool(Column.keep), row.bool(Column.hidden))
    report.queuePlace = row.int(Column.queuePlace)
    var awaited = AwaitedReport(report)
    awaited.isExchanged = row.bool(Column.isExchanged)
    return awaited
  }

  static func all(in database: Database) throws -> [AwaitedReport] {
    try database.all("SELECT \(Column.list(of: "r")) FROM awaited_report r", as: read)
  }

  /// Keeps it until its episode comes.
  func save(now: Int64, in database: Database) throws {
    let (kind, position, length) = report.state?.numbers ?? (0, 0, nil)
    let names = Column.allCases.map(\.name)
    let changes = names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    try database.run(
      """
      INSERT INTO awaited_report (\(names.joined(separator: ", ")), kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (feed_key, address) DO UPDATE SET \(changes), kept = excluded.kept WHERE excluded.time >= time
      """,
      values: [
        FeedKey.text(report.podcast), report.address.forRequest, report.podcast.forRequest, report.guid, kind,
        position, length, report.time, report.lastPlayed, isExchanged, report.isKept, report.isHidden,
        report.queuePlace, now,
      ])
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
  /// - Returns: what has changed.
  static func apply(
    toPodcast podcast: Int64, new: [Int64]? = nil, now: Int64, in database: Database
  ) throws -> [CatalogChange] {
    if new?.isEmpty == true { return [] }
    var changes: [CatalogChange] = []
    for key in try FormerAddresses.keys(of: podcast, in: database) {
      let reports = try database.all(
        "SELECT \(Column.list(of: "r")) FROM awaited_report r WHERE r.feed_key = ? ORDER BY r.queue_place",
        key,
        as: read)
      if reports.isEmpty { continue }
      let isNew = new.map { Set($0) }
      var lookup = try EpisodeLookup(podcast: podcast, in: database)
      for awaited in reports {
        let (guid, address) = (awaited.report.guid, awaited.report.address)
        guard let id = lookup.episode(guid: guid, address: address), isNew?.contains(id) ?? true
        else { continue }
        changes += try awaited.apply(to: id, now: now, in: database)
        try database.run(
          "DELETE FROM awaited_report WHERE feed_key = ? AND address = ?", key, address.forRequest)
      }
    }
    return changes
  }

  /// Gives an episode what this says, unless its state here is newer.
  /// - Returns: what has changed.
  func apply(to id: Int64, now: Int64, in database: Database) throws -> [CatalogChange] {
    guard let episode = try SyncRows(database).episodes([id]).first else { return [] }
    var hasChanged = false
    if episode.listening.changed.map({ $0 < report.time }) ?? true,
      let listening = report.listening(
        duration: episode.duration, margin: Self.margin, time: min(max(report.time, 1), now))
    {
      hasChanged = try EpisodeMarks.set(listening, episode: id, in: database)
      if isExchanged {
        try SyncRows(database).save(
          ExchangedState(position: listening.position, isPlayed: listening.isPlayed, time: report.time),
          of: id)
      }
    }
    if report.isKept {
      try database.run("INSERT OR IGNORE INTO keep_order (episode_id) VALUES (?)", id)
      hasChanged = hasChanged || database.changedRows > 0
    }
    if report.isHidden, try EpisodeMarks.setHidden(true, id, in: database) { hasChanged = true }
    let place = report.queuePlace
    let isQueued = try place > 0 && QueueRows.insert(id, at: place, in: database)
    return (hasChanged ? [.episode(id)] : []) + (isQueued ? [.queue] : [])
  }
}

extension SyncRows {
  /// Keeps a report of the server until its episode is known.
  package func keep(_ report: ListeningReport, now: Int64) throws {
    try AwaitedReport(report).save(now: now, in: database)
  }

  package func giveUpOldReports(now: Int64) throws { try AwaitedReport.giveUpOld(now: now, in: database) }
}
