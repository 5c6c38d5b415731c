package import PodcastModel
package import SQLiteKit

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

/// An episode as directories show it: the rest of it is empty.
struct ListedEpisode: RowCoded {
  var episode = Episode()

  mutating func code(_ row: inout RowCoder) { episode.codeListed(&row) }
}

extension Episode: RowCoded {
  fileprivate mutating func codeListed(_ row: inout RowCoder) {
    row.code("e.id", &id)
    row.code("e.podcast_id", &podcastID)
    row.code("e.media_key", &mediaKey)
    row.code("e.stem", &stem)
    row.code("e.extension", &fileExtension)
    row.code("e.published", &published)
    row.code("e.modified", &modified)
    row.code("e.media_type", &mediaType)
    row.code("e.feed_length", &feedLength)
    row.code("e.duration", &duration)
    row.code("e.season", &season)
    row.code("e.notes_length", &notesLength)
    row.code("e.transcripts", packed: &transcripts)
    row.code("e.chapters_url", &chaptersURL)
    row.read("e.hidden", &hidden)
    var (position, isPlayed) = (listening.position, listening.isPlayed)
    row.read("e.position", &position)
    row.read("e.played", &isPlayed)
    listening = ListeningState(position: position, isPlayed: isPlayed, lastPlayed: nil, changed: nil)
  }

  /// All but its notes and chapters. Marks are saved by `EpisodeMarks`.
  package mutating func code(_ row: inout RowCoder) {
    codeListed(&row)
    row.code("e.title", &title)
    row.code("e.enclosure_url", &enclosureURL)
    row.code("e.guid", &guid)
    row.code("e.is_dated", &isDated)
    row.code("e.number", &episode)
    row.code("e.explicit", &explicit)
    row.code("e.link", &link)
    row.code("e.image_url", &imageURL)
    row.code("e.is_replaced", &isReplaced)
    var (lastPlayed, changed): (Int64?, Int64?)
    row.read("e.last_played", &lastPlayed)
    row.read("e.listening_changed", &changed)
    listening = ListeningState(
      position: listening.position, isPlayed: listening.isPlayed, lastPlayed: lastPlayed, changed: changed)
  }
}

@dynamicMemberLookup
struct EpisodeRecord: RowCoded, Sendable {
  var episode = Episode()
  /// `itunes:episodeType`
  var type: String?
  /// `podcast:person`
  var people: [String] = []
  /// Of what the feed said.
  var fingerprint: Int64 = 0
  /// `RuleMark`
  private(set) var ruled = 0

  subscript<Value>(dynamicMember fact: WritableKeyPath<Episode, Value>) -> Value {
    get { episode[keyPath: fact] }
    set { episode[keyPath: fact] = newValue }
  }

  mutating func code(_ row: inout RowCoder) {
    episode.code(&row)
    row.code("e.type", &type)
    row.code("e.people", lines: &people)
    row.code("e.fingerprint", &fingerprint)
    row.read("e.ruled", &ruled)
  }
}

/// Queries for episodes, which give them without their notes.
enum EpisodeRows {
  /// All of a podcast, also hidden ones, in the order in which they were first seen.
  /// - Parameter make: what becomes of each: a large podcast's need not be in memory together.
  static func all<Row: RowCoded, Made>(
    ofPodcast id: Int64, in database: Database, as make: (Row) -> Made
  ) throws -> [Made] {
    try database.all(
      "SELECT \(Row.columns) FROM episode e WHERE e.id BETWEEN ? AND ? ORDER BY e.id",
      EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { make(Row($0)) }
  }

  static func all<Made: RowCoded>(ofPodcast id: Int64, in database: Database) throws -> [Made] {
    try all(ofPodcast: id, in: database) { $0 }
  }

  static func check(_ id: Int64, in database: Database) throws {
    _ = try existing("episode", database.number("SELECT 1 FROM episode WHERE id = ?", id))
  }

  static func episodes(_ ids: [Int64], in database: Database) throws -> [Episode] {
    try database.all(
      "SELECT \(Episode.columns) FROM episode e WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id",
      list(ids)
    ) { Episode($0) }
  }

  /// Numbers as a value for `json_each`.
  static func list(_ ids: some Collection<Int64>) -> String {
    "[" + ids.map { String($0) }.joined(separator: ",") + "]"
  }

  static func entries(forKeys keys: [MediaKey], in database: Database) throws -> [EpisodeEntry] {
    let podcast = Episode.columnCount
    return try keys.compactMap { key in
      try database.first(
        """
        SELECT \(Episode.columns), \(Podcast.columns)
        FROM episode e JOIN \(Podcast.source) AND p.id = e.podcast_id
          LEFT JOIN subscription s ON s.podcast_id = p.id
        WHERE e.media_key = ? ORDER BY s.id IS NULL, e.id LIMIT 1
        """, key
      ) { EpisodeEntry(episode: Episode($0), podcast: Podcast($0, from: podcast)) }
    }
  }

  static func mediaKeys(ofPodcast id: Int64, in database: Database) throws -> [MediaKey] {
    try database.all(
      """
      SELECT DISTINCT media_key FROM episode e WHERE id BETWEEN ?1 AND ?2 AND NOT EXISTS
        (SELECT 1 FROM episode o WHERE o.media_key = e.media_key AND o.id NOT BETWEEN ?1 AND ?2)
      """, EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id)
    ) { MediaKey(at: 0, of: $0) }
  }
}

/// What a podcast's row says of the identifiers of its episodes.
struct EpisodeNumbers: Equatable {
  /// Changes with every change of the episodes.
  var revision: Int64
  var next: Int64
  /// Up to which they are in the full-text index.
  var indexed: Int64

  init?(podcast: Int64, in database: Database) throws {
    let numbers = try database.first(
      "SELECT revision, next_episode, indexed_upto FROM podcast WHERE id = ?", podcast
    ) { ($0.int64(0), $0.int64(1), $0.int64(2)) }
    guard let numbers else { return nil }
    // A damaged file says anything.
    revision = min(max(numbers.0, 0), 1 << 60)
    next = min(max(numbers.1, 1), EpisodeID.last + 1)
    indexed = min(max(numbers.2, 0), EpisodeID.last)
  }

  /// The date of the newest episode of podcast ?1 that is not hidden.
  static let newest =
    "(SELECT max(published) FROM episode INDEXED BY episode_by_date WHERE podcast_id = ?1 AND hidden = 0)"

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
  static func add(_ episodes: [EpisodeRecord], in database: Database) throws {
    for episode in episodes.lazy.filter({ !$0.people.isEmpty }) {
      for word in Set(episode.people.flatMap(WordMatch.words)) {
        try database.run("INSERT OR IGNORE INTO person (word, episode_id) VALUES (?, ?)", word, episode.id)
      }
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
    func matching(_ rows: String, _ values: any Bindable...) throws -> [Int64] {
      try database.all(rows, values: values) { (id: $0.int64(0), people: $0.string(1)) }
        .filter { $0.people.split(separator: "\n").contains { WordMatch.contains(name, in: String($0)) } }
        .map(\.id)
    }
    return (
      try matching(
        "SELECT e.id, e.people FROM person p JOIN episode e ON e.id = p.episode_id WHERE p.word = ?", word),
      try matching("SELECT id, coalesce(people, author) FROM podcast WHERE is_forgotten = 0")
    )
  }
}
