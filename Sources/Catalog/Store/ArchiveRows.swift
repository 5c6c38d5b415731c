internal import PodcastModel
internal import SQLiteKit

/// What is noted of the further pages of a paged feed, in the podcast's row (`ArchiveWalk`). Within transactions.
enum ArchiveRows {
  /// What is still to be read has moved on to later pages: a page that brings nothing new is not the end.
  static func episodesCame(_ podcast: Int64, in database: Database) throws {
    try database.run("UPDATE podcast SET walks_whole = 1 WHERE id = ? AND next_page IS NOT NULL", podcast)
  }

  /// Notes the page behind the first.
  /// - Parameter isWhole: all pages are to be read, known or not.
  static func begin(_ podcast: Int64, at page: WebAddress, isWhole: Bool, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET next_page = ?, walks_whole = max(walks_whole, ?), page_failures = 0, page_gone = 0,
        page_error = NULL, page_not_before = NULL, page_bytes = 0
      WHERE id = ?
      """, page.forRequest, isWhole, podcast)
  }

  /// - Returns: the bytes of all pages that have come since the first.
  static func add(bytes: Int, to podcast: Int64, in database: Database) throws -> Int64 {
    try database.run("UPDATE podcast SET page_bytes = page_bytes + ? WHERE id = ?", bytes, podcast)
    return try database.first("SELECT page_bytes FROM podcast WHERE id = ?", podcast) { $0.int64(0) } ?? 0
  }

  /// Notes that all pages are read again because of other addresses.
  /// - Returns: false where that was less than `period` seconds ago.
  static func readdress(_ podcast: Int64, now: Int64, period: Int64, in database: Database) throws -> Bool {
    try database.run(
      """
      UPDATE podcast SET readdressed = ?1 WHERE id = ?2
        AND (readdressed IS NULL OR readdressed <= ?1 - ?3 OR readdressed > ?1)
      """, now, podcast, period)
    return database.changedRows > 0
  }

  /// After a refresh that has had an answer: what the archive still lacks is told as before, and is asked for when its
  /// own time comes.
  static func keepTime(_ podcast: Int64, now: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET error = page_error,
        next_refresh = CASE WHEN page_not_before > ?1 THEN min(next_refresh, page_not_before) ELSE next_refresh END
      WHERE id = ?2 AND next_page IS NOT NULL AND page_error IS NOT NULL
      """, now, podcast)
  }

  private static let isOpen =
    "next_page IS NOT NULL AND is_followed = 1 AND coalesce(page_not_before, 0) <= ?"

  /// Whether a page of any podcast that is followed is still to be read, and may be.
  static func isAnyOpen(now: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast INDEXED BY podcast_paging WHERE \(isOpen)", now)
  }

  /// Has these asked for at once.
  static func haveOpenOnesRead(now: Int64, in database: Database) throws {
    try database.run("UPDATE podcast INDEXED BY podcast_paging SET next_refresh = 0 WHERE \(isOpen)", now)
  }

  /// What is still to be read, or nothing could be made of, in words for a person; nil for nothing.
  static func missing(of podcast: Int64, in database: Database) throws -> String? {
    try database.first(
      """
      SELECT CASE WHEN is_cut THEN error WHEN next_page IS NULL THEN notice
        ELSE coalesce(page_error, 'older episodes are still to come') END
      FROM podcast WHERE id = ? AND (next_page IS NOT NULL OR is_cut OR notice IS NOT NULL)
      """, podcast
    ) { $0.string(0) }
  }

  /// Whether all pages are to be read, known or not.
  static func isReadWhole(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast WHERE id = ? AND walks_whole = 1", podcast)
  }

  /// Whether no page of the podcast has come whole yet that could name the next one.
  static func isFirstStillToCome(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.exists(
      "SELECT 1 FROM podcast WHERE id = ? AND walks_whole = 1 AND next_page IS NULL", podcast)
  }

  static func firstIsStillToCome(_ podcast: Int64, _ isSo: Bool, in database: Database) throws {
    try database.run(
      "UPDATE podcast SET walks_whole = ? WHERE id = ? AND next_page IS NULL", isSo, podcast)
  }

  /// A page has come.
  /// - Parameters:
  ///   - next: the page after it; nil at the end.
  ///   - soon: when that is to be read, where not now.
  static func pageCame(_ podcast: Int64, next: WebAddress?, soon: Int64?, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET next_page = ?1, walks_whole = CASE WHEN ?1 IS NULL THEN 0 ELSE walks_whole END,
        error = CASE WHEN error = page_error THEN NULL ELSE error END, page_error = NULL, page_failures = 0,
        page_gone = 0, page_not_before = NULL, page_retry_after = NULL,
        next_refresh = CASE WHEN ?1 IS NULL THEN next_refresh
          ELSE min(coalesce(next_refresh, ?2), coalesce(?2, next_refresh)) END
      WHERE id = ?3
      """, next?.forRequest, soon, podcast)
  }

  /// How often in a row the next page could not be had.
  struct Failures {
    var count: Int64
    /// Of these, how often it was not there.
    var gone: Int64
    /// Its time had not come yet.
    var isEarly: Bool
  }

  static func failures(of podcast: Int64, now: Int64, in database: Database) throws -> Failures? {
    // A damaged file says anything.
    try database.first(
      """
      SELECT min(max(page_failures, 0), 1000), min(max(page_gone, 0), 1000), coalesce(page_not_before, 0) > ?
      FROM podcast WHERE id = ?
      """, now, podcast
    ) { Failures(count: $0.int64(0), gone: $0.int64(1), isEarly: $0.bool(2)) }
  }

  /// The page is not to be had; what came before is all there is.
  static func end(_ podcast: Int64, in database: Database) throws {
    try pageCame(podcast, next: nil, soon: nil, in: database)
  }

  /// - Parameters:
  ///   - text: why, for a person.
  ///   - wish: until when the server wishes not to be asked.
  ///   - time: when it is asked for again, unless its time had not come yet.
  static func fail(
    _ podcast: Int64, _ failures: Failures, text: String, wish: Int64?, again time: Int64,
    in database: Database
  ) throws {
    try database.run(
      """
      UPDATE podcast SET page_failures = ?1, page_gone = ?2, page_error = ?3, error = ?3, page_retry_after = ?4,
        page_not_before = max(CASE WHEN ?5 THEN page_not_before ELSE ?6 END, coalesce(?4, 0))
      WHERE id = ?7
      """, failures.count, failures.gone, text, wish, failures.isEarly, time, podcast)
    try database.run(
      "UPDATE podcast SET next_refresh = min(coalesce(next_refresh, page_not_before), page_not_before) WHERE id = ?",
      podcast)
  }
}
