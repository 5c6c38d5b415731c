internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A podcast's feed as its row has it: where it is, what its last answer said, when it is asked for again. Loaded,
/// changed as a value, and saved once.
@dynamicMemberLookup
struct FeedRecord: Sendable {
  let podcast: Int64
  var feedURL: WebAddress
  /// The user has typed the address: it may lead to a private host.
  var mayBePrivate = false
  /// The feed came from a private host: its enclosures may be there, too.
  var isPrivate = false
  /// A copy of the podcast's, for the index of those that are due.
  private(set) var isFollowed = false

  var lastRefresh: Int64?
  var nextRefresh: Int64?
  /// A process is refreshing it, and counts as gone then.
  var claimedUntil: Int64?

  /// In a row.
  var failures = 0
  var error: String?
  /// Another network may give another answer.
  var isAway = false

  private var memory = Memory()

  init(podcast: Int64, feedURL: WebAddress) {
    self.podcast = podcast
    self.feedURL = feedURL
  }

  subscript<Value>(dynamicMember fact: WritableKeyPath<Memory, Value>) -> Value {
    get { memory[keyPath: fact] }
    set { memory[keyPath: fact] = newValue }
  }

  /// What no query looks at: one column.
  struct Memory: FieldCoded {
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
    /// When the last answer came that was no 304.
    var lastWhole: Int64?
    /// Until when the server wishes not to be asked.
    var notBefore: Int64?
    /// What a person should know of the feed as it last came, though nothing failed.
    var notice: String?
    /// Where the feed says that it has moved, and since when; or until when that is not tried again.
    var movedTo: WebAddress?
    var movedSince: Int64?
    /// `movedTo` is the feed's own word.
    var isAnnounced = false
    var archive = ArchiveState()

    mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
      try fields.code(&etag, &lastModified, &digest)
      try fields.code(&cameFrom, &timeToLive, &isComplete)
      try fields.code(&isSerial, &firstRefresh, &lastWhole)
      try fields.code(&notBefore, &notice, &movedTo)
      try fields.code(&movedSince, &isAnnounced, &archive)
    }

    /// A damaged file says anything.
    fileprivate var isSensible: Bool {
      let numbers = [firstRefresh, lastWhole, notBefore, movedSince, archive.notBefore, archive.bytes]
      return numbers.allSatisfy { (-1 << 40...1 << 50).contains($0 ?? 0) }
        && (0...1000).contains(archive.failures)
    }
  }
}

extension FeedRecord {
  private enum Column: Int, ColumnList {
    case podcastID, feedURL, feedKey, mayBePrivate, isPrivate, isFollowed, lastRefresh, nextRefresh
    case claimedUntil, failures, error, isAway, memory
  }

  private static let columns = Column.list(of: "f")

  private static func read(_ row: borrowing Row) -> FeedRecord {
    var feed = FeedRecord(
      podcast: row.int64(Column.podcastID), feedURL: WebAddress(row.string(Column.feedURL)))
    feed.mayBePrivate = row.bool(Column.mayBePrivate)
    feed.isPrivate = row.bool(Column.isPrivate)
    feed.isFollowed = row.bool(Column.isFollowed)
    feed.lastRefresh = row.time(Column.lastRefresh)
    feed.nextRefresh = row.time(Column.nextRefresh)
    feed.claimedUntil = row.time(Column.claimedUntil)
    feed.failures = min(max(row.int(Column.failures), 0), 1_000_000)
    feed.error = row.stringIfPresent(Column.error)
    feed.isAway = row.bool(Column.isAway)
    if let memory = try? Memory(decoding: row.blob(Column.memory)[...]), memory.isSensible {
      feed.memory = memory
    }
    return feed
  }

  private static let saving = Database.saving(into: "feed", Column.allCases.map(\.name))

  static func load(_ podcast: Int64, in database: Database) throws -> FeedRecord? {
    try database.first("SELECT \(columns) FROM feed f WHERE f.podcast_id = ?", podcast, as: read)
  }

  func save(in database: Database) throws {
    try database.run(
      Self.saving,
      values: [
        podcast, feedURL.forRequest, FeedKey.text(feedURL), mayBePrivate, isPrivate, isFollowed, lastRefresh,
        nextRefresh, claimedUntil, failures, error, isAway, memory.encoded,
      ])
  }

  @discardableResult
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
    let later = try store.read {
      try $0.numbers("SELECT podcast_id FROM feed WHERE last_refresh > ?", time)
    }
    if later.isEmpty { return }
    try store.write(.refresh) { database in
      for podcast in later {
        try change(podcast, in: database) { feed in
          (feed.lastRefresh, feed.nextRefresh, feed.notBefore, feed.lastWhole) = (now, now, nil, nil)
        }
      }
    }
  }

  /// Has those asked for at once that failed fewer times in a row than `limit` where another network may give another
  /// answer.
  static func networkChanged(failures limit: Int, _ store: CatalogStore) throws(CatalogError) {
    try store.write(.refresh) {
      try $0.run("UPDATE feed SET next_refresh = 0, is_away = 0 WHERE is_away = 1 AND failures < ?", limit)
    }
  }
}

extension FeedRecord {
  /// Whether the feed is asked for only if it has changed.
  func isConditional(now: Int64, isDoubtful: Bool) -> Bool {
    guard let lastWhole = self.lastWhole, self.etag != nil || self.lastModified != nil else { return false }
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
    (lastRefresh, error, failures) = (now, complaint, 0)
    (self.notBefore, claimedUntil, isAway) = (nil, nil, false)
  }

  /// An answer has come that is no 304.
  mutating func came(_ head: HTTPResponseHead, now: Int64) {
    self.lastWhole = now
    (self.etag, self.lastModified) = (head.value("etag"), head.value("last-modified"))
    self.cameFrom = head.place
  }

  mutating func take(_ document: FetchedFeed, _ head: HTTPResponseHead, now: Int64) {
    // A feed is private where it was from the first: its owner cannot lead it there later.
    if lastRefresh == nil { isPrivate = head.isFromPrivateHost }
    self.notice = document.episodes.isEmpty ? document.emptiness : nil
    answered(now: now)
    came(head, now: now)
    self.firstRefresh = self.firstRefresh ?? now
    (self.timeToLive, self.isComplete) = (document.timeToLive, document.isComplete)
    self.isSerial = document.isSerial
  }

  /// What is known of how often the feed brings something.
  func rhythm(in database: Database) throws -> FeedRhythm {
    FeedRhythm(
      published: try EpisodeRow.times(ofPodcast: podcast, limit: FeedRhythm.memory, in: database),
      firstRead: self.firstRefresh ?? .max, isComplete: self.isComplete)
  }

  /// What a person should know while the feed itself comes.
  var complaint: String? { (self.archive.nextPage == nil ? nil : self.archive.error) ?? self.notice }

  mutating func changeArchive<R>(_ body: (inout ArchiveState) -> R) -> R {
    let former = complaint
    defer { if error == former { error = complaint } }
    return body(&self.archive)
  }

  /// The next answer is read, whatever it says of changes.
  mutating func forgetAnswer() {
    (self.etag, self.lastModified, self.digest) = (nil, nil, nil)
  }
}
