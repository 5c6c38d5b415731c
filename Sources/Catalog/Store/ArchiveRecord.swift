internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What is known of the further pages of a paged feed (RFC 5005) that are still to be read (`PagedArchive`).
struct ArchiveRecord: Sendable {
  let podcast: Int64
  var nextPage: WebAddress?
  /// Bytes of the pages that have come since the first.
  var bytes: Int64 = 0
  /// It is read up to its end, whether its episodes are known or not.
  var readsWhole = false
  /// How often in a row the next page could not be had.
  var failures = 0
  /// Why, in words for a person.
  var error: String?
  /// When the page may be asked for again.
  var notBefore: Int64?
  /// Until when its server wishes not to be asked for it.
  var retryAfter: Int64?

  init(podcast: Int64) { self.podcast = podcast }

  private enum Column: Int, ColumnList {
    case podcastID, nextPage, bytes, readsWhole, failures, error, notBefore, retryAfter
  }

  private static let columns = Column.list(of: "a")
  private static let saving = Database.saving(into: "archive", Column.allCases.map(\.name))

  private static func read(_ row: borrowing Row) -> ArchiveRecord {
    var archive = ArchiveRecord(podcast: row.int64(Column.podcastID))
    archive.nextPage = row.stringIfPresent(Column.nextPage).map { WebAddress($0) }
    // A damaged file says anything.
    archive.bytes = min(max(row.int64(Column.bytes), 0), 1 << 60)
    archive.readsWhole = row.bool(Column.readsWhole)
    archive.failures = min(max(row.int(Column.failures), 0), 1000)
    archive.error = row.stringIfPresent(Column.error)
    archive.notBefore = row.time(Column.notBefore)
    archive.retryAfter = row.time(Column.retryAfter)
    return archive
  }

  /// Of a podcast without a row: nothing is still to be read.
  static func load(_ podcast: Int64, in database: Database) throws -> ArchiveRecord {
    try database.first("SELECT \(columns) FROM archive a WHERE a.podcast_id = ?", podcast, as: read)
      ?? ArchiveRecord(podcast: podcast)
  }

  func save(in database: Database) throws {
    try database.run(
      Self.saving,
      values: [
        podcast, nextPage?.forRequest, bytes, readsWhole, failures, error, notBefore, retryAfter,
      ])
  }

  /// Has archives that an earlier process left unfinished asked for at once, where nothing failed.
  static func scheduleUnfinished(now: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE feed SET next_refresh = 0 WHERE is_followed = 1 AND podcast_id IN
        (SELECT podcast_id FROM archive WHERE next_page IS NOT NULL AND coalesce(not_before, 0) <= ?)
      """, now)
  }
}

extension ArchiveRecord {
  private static let day: Int64 = 24 * 3600
  /// Stores the address of the second page if later pages may hold new episodes. All pages are read for a new feed, or if
  /// new episodes arrive before the last reading has ended: what is still to be read has moved on to later pages then.
  /// Otherwise reading stops at the first page without new episodes: an item that is pinned to the first page says nothing.
  mutating func note(_ document: FetchedFeed, _ merged: FeedMerge.Merged, isFirst: Bool) {
    let hasNew = !merged.outcome.newEpisodes.isEmpty
    readsWhole = nextPage != nil && (readsWhole || hasNew) || isFirst
    guard isFirst || hasNew, let next = document.nextPageURL, next.isWeb else { return }
    (nextPage, bytes, failures, error, notBefore) = (next, 0, 0, nil, nil)
  }

  /// A page has come.
  /// - Parameter next: the page after it; nil at the end.
  mutating func came(next: WebAddress?) {
    nextPage = next
    if next == nil { readsWhole = false }
    (failures, error, notBefore, retryAfter) = (0, nil, nil, nil)
  }

  /// Seconds until a page that failed is asked for again: twice as many each time, up to a day.
  static let patience: Int64 = 900
  /// Failures in a row, over some days, after which the archive ends before the page.
  private static let mostFailures = 10

  /// The page could not be had.
  /// - Returns: whether the archive ends before it.
  mutating func failed(_ failure: FeedFailure, now: Int64) -> Bool {
    // What comes of a page that was asked for before its time says nothing about how long to wait for it.
    let isEarly = (notBefore ?? 0) > now
    if !isEarly { failures += 1 }
    if failures >= Self.mostFailures {
      came(next: nil)
      return true
    }
    let wait = min(Self.patience << Int64(min(max(failures - 1, 0), 10)), Self.day)
    error = "older episodes could not be fetched yet: \(failure.error.message)"
    retryAfter = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
    notBefore = max(isEarly ? notBefore ?? 0 : now + wait, retryAfter ?? 0)
    return false
  }
}

extension FeedRecord {
  /// What the archive still lacks is said as before, and is asked for when its own time comes.
  mutating func keep(_ archive: ArchiveRecord, now: Int64) {
    guard archive.nextPage != nil, let error = archive.error else { return }
    self.error = error
    if let time = archive.notBefore, time > now { nextRefresh = nextRefresh.map { min($0, time) } }
  }

  /// What is missing, or nothing could be made of, in words for a person; nil for nothing.
  func missing(_ archive: ArchiveRecord) -> String? {
    if isCut { return error }
    return archive.nextPage == nil ? notice : archive.error ?? "older episodes are still to come"
  }
}
