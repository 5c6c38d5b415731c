internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// What is noted of the refreshes of a feed, in the podcast's row: when it was asked for, when it will be, what failed.
/// Within transactions.
enum RefreshRows {
  /// The subscriptions whose refresh is nearest, and when each is due. One that another process is refreshing is due
  /// when that one counts as gone.
  static func due(in database: Database) throws -> [(podcast: Int64, time: Int64)] {
    try database.all(
      """
      SELECT id, max(coalesce(next_refresh, 0), coalesce(claimed_until, 0)) AS due
      FROM podcast INDEXED BY podcast_due WHERE is_followed = 1 ORDER BY due LIMIT 64
      """
    ) { ($0.int64(0), max($0.int64(1), 0)) }
  }

  /// Keeps other processes from refreshing the same podcast for `period` seconds.
  /// - Returns: false where one is at it, or has just been.
  static func claim(_ podcast: Int64, now: Int64, period: Int64, in database: Database) throws -> Bool {
    try database.run(
      """
      UPDATE podcast SET claimed_until = ? WHERE id = ? AND coalesce(next_refresh, 0) <= ?
        AND (claimed_until IS NULL OR claimed_until <= ? OR claimed_until > ?)
      """, now + period, podcast, now, now, now + period)
    return database.changedRows > 0
  }

  /// Keeps other processes from beginning a refresh of the podcast while this one is at it, whoever else may be.
  static func take(_ podcast: Int64, until time: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET claimed_until = ? WHERE id = ?", time, podcast)
  }

  /// The user has typed the feed's address: it may be on a private host, and is asked for at once.
  static func allowPrivateHosts(_ podcast: Int64, in database: Database) throws {
    try database.run(
      "UPDATE podcast SET may_be_private = 1, next_refresh = 0, failures = 0 WHERE id = ?", podcast)
  }

  /// The server has said that nothing is new, or has sent the same.
  /// - Parameter isWhole: the feed came.
  static func unchanged(
    _ podcast: Int64, now: Int64, next: Int64, isWhole: Bool, in database: Database
  ) throws {
    try database.run(
      """
      UPDATE podcast SET last_refresh = ?, next_refresh = ?, error = notice, failures = 0, not_before = NULL,
        claimed_until = NULL, is_away = 0, is_cut = 0, last_whole = coalesce(?, last_whole)
      WHERE id = ?
      """, now, next, isWhole ? now : nil, podcast)
  }

  /// What is known of how often a feed brings something.
  static func rhythm(of podcast: Int64, in database: Database) throws -> FeedRhythm {
    let facts = try database.first("SELECT first_refresh, is_complete FROM podcast WHERE id = ?", podcast) {
      ($0.int64IfPresent(0), $0.bool(1))
    }
    return FeedRhythm(
      published: try EpisodeRow.times(ofPodcast: podcast, limit: FeedRhythm.memory, in: database),
      firstRead: facts?.0 ?? .max, isComplete: facts?.1 ?? false)
  }

  /// What a feed that has come says, but for its episodes.
  struct Answer {
    var etag: String?
    var lastModified: String?
    /// See `FeedState`.
    var isPrivate: Bool
    var timeToLive: Int?
    /// `podcast:guid`
    var guid: String?
    var isComplete: Bool
    /// Of the body.
    var digest: Int64?
    /// See `FeedState`.
    var cameFrom: WebAddress?
    var readAgain: Int64?
    /// What a person should know of the feed, though nothing failed.
    var notice: String?
  }

  static func came(_ podcast: Int64, _ answer: Answer, now: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET last_refresh = ?1, last_whole = ?1, error = ?12, notice = ?12, failures = 0,
        not_before = NULL, claimed_until = NULL, etag = ?2, last_modified = ?3, is_private = ?4, ttl = ?5,
        guid = coalesce(?6, guid), is_complete = ?7, is_away = 0, digest = ?8,
        first_refresh = coalesce(first_refresh, ?1), came_from = ?9,
        is_cut = 0, read_again = ?11
      WHERE id = ?10
      """, now, answer.etag, answer.lastModified, answer.isPrivate, answer.timeToLive, answer.guid,
      answer.isComplete, answer.digest, answer.cameFrom?.forRequest, podcast,
      answer.readAgain, answer.notice)
  }

  /// Some of what came is missing.
  /// - Parameter next: when it is asked for again, unless it is sooner anyway.
  static func breakOff(
    _ podcast: Int64, _ message: String, failures: Int, next: Int64, in database: Database
  ) throws {
    try database.run(
      """
      UPDATE podcast SET error = ?1, failures = ?2, is_cut = 1, next_refresh = min(coalesce(next_refresh, ?3), ?3)
      WHERE id = ?4
      """, message, failures, next, podcast)
  }

  /// The next answer is read, whatever it says of changes.
  static func forgetAnswer(_ podcast: Int64, in database: Database) throws {
    try database.run(
      "UPDATE podcast SET etag = NULL, last_modified = NULL, digest = NULL WHERE id = ?", podcast)
  }

  /// What the next request says (RFC 9110 §13.1), and where that was learnt.
  static func setValidators(
    _ podcast: Int64, etag: String?, lastModified: String?, from place: WebAddress?, in database: Database
  ) throws {
    try database.run(
      "UPDATE podcast SET etag = ?, last_modified = ?, came_from = ? WHERE id = ?", etag, lastModified,
      place?.forRequest, podcast)
  }

  static func setNext(_ podcast: Int64, _ time: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET next_refresh = ? WHERE id = ?", time, podcast)
  }

  struct Failure {
    var message: String
    /// In a row.
    var count: Int
    var next: Int64
    /// The server's wish.
    var notBefore: Int64?
    /// Another network may give another answer.
    var mayBeTheNetworks: Bool
  }

  static func fail(_ podcast: Int64, _ failure: Failure, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET error = ?, failures = ?, next_refresh = ?, not_before = ?, claimed_until = NULL,
        is_away = ?
      WHERE id = ?
      """, failure.message, failure.count, failure.next, failure.notBefore, failure.mayBeTheNetworks, podcast)
  }

  static func setError(_ podcast: Int64, _ message: String, in database: Database) throws {
    try database.run("UPDATE podcast SET error = ? WHERE id = ?", message, podcast)
  }

  /// Its directories list other things than before.
  static func listingChanged(_ podcast: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET changed = ? WHERE id = ?", wallClockNanoseconds(), podcast)
    try SubscriptionList.changed(podcast: podcast, in: database)
  }

  /// Whether any was refreshed later than `time`: the clock has been set back since.
  static func isAnyRefreshed(after time: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast WHERE last_refresh > ?", time)
  }

  /// Moves the times of what was refreshed later than `time`: what was due in an hour must not be due in a year and an
  /// hour.
  static func followClock(now: Int64, refreshedAfter time: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET next_refresh = next_refresh - last_refresh + ?1,
        not_before = not_before - last_refresh + ?1, page_not_before = page_not_before - last_refresh + ?1,
        page_retry_after = page_retry_after - last_refresh + ?1, last_whole = NULL, last_refresh = ?1
      WHERE last_refresh > ?2
      """, now, time)
  }

  /// Whether any failed fewer times in a row than `limit` where another network may give another answer.
  static func isAnyAway(failures limit: Int, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast WHERE is_away = 1 AND failures < ?", limit)
  }

  /// Has these asked for at once.
  static func networkChanged(failures limit: Int, in database: Database) throws {
    try database.run(
      "UPDATE podcast SET next_refresh = 0, is_away = 0 WHERE is_away = 1 AND failures < ?", limit)
  }
}
