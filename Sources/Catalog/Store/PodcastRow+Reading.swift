internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

// Queries for podcasts.
extension PodcastRow {
  static func podcast(_ id: Int64, in database: Database) throws -> Podcast? {
    try database.first("SELECT \(columns) FROM shown p WHERE p.id = ?", id) {
      read($0)
    }
  }

  /// Those that are known, in no order.
  static func podcasts(_ ids: [Int64], in database: Database) throws -> [Podcast] {
    try database.all(
      """
      SELECT \(columns) FROM shown p WHERE p.id IN (SELECT value FROM json_each(?))
      """, EpisodeRow.list(ids)
    ) { read($0) }
  }

  /// The podcast whose feed has this address, written in any way that means the same.
  static func podcast(feedURL: String, in database: Database) throws -> Podcast? {
    let key = FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    return try database.first("SELECT \(columns) FROM shown p WHERE p.feed_key = ?", key) { read($0) }
  }

  /// The podcast that has this name of all that are known.
  static func podcast(named name: String, in database: Database) throws -> Podcast? {
    try database.first(
      "SELECT \(columns) FROM shown p WHERE p.name_key = ? AND p.name = ?",
      UniqueNames.key(name), name
    ) { read($0) }
  }

  /// Another podcast than this with that address.
  static func other(than id: Int64, at address: WebAddress, in database: Database) throws -> Int64? {
    try database.first(
      "SELECT podcast_id FROM feed WHERE feed_key = ? AND podcast_id <> ?", FeedKey.text(address), id
    ) { $0.int64(0) }
  }

  /// Whether it is there, and not forgotten.
  static func isKnown(_ id: Int64, in database: Database) throws -> Bool {
    try database.exists("SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0", id)
  }

  /// Whether no podcast but these says this `podcast:guid`.
  static func isGuid(_ guid: String, ofNoneBut ids: [Int64], in database: Database) throws -> Bool {
    try !database.exists(
      "SELECT 1 FROM podcast WHERE guid = ? AND id NOT IN (SELECT value FROM json_each(?))", guid,
      EpisodeRow.list(ids))
  }

  /// Those that are followed, from the one with the newest episode on, and when that was published.
  static func newest(limit: Int, in database: Database) throws -> [(podcast: Podcast, newest: Int64)] {
    try database.all(
      """
      SELECT \(columns), p.newest FROM shown p
      WHERE p.is_followed = 1 AND p.newest IS NOT NULL ORDER BY p.newest DESC LIMIT ?
      """, limit
    ) { (podcast: read($0), newest: $0.int64(count)) }
  }
}
