internal import PodcastModel
internal import PosixKit
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
  /// Of the last body that was read.
  var digest: Int64?
  /// `movedTo` is the feed's own word.
  var isAnnounced = false
  /// An unchanged answer is not believed this time: some servers go on saying 304 after a change.
  var isDoubtful = false
  /// It is becoming one with another podcast, and not asked for any more.
  var isMerging = false

  init?(podcast id: Int64, in database: Database) throws {
    let state = try database.first(
      """
      SELECT feed_url, may_be_private, is_private, last_refresh, next_refresh, not_before, failures, error,
        etag, last_modified, last_whole, next_page, moved_to, moved_since, ttl,
        page_not_before, digest, is_announced, merges_into
      FROM podcast WHERE id = ?
      """, id
    ) { FeedState(id: id, $0) }
    guard let state else { return nil }
    self = state
    let now = wallClockSeconds()
    if let lastWhole, lastWhole <= now {
      isDoubtful = try FeedRhythm(podcast: id, in: database).isDoubtful(now: now, lastWhole: lastWhole)
    }
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
    digest = row.int64IfPresent(16)
    isAnnounced = row.bool(17)
    isMerging = !row.isNull(18)
  }

  /// Whether the feed is asked for only if it has changed.
  func isConditional(now: Int64) -> Bool {
    guard let lastWhole, etag != nil || lastModified != nil else { return false }
    return lastWhole <= now && !isDoubtful
  }
}
