internal import Configuration
internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What other devices and backups say of episodes that are not known yet, because their podcast has not been fetched or is
/// not followed: kept until the episode comes. What came last of an episode counts, so that a year is one row an episode.
struct AwaitedReport {
  /// Its feed's address.
  var podcast: WebAddress
  var address: WebAddress
  var guid: String?
  var state: ListeningReport.State?
  var time: Int64
  /// It is of the synchronization's server, which need not be told of it.
  var isExchanged = false
  /// When a position or a played mark was set last; nil where that is `time`, 0 where nobody knows.
  var lastPlayed: Int64?
  var isKept = false
  var isHidden = false
  var queuePlace = 0

  /// Seconds: what nobody has followed until then is given up.
  private static let lifetime: Int64 = 90 * 86_400
  /// Rows. A server that tells of more than these loses the oldest.
  private static let most = 200_000
  /// Seconds before the end that count as the end.
  static let margin = Settings().playedMargin
}

extension AwaitedReport {
  init(_ report: ListeningReport) {
    self.init(
      podcast: report.podcast, address: report.episode, guid: report.guid, state: report.state,
      time: report.time, isExchanged: true)
  }

  init(_ episode: ImportedEpisode) {
    self.init(
      podcast: episode.podcast, address: episode.address, guid: episode.guid, state: episode.state,
      // A backup that does not say when is of some time before.
      time: max(episode.time, 1), lastPlayed: episode.time > 0 ? episode.lastPlayed : 0,
      isKept: episode.isKept,
      isHidden: episode.isHidden, queuePlace: episode.queuePlace)
  }

  private enum Column: Int, ColumnList {
    case feedKey, address, feedURL, guid, state, position, length, time, lastPlayed, isExchanged, keep,
      hidden, queuePlace
  }

  private static func read(_ row: borrowing Row) -> AwaitedReport {
    var report = AwaitedReport(
      podcast: WebAddress(row.string(Column.feedURL)), address: WebAddress(row.string(Column.address)),
      time: row.int64(Column.time))
    report.guid = row.stringIfPresent(Column.guid)
    report.state =
      switch row.intIfPresent(Column.state) {
      case 0: .unplayed
      case 1: .played
      case 2: .position(row.int64(Column.position), of: row.int64IfPresent(Column.length))
      case 3: .exactly(position: row.int64(Column.position), isPlayed: false)
      case 4: .exactly(position: row.int64(Column.position), isPlayed: true)
      default: nil
      }
    report.lastPlayed = row.int64IfPresent(Column.lastPlayed)
    report.isExchanged = row.bool(Column.isExchanged)
    (report.isKept, report.isHidden) = (row.bool(Column.keep), row.bool(Column.hidden))
    report.queuePlace = row.int(Column.queuePlace)
    return report
  }

  static func all(in database: Database) throws -> [AwaitedReport] {
    try database.all("SELECT \(Column.list(of: "r")) FROM awaited_report r", as: read)
  }

  /// Keeps it until its episode comes.
  func save(now: Int64, in database: Database) throws {
    let (kind, position, length): (Int?, Int64?, Int64?) =
      switch state {
      case nil: (nil, nil, nil)
      case .unplayed: (0, nil, nil)
      case .played: (1, nil, nil)
      case .position(let position, let length): (2, position, length)
      case .exactly(let position, let isPlayed): (isPlayed ? 4 : 3, position, nil)
      }
    let names = Column.allCases.map(\.name)
    let changes = names.dropFirst(2).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    try database.run(
      """
      INSERT INTO awaited_report (\(names.joined(separator: ", ")), kept) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (feed_key, address) DO UPDATE SET \(changes), kept = excluded.kept WHERE excluded.time >= time
      """,
      values: [
        FeedKey.text(podcast), address.forRequest, podcast.forRequest, guid, kind, position, length, time,
        lastPlayed, isExchanged, isKept, isHidden,
        queuePlace, now,
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
      for report in reports {
        guard let id = lookup.episode(guid: report.guid, address: report.address), isNew?.contains(id) ?? true
        else { continue }
        changes += try report.apply(to: id, now: now, in: database)
        try database.run(
          "DELETE FROM awaited_report WHERE feed_key = ? AND address = ?", key, report.address.forRequest)
      }
    }
    return changes
  }

  /// Gives an episode what this says, unless its state here is newer.
  /// - Returns: what has changed.
  func apply(to id: Int64, now: Int64, in database: Database) throws -> [CatalogChange] {
    guard let episode = try SyncRows(database).episodes([id]).first else { return [] }
    var hasChanged = false
    if let state, episode.listening.changed.map({ $0 < time }) ?? true {
      let listening = state.listening(
        duration: episode.duration, margin: Self.margin, time: min(max(time, 1), now)
      ).with(lastPlayed: lastPlayed)
      hasChanged = try EpisodeMarks.set(listening, episode: id, in: database)
      if isExchanged {
        try SyncRows(database).save(
          ExchangedState(position: listening.position, isPlayed: listening.isPlayed, time: time), of: id)
      }
    }
    if isKept {
      try database.run("INSERT OR IGNORE INTO keep_order (episode_id) VALUES (?)", id)
      hasChanged = hasChanged || database.changedRows > 0
    }
    if isHidden, try EpisodeMarks.setHidden(true, id, in: database) { hasChanged = true }
    let isQueued = try queuePlace > 0 && ImportedQueue.insert(id, at: queuePlace, in: database)
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
