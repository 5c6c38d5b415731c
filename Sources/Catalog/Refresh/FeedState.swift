internal import PodcastModel
internal import SQLiteKit

/// What a refresh has to know of a podcast.
struct FeedState: Sendable {
  var id: Int64
  var feedURL: WebAddress
  var mayBePrivate: Bool
  var isPrivate: Bool
  var lastRefresh: Int64?
  var nextRefresh: Int64?
  var notBefore: Int64?
  var failures: Int
  var error: String?
  var etag: String?
  var lastModified: String?
  /// When the last answer came that was no 304.
  var lastWhole: Int64?
  /// An archive page that is still to be read.
  var nextPage: WebAddress?
  var movedTo: WebAddress?
  var movedSince: Int64?
  /// RSS `ttl`, in minutes: a 304 does not repeat it.
  var timeToLive: Int?
  /// When the archive page may be asked for again.
  var pageNotBefore: Int64?

  init?(podcast id: Int64, in database: Database) throws {
    let state = try database.first(
      """
      SELECT feed_url, may_be_private, is_private, last_refresh, next_refresh, not_before, failures, error,
        etag, last_modified, last_whole, next_page, moved_to, moved_since, ttl,
        page_not_before
      FROM podcast WHERE id = ?
      """, id
    ) { FeedState(id: id, $0) }
    guard let state else { return nil }
    self = state
  }

  private init(id: Int64, _ row: borrowing Row) {
    self.id = id
    feedURL = WebAddress(row.string(0))
    mayBePrivate = row.bool(1)
    isPrivate = row.bool(2)
    lastRefresh = row.int64IfPresent(3)
    nextRefresh = row.int64IfPresent(4)
    notBefore = row.int64IfPresent(5)
    failures = row.int(6)
    error = row.stringIfPresent(7)
    etag = row.stringIfPresent(8)
    lastModified = row.stringIfPresent(9)
    lastWhole = row.int64IfPresent(10)
    nextPage = row.stringIfPresent(11).map { WebAddress($0) }
    movedTo = row.stringIfPresent(12).map { WebAddress($0) }
    movedSince = row.int64IfPresent(13)
    timeToLive = row.intIfPresent(14)
    pageNotBefore = row.int64IfPresent(15)
  }

  /// Once a day the whole feed is asked for: some servers go on saying 304 after a change.
  func isConditional(now: Int64) -> Bool {
    guard let lastWhole, etag != nil || lastModified != nil else { return false }
    return (0..<24 * 3600).contains(now - lastWhole)
  }
}
