internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast's feed as its row has it: where it is, what its last answer said, when it is asked for again. Loaded,
/// changed as a value, and saved once.
struct FeedRecord: Sendable {
  let podcast: Int64
  var feedURL: WebAddress
  /// The user has typed the address: it may lead to a private host.
  var mayBePrivate = false
  /// The feed came from a private host: its enclosures may be there, too.
  var isPrivate = false
  /// A copy of the podcast's, for the index of those that are due.
  private(set) var isFollowed = false

  /// What the next request says (RFC 9110 §13.1), verbatim.
  var etag: String?
  var lastModified: String?
  /// Of the last body that was read.
  var digest: Int64?
  /// Where redirects ended that led to the last feed; nil where none did.
  var cameFrom: WebAddress?
  /// RSS `ttl`, in minutes: a 304 does not repeat it.
  var timeToLive: Int?
  /// `itunes:complete`
  var isComplete = false
  /// `itunes:type`: episodes are to be heard in order.
  var isSerial = false

  var firstRefresh: Int64?
  var lastRefresh: Int64?
  var nextRefresh: Int64?
  /// When the last answer came that was no 304.
  var lastWhole: Int64?
  /// Until when the server wishes not to be asked.
  var notBefore: Int64?
  /// A process is refreshing it, and counts as gone then.
  var claimedUntil: Int64?

  /// In a row.
  var failures = 0
  /// In words for a person.
  var error: String?
  /// What a person should know of the feed as it last came, though nothing failed.
  var notice: String?
  /// Another network may give another answer.
  var isAway = false

  /// Where the feed says that it has moved, and since when; or until when that is not tried again.
  var movedTo: WebAddress?
  var movedSince: Int64?
  /// `movedTo` is the feed's own word.
  var isAnnounced = false

  init(podcast: Int64, feedURL: WebAddress) {
    self.podcast = podcast
    self.feedURL = feedURL
  }
}

extension FeedRecord {
  private enum Column: Int, ColumnList {
    case podcastID, feedURL, feedKey, mayBePrivate, isPrivate, isFollowed, etag, lastModified, digest
    case cameFrom, timeToLive, isComplete, firstRefresh, lastRefresh, nextRefresh, lastWhole, notBefore
    case claimedUntil, failures, error, notice, isAway, movedTo, movedSince, isAnnounced, isSerial
  }

  private static let columns = Column.list(of: "f")

  private static func read(_ row: borrowing Row) -> FeedRecord {
    var feed = FeedRecord(
      podcast: row.int64(Column.podcastID), feedURL: WebAddress(row.string(Column.feedURL)))
    feed.mayBePrivate = row.bool(Column.mayBePrivate)
    feed.isPrivate = row.bool(Column.isPrivate)
    feed.isFollowed = row.bool(Column.isFollowed)
    feed.etag = row.stringIfPresent(Column.etag)
    feed.lastModified = row.stringIfPresent(Column.lastModified)
    feed.digest = row.int64IfPresent(Column.digest)
    feed.cameFrom = row.stringIfPresent(Column.cameFrom).map { WebAddress($0) }
    feed.timeToLive = row.intIfPresent(Column.timeToLive).map { min(max($0, 0), 1_000_000) }
    feed.isComplete = row.bool(Column.isComplete)
    feed.firstRefresh = row.time(Column.firstRefresh)
    feed.lastRefresh = row.time(Column.lastRefresh)
    feed.nextRefresh = row.time(Column.nextRefresh)
    feed.lastWhole = row.time(Column.lastWhole)
    feed.notBefore = row.time(Column.notBefore)
    feed.claimedUntil = row.time(Column.claimedUntil)
    feed.failures = min(max(row.int(Column.failures), 0), 1_000_000)
    feed.error = row.stringIfPresent(Column.error)
    feed.notice = row.stringIfPresent(Column.notice)
    feed.isAway = row.bool(Column.isAway)
    feed.movedTo = row.stringIfPresent(Column.movedTo).map { WebAddress($0) }
    feed.movedSince = row.time(Column.movedSince)
    feed.isAnnounced = row.bool(Column.isAnnounced)
    feed.isSerial = row.bool(Column.isSerial)
    return feed
  }

  /// In the order of `Column`.
  private var values: [any Bindable] {
    [
      podcast, feedURL.forRequest, FeedKey.text(feedURL), mayBePrivate, isPrivate, isFollowed, etag,
      lastModified,
      digest, cameFrom?.forRequest, timeToLive, isComplete, firstRefresh, lastRefresh, nextRefresh,
      lastWhole, notBefore, claimedUntil, failures, error, notice, isAway, movedTo?.forRequest,
      movedSince,
      isAnnounced, isSerial,
    ]
  }

  private static let saving = Database.saving(into: "feed", Column.allCases.map(\.name))

  static func load(_ podcast: Int64, in database: Database) throws -> FeedRecord? {
    try database.first("SELECT \(columns) FROM feed f WHERE f.podcast_id = ?", podcast, as: read)
  }

  func save(in database: Database) throws { try database.run(Self.saving, values: values) }

  /// Changes the feed of a podcast; none where it is not known.
  static func change<R>(
    _ podcast: Int64, in database: Database, _ body: (inout FeedRecord) throws -> R
  ) throws -> R? {
    guard var feed = try load(podcast, in: database) else { return nil }
    let result = try body(&feed)
    try feed.save(in: database)
    return result
  }
}

extension Row {
  /// A time, where it can be one: what else has written to the file may have made it anything.
  func time(_ column: some ColumnList) -> Int64? {
    let sensible: ClosedRange<Int64> = -(1 << 40)...(1 << 40)
    return int64IfPresent(column).flatMap { sensible.contains($0) ? $0 : nil }
  }
}

// What is due, over all feeds.
extension FeedRecord {
  /// The subscriptions whose refresh is nearest, and when each is due. One that another process is refreshing is due
  /// when that one counts as gone.
  static func due(in database: Database) throws -> [(podcast: Int64, time: Int64)] {
    try database.all(
      """
      SELECT podcast_id, max(coalesce(next_refresh, 0), coalesce(claimed_until, 0)) AS due
      FROM feed INDEXED BY feed_due WHERE is_followed = 1 ORDER BY due LIMIT 64
      """
    ) { ($0.int64(0), max($0.int64(1), 0)) }
  }

  /// What was refreshed later than `time` is due: the clock has been set back since.
  static func followClock(now: Int64, refreshedAfter time: Int64, _ store: CatalogStore) throws(CatalogError)
  {
    let isAny = try store.read { try $0.exists("SELECT 1 FROM feed WHERE last_refresh > ?", time) }
    if !isAny { return }
    try store.write(.refresh) {
      try $0.run(
        """
        UPDATE feed SET last_refresh = ?1, next_refresh = ?1, not_before = NULL, last_whole = NULL
        WHERE last_refresh > ?
        """, now, time)
    }
  }

  /// Has those asked for at once that failed fewer times in a row than `limit` where another network may give another
  /// answer.
  static func networkChanged(failures limit: Int, _ store: CatalogStore) throws(CatalogError) {
    let isAny = try store.read {
      try $0.exists("SELECT 1 FROM feed WHERE is_away = 1 AND failures < ?", limit)
    }
    if !isAny { return }
    try store.write(.refresh) {
      try $0.run("UPDATE feed SET next_refresh = 0, is_away = 0 WHERE is_away = 1 AND failures < ?", limit)
    }
  }
}

extension FeedRecord {
  /// Whether the feed is asked for only if it has changed.
  func isConditional(now: Int64, isDoubtful: Bool) -> Bool {
    guard let lastWhole, etag != nil || lastModified != nil else { return false }
    return lastWhole <= now && !isDoubtful
  }

  /// Keeps other processes from refreshing the same podcast for `period` seconds.
  /// - Returns: false where one is at it, or has just been.
  mutating func claim(now: Int64, period: Int64) -> Bool {
    let isTaken = claimedUntil.map { $0 > now && $0 <= now + period } ?? false
    if isTaken || (nextRefresh ?? 0) > now { return false }
    claimedUntil = now + period
    return true
  }

  /// An answer has come: nothing of an earlier failure holds any more.
  mutating func answered(now: Int64) {
    (lastRefresh, error, failures) = (now, notice, 0)
    (notBefore, claimedUntil, isAway) = (nil, nil, false)
  }

  /// An answer has come that is no 304.
  mutating func came(_ head: HTTPResponseHead, now: Int64) {
    lastWhole = now
    (etag, lastModified) = (head.value("etag"), head.value("last-modified"))
    cameFrom = head.place
  }

  mutating func take(_ document: FetchedFeed, _ head: HTTPResponseHead, now: Int64) {
    // A feed is private where it was from the first: its owner cannot lead it there later.
    if lastRefresh == nil { isPrivate = head.isFromPrivateHost }
    notice = document.episodes.isEmpty ? document.emptiness : nil
    answered(now: now)
    came(head, now: now)
    firstRefresh = firstRefresh ?? now
    timeToLive = document.timeToLive
    isComplete = document.isComplete
    isSerial = document.isSerial
  }

  /// What is known of how often the feed brings something.
  func rhythm(in database: Database) throws -> FeedRhythm {
    FeedRhythm(
      published: try EpisodeRow.times(ofPodcast: podcast, limit: FeedRhythm.memory, in: database),
      firstRead: firstRefresh ?? .max, isComplete: isComplete)
  }

  /// The next answer is read, whatever it says of changes.
  mutating func forgetAnswer() { (etag, lastModified, digest) = (nil, nil, nil) }
}
