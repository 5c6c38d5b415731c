internal import FeedKit
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
    episode.transcripts = (try? [Transcript](decoding: row.blob(Column.transcripts, from: first)[...])) ?? []
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

  static func check(_ id: Int64, in database: Database) throws {
    _ = try existing("episode", database.number("SELECT 1 FROM episode WHERE id = ?", id))
  }

  static func episodes(_ ids: [Int64], in database: Database) throws -> [Episode] {
    try database.all(
      "SELECT \(columns) FROM episode e WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id",
      list(ids)
    ) { read($0) }
  }

  /// Numbers as a value for `json_each`.
  static func list(_ ids: [Int64]) -> String { "[" + ids.map { String($0) }.joined(separator: ",") + "]" }

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
    try keys.compactMap { key in
      try database.first(
        """
        SELECT \(columns), \(PodcastRecord.shownColumns)
        FROM episode e JOIN shown p ON p.id = e.podcast_id LEFT JOIN subscription s ON s.podcast_id = p.id
        WHERE e.media_key = ? ORDER BY s.id IS NULL, e.id LIMIT 1
        """, key.bytes
      ) { EpisodeEntry(episode: read($0), podcast: PodcastRecord.readPodcast($0, from: count)) }
    }
  }

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

/// What a podcast's row says of the identifiers of its episodes.
struct EpisodeNumbers: Equatable {
  /// Changes with every change of the episodes.
  var revision: Int64
  var next: Int64
  /// Up to which they are in the full-text index.
  var indexed: Int64

  /// The date of the newest episode of podcast ?1 that is not hidden.
  static let newest =
    "(SELECT max(published) FROM episode INDEXED BY episode_by_date WHERE podcast_id = ?1 AND hidden = 0)"
}

extension EpisodeNumbers {
  init?(podcast: Int64, in database: Database) throws {
    let numbers = try database.first(
      "SELECT revision, next_episode, indexed_upto FROM podcast WHERE id = ?", podcast
    ) {
      // A damaged file says anything.
      EpisodeNumbers(
        revision: min(max($0.int64(0), 0), 1 << 60), next: min(max($0.int64(1), 1), EpisodeID.last + 1),
        indexed: min(max($0.int64(2), 0), EpisodeID.last))
    }
    guard let numbers else { return nil }
    self = numbers
  }

  /// Within the transaction that has added so many; also where that are none and others have changed.
  static func added(_ count: Int, to podcast: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET revision = revision + 1, next_episode = next_episode + ?2,
        episode_count = episode_count + ?2, newest = \(newest)
      WHERE id = ?1
      """, podcast, count)
  }
}

/// Who takes part in an episode: the persons of its item, else those of its channel, else the author. Within a transaction.
enum PersonRows {
  /// A name a line; nil for none.
  static func text(_ people: [String]) -> String? {
    people.isEmpty ? nil : people.map { $0.replacing("\n", with: " ") }.joined(separator: "\n")
  }

  static func add(_ id: Int64, _ people: [String], in database: Database) throws {
    for word in Set(people.flatMap(WordMatch.words)) {
      try database.run("INSERT OR IGNORE INTO person (word, episode_id) VALUES (?, ?)", word, id)
    }
  }

  /// Removes an episode's people from the index. Call it before the episode's row changes: the index needs the old names.
  static func remove(_ id: Int64, in database: Database) throws {
    let people = try database.first("SELECT people FROM episode WHERE id = ? AND people NOT NULL", id) {
      $0.string(0)
    }
    for word in Set(people.map(WordMatch.words) ?? []) {
      try database.run("DELETE FROM person WHERE word = ? AND episode_id = ?", word, id)
    }
  }

  /// The episodes whose own persons have a name, and the podcasts whose episodes without any have it.
  static func find(_ name: String, in database: Database) throws -> (episodes: [Int64], podcasts: [Int64]) {
    // The longest word is the rarest.
    let word = WordMatch.words(name).max { $0.count < $1.count } ?? ""
    let episodes = try database.all(
      "SELECT e.id, e.people FROM person p JOIN episode e ON e.id = p.episode_id WHERE p.word = ?", word
    ) { (id: $0.int64(0), people: $0.string(1)) }
    let podcasts = try database.all("SELECT id, coalesce(people, author) FROM podcast WHERE is_forgotten = 0")
    {
      (id: $0.int64(0), people: $0.string(1))
    }
    return (
      episodes.filter { matches(name, $0.people) }.map(\.id),
      podcasts.filter { !$0.people.isEmpty && matches(name, $0.people) }.map(\.id)
    )
  }

  private static func matches(_ name: String, _ people: String) -> Bool {
    people.split(separator: "\n").contains { WordMatch.contains(name, in: String($0)) }
  }
}
