internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What a refresh has to know of a podcast.
struct FeedState: Sendable {
  var id: Int64
  var feedURL: WebAddress
  /// Of its address, then of those that it has moved away from (`FeedKey`).
  var keys: [String] = []
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
  /// Until when its server wishes not to be asked for it.
  var pageRetryAfter: Int64?
  /// Of the last body that was read.
  var digest: Int64?
  /// When that body says more than it did: a date in it has passed then.
  var readAgain: Int64?
  /// `podcast:guid`: names the podcast wherever it is.
  var guid: String?
  /// What the feed, a list or a directory says; a host's name where none did (`hasTitle`).
  var title: String
  var hasTitle: Bool
  var isFollowed: Bool
  /// Where redirects ended that led to the last feed; nil where none did.
  var cameFrom: WebAddress?
  /// `movedTo` is the feed's own word.
  var isAnnounced = false
  /// An unchanged answer is not believed this time: some servers go on saying 304 after a change.
  var isDoubtful = false

  init?(podcast id: Int64, in database: Database) throws {
    let state = try database.first(
      "SELECT \(Self.columns) FROM podcast p WHERE id = ? AND is_forgotten = 0", id
    ) { FeedState(id: id, $0) }
    guard let state else { return nil }
    self = state
    keys = try MoveRows.keys(of: id, in: database)
    let now = wallClockSeconds()
    if let lastWhole, lastWhole <= now {
      isDoubtful = try RefreshRows.rhythm(of: id, in: database).isDoubtful(now: now, lastWhole: lastWhole)
    }
  }

  private enum Column: Int, ColumnList {
    case feedURL, mayBePrivate, isPrivate, lastRefresh, nextRefresh, notBefore, failures, error, etag,
      lastModified
    case lastWhole, nextPage, movedTo, movedSince, ttl, pageNotBefore, digest, isAnnounced,
      pageRetryAfter, guid, title, hasTitle, isFollowed, cameFrom, readAgain
  }

  private static let columns = Column.list(of: "p")

  private init(id: Int64, _ row: borrowing Row) {
    self.id = id
    feedURL = WebAddress(row.string(Column.feedURL))
    mayBePrivate = row.bool(Column.mayBePrivate)
    isPrivate = row.bool(Column.isPrivate)
    lastRefresh = Self.time(row, .lastRefresh)
    nextRefresh = Self.time(row, .nextRefresh)
    notBefore = Self.time(row, .notBefore)
    failures = min(max(row.int(Column.failures), 0), 1_000_000)
    error = row.stringIfPresent(Column.error)
    etag = row.stringIfPresent(Column.etag)
    lastModified = row.stringIfPresent(Column.lastModified)
    lastWhole = Self.time(row, .lastWhole)
    nextPage = row.stringIfPresent(Column.nextPage).map { WebAddress($0) }
    movedTo = row.stringIfPresent(Column.movedTo).map { WebAddress($0) }
    movedSince = Self.time(row, .movedSince)
    timeToLive = row.intIfPresent(Column.ttl).map { min(max($0, 0), 1_000_000) }
    pageNotBefore = Self.time(row, .pageNotBefore)
    pageRetryAfter = Self.time(row, .pageRetryAfter)
    digest = row.int64IfPresent(Column.digest)
    guid = row.stringIfPresent(Column.guid)
    title = row.string(Column.title)
    hasTitle = row.bool(Column.hasTitle)
    isFollowed = row.bool(Column.isFollowed)
    cameFrom = row.stringIfPresent(Column.cameFrom).map { WebAddress($0) }
    readAgain = Self.time(row, .readAgain)
    isAnnounced = row.bool(Column.isAnnounced)
  }

  /// A time, where it can be one: what else has written to the file may have made it anything.
  private static func time(_ row: borrowing Row, _ column: Column) -> Int64? {
    let sensible: ClosedRange<Int64> = -(1 << 40)...(1 << 40)
    return row.int64IfPresent(column).flatMap { sensible.contains($0) ? $0 : nil }
  }

  /// Whether the feed is asked for only if it has changed.
  func isConditional(now: Int64) -> Bool {
    guard let lastWhole, etag != nil || lastModified != nil else { return false }
    return lastWhole <= now && !isDoubtful && !saysMore(now: now)
  }

  /// Whether the body that was read last is to be read again.
  func saysMore(now: Int64) -> Bool { readAgain.map { $0 <= now } ?? false }
}
