internal import PodcastModel
internal import SQLiteKit

// Queries for episodes; all but the first two give them without their notes.
extension EpisodeRow {
  /// One episode, with its notes.
  static func episode(_ id: Int64, in database: Database) throws -> Episode? {
    try episodes(from: id, count: 1, in: database).first { $0.id == id }
  }

  /// Some of one podcast from a number on, by number, with their notes.
  static func episodes(from id: Int64, count: Int, in database: Database) throws -> [Episode] {
    try database.all(
      """
      SELECT \(columns), n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
      WHERE e.id BETWEEN ? AND ? ORDER BY e.id LIMIT ?
      """, id, EpisodeID.last(ofPodcast: EpisodeID.podcast(of: id)), count
    ) { row in
      var episode = read(row)
      episode.notes = row.stringIfPresent(self.count)
      return episode
    }
  }

  /// - Throws: `CatalogError` (ENOENT) where there is no such episode.
  static func check(_ id: Int64, in database: Database) throws {
    guard try database.exists("SELECT 1 FROM episode WHERE id = ?", id) else {
      throw CatalogError.unknown("episode")
    }
  }

  /// Those that are known, by number.
  static func episodes(_ ids: [Int64], in database: Database) throws -> [Episode] {
    try database.all(
      "SELECT \(columns) FROM episode e WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id",
      list(ids)
    ) { read($0) }
  }

  /// Numbers as a value for `json_each`.
  static func list(_ ids: [Int64]) -> String { "[" + ids.map { String($0) }.joined(separator: ",") + "]" }

  /// All of a podcast, also hidden ones, in the order in which they were first seen.
  static func episodes(ofPodcast id: Int64, in database: Database) throws -> [Episode] {
    try database.all(
      "SELECT \(columns) FROM episode e WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
      EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { read($0) }
  }

  /// The same, of each what directories show.
  static func summaries<Made>(
    ofPodcast id: Int64, in database: Database, as make: (EpisodeSummary) -> Made
  ) throws -> [Made] {
    try database.all(
      "SELECT \(summaryColumns) FROM episode e WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
      EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { make(readSummary($0)) }
  }

  /// The newest of a podcast that are not hidden and were published after `time`, the newest first.
  static func newest(
    ofPodcast id: Int64, after time: Int64, limit: Int, in database: Database
  ) throws -> [Episode] {
    try database.all(
      """
      SELECT \(columns) FROM episode e INDEXED BY episode_by_date
      WHERE e.podcast_id = ? AND e.hidden = 0 AND e.published > ? ORDER BY e.published DESC LIMIT ?
      """, id, time, limit
    ) { read($0) }
  }

  /// When the newest of a podcast that have dates were published.
  static func times(ofPodcast id: Int64, limit: Int, in database: Database) throws -> [Int64] {
    try database.all(
      """
      SELECT published FROM episode INDEXED BY episode_by_date
      WHERE podcast_id = ? AND hidden = 0 AND is_dated = 1 ORDER BY published DESC LIMIT ?
      """, id, limit
    ) { $0.int64(0) }
  }

  /// The episodes with these keys, those of subscriptions first, then by number.
  /// - Parameter keys: as many as `keysAtOnce` at the most.
  static func entries(forKeys keys: some Collection<MediaKey>, in database: Database) throws -> [EpisodeEntry]
  {
    // The number of placeholders is the same each time, so that the statement is prepared once.
    let padding = [any Bindable](repeating: Int?.none, count: keysAtOnce - keys.count)
    let marks = Array(repeating: "?", count: keysAtOnce).joined(separator: ",")
    return try database.all(
      """
      SELECT \(columns), \(PodcastRow.columns)
      FROM episode e JOIN shown p ON p.id = e.podcast_id LEFT JOIN subscription s ON s.podcast_id = p.id
      WHERE e.media_key IN (\(marks)) ORDER BY s.id IS NULL, e.id
      """, values: keys.map(blob) + padding
    ) { EpisodeEntry(episode: read($0), podcast: PodcastRow.read($0, from: count)) }
  }

  static let keysAtOnce = 500

  /// The keys of a podcast's enclosures, but for those that another feed names too.
  static func mediaKeys(ofPodcast id: Int64, in database: Database) throws -> [MediaKey] {
    try database.all(
      """
      SELECT DISTINCT media_key FROM episode e WHERE id BETWEEN ?1 AND ?2 AND NOT EXISTS
        (SELECT 1 FROM episode o WHERE o.media_key = e.media_key AND o.id NOT BETWEEN ?1 AND ?2)
      """, EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { mediaKey($0.blob(0)) }
  }

  /// Where the episodes of a podcast are now that have this key.
  static func addresses(
    ofKey key: MediaKey, podcast id: Int64, in database: Database
  ) throws -> [WebAddress] {
    try database.all(
      "SELECT enclosure_url FROM episode WHERE media_key = ? AND id BETWEEN ? AND ?", blob(key),
      EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { WebAddress($0.string(0)) }
  }

  /// An episode's title and notes, as they are in the full-text index where that has them.
  static func text(_ id: Int64, in database: Database) throws -> (title: String, notes: String?)? {
    try database.first(
      "SELECT e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?", id
    ) { (title: $0.string(0), notes: $0.stringIfPresent(1)) }
  }
}
