internal import PodcastModel
internal import SQLiteKit

/// How episodes are numbered: the podcast's number, then 20 bits for its episodes in the order in which they
/// were first seen. So a podcast's episodes lie side by side in the table, whenever each was added, and no
/// number is ever given twice.
package enum EpisodeID {
  static let bits: Int64 = 20
  /// The number of the last episode that a podcast can have.
  static let last: Int64 = 1 << bits - 1

  static func first(ofPodcast podcast: Int64) -> Int64 { podcast << bits }

  static func last(ofPodcast podcast: Int64) -> Int64 { podcast << bits | last }

  package static func podcast(of episode: Int64) -> Int64 { episode >> bits }
}

enum EpisodeRow {
  enum Column: Int, ColumnList {
    // What directories show of it.
    case id, podcastID, mediaKey, stem, `extension`, modified, mediaType, feedLength, duration, notesLength,
      transcripts, chaptersURL, hidden, played, published, season, position
    case title, enclosureURL, guid, isDated, number, explicit, link, imageURL, lastPlayed, listeningChanged,
      isReplaced
  }

  /// For a `FROM episode e`.
  static let columns = Column.list(of: "e")
  static let count = Column.count

  /// The first columns: all that directories show of an episode.
  static let listedColumns = Column.allCases[...Column.position.rawValue].map { "e.\($0.name)" }
    .joined(separator: ", ")

  /// - Parameter first: the column where `columns` begin.
  static func read(_ row: borrowing Row, from first: Int = 0) -> Episode {
    var episode = readListed(row, from: first)
    episode.title = TitleText.plain(row.string(Column.title, from: first))
    episode.enclosureURL = WebAddress(row.string(Column.enclosureURL, from: first))
    episode.guid = row.stringIfPresent(Column.guid, from: first)
    episode.isDated = row.bool(Column.isDated, from: first)
    episode.episode = row.intIfPresent(Column.number, from: first)
    episode.explicit = row.boolIfPresent(Column.explicit, from: first)
    episode.link = row.stringIfPresent(Column.link, from: first).map { WebAddress($0) }
    episode.imageURL = row.stringIfPresent(Column.imageURL, from: first).map { WebAddress($0) }
    episode.listening = ListeningState(
      position: row.int64(Column.position, from: first), isPlayed: row.bool(Column.played, from: first),
      lastPlayed: row.int64IfPresent(Column.lastPlayed, from: first),
      changed: row.int64IfPresent(Column.listeningChanged, from: first))
    episode.isReplaced = row.bool(Column.isReplaced, from: first)
    return episode
  }

  /// Reads `listedColumns`: the rest of the episode is empty.
  static func readListed(_ row: borrowing Row, from first: Int = 0) -> Episode {
    var episode = Episode(
      id: row.int64(Column.id, from: first), podcastID: row.int64(Column.podcastID, from: first),
      mediaKey: mediaKey(row.blob(Column.mediaKey, from: first)), stem: row.string(Column.stem, from: first),
      fileExtension: row.string(Column.extension, from: first), title: "",
      published: row.int64(Column.published, from: first), enclosureURL: "")
    episode.modified = row.int64(Column.modified, from: first)
    episode.mediaType = row.stringIfPresent(Column.mediaType, from: first)
    episode.feedLength = row.int64IfPresent(Column.feedLength, from: first)
    episode.duration = row.intIfPresent(Column.duration, from: first)
    episode.season = row.intIfPresent(Column.season, from: first)
    episode.notesLength = row.int(Column.notesLength, from: first)
    episode.transcripts = row.stringIfPresent(Column.transcripts, from: first).map(transcripts) ?? []
    episode.chaptersURL = row.stringIfPresent(Column.chaptersURL, from: first).map { WebAddress($0) }
    episode.hidden = row.bool(Column.hidden, from: first)
    episode.listening = ListeningState(
      position: row.int64(Column.position, from: first), isPlayed: row.bool(Column.played, from: first),
      lastPlayed: nil, changed: nil)
    return episode
  }

  /// A damaged file says anything: what cannot be a key becomes one that names nothing in the cache.
  static func mediaKey(_ blob: [UInt8]) -> MediaKey {
    MediaKey(bytes: blob) ?? MediaKey(address: WebAddress("damaged \(Hexadecimal.text(blob))"))
  }

  static func text(_ transcripts: [Transcript]) -> String? {
    if transcripts.isEmpty { return nil }
    return JSONValue.array(
      transcripts.map { [.string($0.url.forRequest), $0.type.json, $0.language.json] }
    ).compactText
  }

  private static func transcripts(_ text: String) -> [Transcript] {
    let list = (try? JSONValue(parsing: Array(text.utf8)))?.elements ?? []
    return list.compactMap { entry in
      let parts = entry.elements
      guard parts.count == 3, let url = parts[0].text else { return nil }
      return Transcript(url: WebAddress(url), type: parts[1].text, language: parts[2].text)
    }
  }
}

// Queries for episodes; all but the first give them without their notes.
extension EpisodeRow {
  /// Some of one podcast from a number on, by number, with their notes.
  static func episodes(from id: Int64, count: Int, in database: Database) throws -> [Episode] {
    try database.all(
      """
      SELECT \(columns), n.text, n.chapters FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
      WHERE e.id BETWEEN ? AND ? ORDER BY e.id LIMIT ?
      """, id, EpisodeID.last(ofPodcast: EpisodeID.podcast(of: id)), count
    ) { row in
      var episode = read(row)
      episode.notes = row.stringIfPresent(self.count)
      episode.chapters = row.stringIfPresent(self.count + 1)
      return episode
    }
  }

  /// All of a podcast, also hidden ones, in the order in which they were first seen.
  static func all<Made>(
    ofPodcast id: Int64, _ columns: String, in database: Database, as make: (borrowing Row) -> Made
  ) throws -> [Made] {
    try database.all(
      "SELECT \(columns) FROM episode e WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
      EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id), as: make)
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

  /// The newest of a podcast that are not hidden and were published after `time`, the newest first.
  static func newest(
    ofPodcast id: Int64, after time: Int64, limit: Int, in database: Database
  ) throws -> [Episode] {
    try database.all(
      """
      SELECT \(columns) FROM episode e INDEXED BY episode_by_date
      WHERE e.podcast_id = ? AND e.hidden = 0 AND e.published > ?
      ORDER BY e.published DESC LIMIT ?
      """, id, time, limit
    ) { read($0) }
  }

  /// When the newest of a podcast that have dates were published.
  static func times(ofPodcast id: Int64, limit: Int, in database: Database) throws -> [Int64] {
    try database.numbers(
      """
      SELECT published FROM episode INDEXED BY episode_by_date
      WHERE podcast_id = ? AND hidden = 0 AND is_dated = 1 ORDER BY published DESC LIMIT ?
      """, id, limit
    )
  }

  /// Of each key that is known the episode whose enclosure it names; where several share it, one of a subscription, else
  /// the one first seen.
  static func entries(forKeys keys: [MediaKey], in database: Database) throws -> [EpisodeEntry] {
    var seen: Set<MediaKey> = []
    var entries: [EpisodeEntry] = []
    for first in stride(from: 0, to: keys.count, by: keysAtOnce) {
      // The number of placeholders is the same each time, so that the statement is prepared once.
      let part = keys[first..<min(first + keysAtOnce, keys.count)].map(\.bytes)
      let padding = [any Bindable](repeating: Int?.none, count: keysAtOnce - part.count)
      entries += try database.all(
        """
        SELECT \(columns), \(PodcastRecord.shownColumns)
        FROM episode e JOIN shown p ON p.id = e.podcast_id LEFT JOIN subscription s ON s.podcast_id = p.id
        WHERE e.media_key IN (\(keyMarks)) ORDER BY s.id IS NULL, e.id
        """, values: part + padding
      ) { EpisodeEntry(episode: read($0), podcast: PodcastRecord.readPodcast($0, from: count)) }
      .filter { seen.insert($0.episode.mediaKey).inserted }
    }
    return entries
  }

  private static let keysAtOnce = 500
  private static let keyMarks = Array(repeating: "?", count: keysAtOnce).joined(separator: ",")

  /// The keys of a podcast's enclosures, but for those that another feed names too.
  static func mediaKeys(ofPodcast id: Int64, in database: Database) throws -> [MediaKey] {
    try database.all(
      """
      SELECT DISTINCT media_key FROM episode e WHERE id BETWEEN ?1 AND ?2 AND NOT EXISTS
        (SELECT 1 FROM episode o WHERE o.media_key = e.media_key AND o.id NOT BETWEEN ?1 AND ?2)
      """, EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { mediaKey($0.blob(0)) }
  }
}
