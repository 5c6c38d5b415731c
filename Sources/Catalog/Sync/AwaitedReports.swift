internal import Configuration
internal import FeedKit
internal import Identity
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What other devices and backups say of episodes that are not known yet, because their podcast has not been fetched or is
/// not followed: kept until the episode comes. What came last of an episode counts, so that a year is one row an episode.
struct AwaitedReport {
  var report: EpisodeReport
  /// It is of the synchronization's server, which need not be told of it.
  var isExchanged: Bool

  /// Seconds. A report is deleted where its episode has not come by then.
  private static let lifetime: Int64 = 90 * 86_400
  /// Rows. A server that tells of more than these loses the oldest.
  private static let most = 200_000
  /// Seconds before the end that count as the end.
  static let margin = Settings().playedMargin

  init(_ report: EpisodeReport, isExchanged: Bool = false) {
    (self.report, self.isExchanged) = (report, isExchanged)
    // A backup that does not say when is of some time before.
    if report.time <= 0 { (self.report.time, self.report.lastPlayed) = (1, 0) }
  }
}

extension AwaitedReport {
  private static let rows = "SELECT report, is_exchanged FROM awaited_report"

  private static func read(_ row: borrowing Row) -> AwaitedReport? {
    // A damaged file says anything.
    (try? EpisodeReport(decoding: row.blob(0)[...])).map { AwaitedReport($0, isExchanged: row.bool(1)) }
  }

  static func all(in database: Database) throws -> [AwaitedReport] {
    try database.all(rows, as: read).compactMap(\.self)
  }

  func save(now: Int64, in database: Database) throws {
    try database.run(
      """
      INSERT INTO awaited_report VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
        time = excluded.time, queue_place = excluded.queue_place, is_exchanged = excluded.is_exchanged,
        report = excluded.report, kept = excluded.kept WHERE excluded.time >= time
      """, FeedKey.text(report.podcast), report.address.forRequest, report.guid ?? "", report.time,
      report.queuePlace, isExchanged, report.encoded, now)
  }

  static func forget(podcast: Int64, in database: Database) throws {
    for key in try PodcastRecord.keys(of: podcast, in: database) {
      try database.run("DELETE FROM awaited_report WHERE feed_key = ?", key)
    }
  }

  static func giveUpOld(now: Int64, in database: Database) throws {
    try database.run("DELETE FROM awaited_report WHERE kept < ? OR kept > ?", now - lifetime, now + lifetime)
    try database.run(
      """
      DELETE FROM awaited_report WHERE (feed_key, address, guid) IN
        (SELECT feed_key, address, guid FROM awaited_report ORDER BY time DESC LIMIT -1 OFFSET ?)
      """, most)
  }

  /// Gives episodes of a podcast what was told of them; within the transaction that adds them, or that follows it.
  /// - Parameter written: the episodes that the transaction has just written; nil for all that are known.
  /// - Returns: what has changed.
  static func apply(
    toPodcast podcast: Int64, written: [Int64]? = nil, now: Int64, in database: Database
  ) throws -> [CatalogChange] {
    if written?.isEmpty == true { return [] }
    var changes: [CatalogChange] = []
    for key in try PodcastRecord.keys(of: podcast, in: database) {
      let reports = try database.all("\(rows) WHERE feed_key = ? ORDER BY queue_place", key, as: read)
        .compactMap(\.self)
      if reports.isEmpty { continue }
      let isWritten = written.map { Set($0) }
      var lookup = try EpisodeLookup(podcast: podcast, in: database)
      for awaited in reports {
        let (guid, address) = (awaited.report.guid, awaited.report.address)
        guard let id = lookup.episode(guid: guid, address: address), isWritten?.contains(id) ?? true
        else { continue }
        changes += try awaited.apply(to: id, now: now, in: database)
        try database.run(
          "DELETE FROM awaited_report WHERE feed_key = ? AND address = ? AND guid = ?", key,
          address.forRequest, guid ?? "")
      }
    }
    return changes
  }

  /// Gives an episode what this says, unless its state here is newer.
  func apply(to id: Int64, now: Int64, in database: Database) throws -> [CatalogChange] {
    guard let episode = try SyncRows(database).episodes([id]).first else { return [] }
    var hasChanged = false
    if episode.listening.changed.map({ $0 < report.time }) ?? true,
      let listening = report.listening(
        duration: episode.duration, margin: Self.margin, time: min(max(report.time, 1), now))
    {
      hasChanged = try EpisodeMarks.change(id, in: database) { known, _ in known = listening }
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
    var changes: [CatalogChange] = hasChanged ? [.episode(id)] : []
    if report.queuePlace > 0 {
      let old = try PlayQueue(in: database)
      var queue = old
      if try queue.insert(id, at: report.queuePlace) {
        try queue.save(replacing: old, in: database)
        changes.append(.queue)
      }
    }
    return changes
  }
}

extension SyncRows {
  /// Keeps a report of the server until its episode is known.
  package func keep(_ report: EpisodeReport, now: Int64) throws {
    try AwaitedReport(report, isExchanged: true).save(now: now, in: database)
  }

  package func giveUpOldReports(now: Int64) throws { try AwaitedReport.giveUpOld(now: now, in: database) }
}

/// Finds the episode that another device means, within one podcast: by its guid, else by its enclosure's address as the
/// identity of episodes compares it (`StableAddress`). Never by its title.
package struct EpisodeLookup {
  private let byGuid: [String: [Int64]]
  private let byAddress: [String: Int64]
  /// Made when an address is met that is written otherwise.
  private lazy var byStableAddress: [String: Int64] = Dictionary(
    byAddress.map { (StableAddress.text(WebAddress($0.key)), $0.value) }, uniquingKeysWith: min)

  package init(_ episodes: [(id: Int64, guid: String?, address: WebAddress)]) {
    byGuid = Dictionary(grouping: episodes.filter { $0.guid != nil }) { $0.guid ?? "" }
      .mapValues { $0.map(\.id) }
    byAddress = Dictionary(
      episodes.map { ($0.address.forRequest, $0.id) }, uniquingKeysWith: min)
  }

  package mutating func episode(guid: String?, address: WebAddress) -> Int64? {
    let named = guid.flatMap { byGuid[$0] } ?? []
    if named.count == 1 { return named[0] }
    let found = byAddress[address.forRequest] ?? byStableAddress[StableAddress.text(address)]
    // Where several have the guid, the address says which; where it says none of them, the first.
    return named.isEmpty || found.map(named.contains) == true ? found : named.min()
  }
}

extension EpisodeLookup {
  init(podcast: Int64, in database: Database) throws {
    self.init(
      try database.all(
        "SELECT id, guid, enclosure_url FROM episode WHERE id BETWEEN ? AND ?",
        EpisodeID.first(ofPodcast: podcast), EpisodeID.last(ofPodcast: podcast)
      ) { ($0.int64(0), $0.stringIfPresent(1), WebAddress($0.string(2))) })
  }
}

extension SyncRows {
  package func lookup(inPodcast podcast: Int64) throws -> EpisodeLookup {
    try EpisodeLookup(podcast: podcast, in: database)
  }
}
