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
  /// Until when its server wishes not to be asked for it.
  var notBefore: Int64?

  init(podcast: Int64) { self.podcast = podcast }

  private enum Column: Int, ColumnList {
    case podcastID, nextPage, bytes, readsWhole, failures, error, notBefore
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
        podcast, nextPage?.forRequest, bytes, readsWhole, failures, error, notBefore,
      ])
  }
}

extension ArchiveRecord {
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
    (failures, error, notBefore) = (0, nil, nil)
  }

  /// Failures in a row, over some days, after which the archive ends before the page.
  private static let mostFailures = 30

  /// The page could not be had: the next refresh of the feed tries again.
  /// - Returns: whether the archive ends before it.
  mutating func failed(_ failure: FeedFailure, now: Int64) -> Bool {
    failures += 1
    if failures >= Self.mostFailures {
      came(next: nil)
      return true
    }
    error = "older episodes could not be fetched yet: \(failure.error.message)"
    notBefore = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
    return false
  }
}
