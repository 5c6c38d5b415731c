internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// The full-text index over podcasts and episodes (https://sqlite.org/fts5.html, contentless tables): its rows; within a
/// transaction.
enum FullText {
  /// Puts a podcast into the index by its row, or takes it out before that changes.
  static func podcast(_ id: Int64, removing: Bool = false, in database: Database) throws {
    let texts = try database.first(
      "SELECT title, author, description, categories FROM podcast WHERE id = ?", id
    ) { row in [row.string(0), row.string(1), row.string(2) + "\n" + row.string(3)].map(SearchText.indexed) }
    guard let texts else { return }
    try database.run(
      statement("podcast_text", removing, "rowid, title, author, rest", "?, ?, ?, ?"), values: [id] + texts)
  }

  /// - Parameter texts: of episodes, as the index has them (`EpisodeText.indexed`).
  static func episodes(_ texts: [EpisodeText], removing: Bool = false, in database: Database) throws {
    let statement = statement("episode_text", removing, "rowid, title, notes", "?, ?, ?")
    for text in texts { try database.run(statement, text.id, text.title, text.notes) }
  }

  private static func statement(_ table: String, _ isRemoval: Bool, _ columns: String, _ marks: String)
    -> String
  {
    isRemoval
      ? "INSERT INTO \(table) (\(table), \(columns)) VALUES ('delete', \(marks))"
      : "INSERT INTO \(table) (\(columns)) VALUES (\(marks))"
  }

  static func texts(_ ids: [Int64], in database: Database) throws -> [EpisodeText] {
    try database.all(
      """
      SELECT e.id, e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
      WHERE e.id IN (SELECT value FROM json_each(?)) ORDER BY e.id
      """, EpisodeRows.list(ids)
    ) { EpisodeText(id: $0.int64(0), title: $0.string(1), notes: $0.stringIfPresent(2)) }
  }

  /// Empties both indexes, whatever they hold, so that no word is left in the file. That of podcasts is filled at once, that
  /// of episodes behind (`TextIndex`).
  static func makeAnew(in database: Database) throws {
    for table in ["podcast_text", "episode_text"] {
      // What an empty index has (fts5_index.c): FTS5 opens none whose own rows are damaged.
      try database.run("DELETE FROM \(table)_data")
      try database.run("INSERT INTO \(table)_data VALUES (1, x''), (10, zeroblob(7))")
      try database.run("INSERT INTO \(table) (\(table)) VALUES ('delete-all')")
    }
    for id in try database.numbers("SELECT id FROM podcast WHERE is_forgotten = 0") {
      try podcast(id, in: database)
    }
    // What is being prepared for the old one is made anew.
    try database.run("UPDATE podcast SET indexed_upto = 0, revision = revision + 1")
  }

  /// Whether a page of FTS5's own tables is damaged. Reads all of their pages.
  static func hasDamagedPages(in database: Database) throws -> Bool {
    let tables = try database.all(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND \(isOfIndex)"
    ) { $0.string(0) }
    return try tables.contains { table in
      do {
        return try database.first("PRAGMA quick_check(\(table))") { $0.string(0) } != "ok"
      } catch let error as DatabaseError where error.isDamaged {
        return true
      }
    }
  }

  /// Takes the tables of both indexes out of the schema, and makes new ones. SQLite drops no table whose pages are damaged:
  /// those stay in the file, and nobody reads them again.
  static func replaceTables(in database: Database) throws {
    try database.script(
      """
      PRAGMA writable_schema = 1;
      DELETE FROM sqlite_schema WHERE \(isOfIndex);
      PRAGMA writable_schema = RESET;
      \(Schema.indexes)
      """)
  }

  private static let isOfIndex =
    "(tbl_name GLOB 'podcast_text*' OR tbl_name GLOB 'episode_text*' OR tbl_name = 'episode_word')"

  /// Has the index of episodes give back the room of what was taken out of it, in pieces that no verb waits for long
  /// (https://sqlite.org/fts5.html#the_merge_command).
  static func merge(_ store: CatalogStore) throws(CatalogError) {
    var pages = -mergedPages
    var isDone = false
    while !isDone {
      isDone = try store.write(.refresh, waitsForDisk: false) { database in
        let before = database.totalChanges
        try database.run("INSERT INTO episode_text (episode_text, rank) VALUES ('merge', ?)", pages)
        return database.totalChanges - before < 2
      }
      pages = mergedPages
    }
  }

  /// Pages of one transaction: one mebibyte.
  private static let mergedPages = 256
}

struct EpisodeText: Sendable, Equatable {
  var id: Int64
  var title: String
  var notes: String?

  /// As the index has it. Costs much more than writing it.
  var indexed: EpisodeText {
    EpisodeText(id: id, title: SearchText.indexed(title), notes: notes.map(SearchText.indexed))
  }

  /// SQLite removes a text from the index only when it gets the very same bytes.
  static func == (one: EpisodeText, other: EpisodeText) -> Bool {
    one.id == other.id && one.title.utf8.elementsEqual(other.title.utf8)
      && (one.notes ?? "").utf8.elementsEqual((other.notes ?? "").utf8)
  }
}

/// Fills the full-text index behind what brings texts, in a process that lives long; and searches it for `source:local`.
///
/// Of each podcast the index has the episodes up to number `indexed_upto`: where filling was interrupted, it goes on from
/// there.
final class TextIndex: Sendable {
  private enum State {
    /// A mount fills it, or the next search does: a command's.
    case elsewhere
    case idle
    /// It will be filled in a moment.
    case queued
    case stopped
  }

  let store: CatalogStore
  /// Its thread gets a third of the processor time of others: users read a new folder while its words are indexed.
  private let queue = WorkQueue(name: "catalog-texts", courtesy: FeedRefresher.courtesy)
  private let state = Monitor(State.elsewhere)

  /// Seconds after the first feed has come: the program that opened its folder lists it first.
  private static let delay = 0.5
  /// Episodes, and bytes of their notes, of one transaction: no verb waits for it long.
  private static let pieceEpisodes = 500
  private static let pieceBytes = 1 << 20
  /// Pieces that a search waits for.
  private static let fewPieces = 4

  init(store: CatalogStore) { self.store = store }

  func fillHere() {
    state.withLock { if $0 == .elsewhere { $0 = .idle } }
    fill()
  }

  func stop() {
    state.withLock { $0 = .stopped }
    queue.stop()
  }

  /// Puts what has no place in it yet into it, behind and once at a time, if this process does that.
  func fill() {
    let isFirst = state.withLock { state in
      defer { if state == .idle { state = .queued } }
      return state == .idle
    }
    guard isFirst else { return }
    queue.async(after: Self.delay) { [self] in
      state.withLock { if $0 == .queued { $0 = .idle } }
      // Where the file can't be written, the next refresh tries again.
      try? fillNow()
    }
  }

  /// After it was emptied: at once in a command, which nobody waits for.
  func refill() { if state.withLock({ $0 == .elsewhere }) { try? fillNow() } else { fill() } }

  /// Puts what is missing into it: before each search, so that the same words find the same. A search in a process that fills
  /// it behind does not wait for very much, as after `forget`: the folders of searches follow it.
  func fillForSearch() throws(CatalogError) {
    try fillNow(pieces: state.withLock { $0 == .elsewhere } ? .max : Self.fewPieces)
  }

  func fillNow(pieces most: Int = .max) throws(CatalogError) {
    var pieces = 0
    while pieces < most, let podcast = try next() {
      if state.withLock({ $0 == .stopped }) { return }
      try indexPiece(of: podcast)
      pieces += 1
    }
    if pieces > 0 { try store.change(.refresh, waitsForDisk: false) { _, changes in changes.append(.texts) } }
  }

  private func next() throws(CatalogError) -> Int64? {
    try store.read { database in
      try database.number(
        """
        SELECT id FROM podcast INDEXED BY podcast_unindexed
        WHERE indexed_upto < next_episode - 1 AND is_forgotten = 0 LIMIT 1
        """)
    }
  }

  private func indexPiece(of podcast: Int64) throws(CatalogError) {
    let piece = try store.read { database -> (numbers: EpisodeNumbers, texts: [EpisodeText])? in
      guard let numbers = try EpisodeNumbers(podcast: podcast, in: database) else { return nil }
      let ids = try database.numbers(
        """
        SELECT id FROM (SELECT id, notes_length, sum(notes_length) OVER (ORDER BY id) AS bytes FROM
          (SELECT id, notes_length FROM episode WHERE id > ? AND id <= ? ORDER BY id LIMIT ?))
        WHERE bytes - notes_length < ? ORDER BY id
        """, EpisodeID.first(ofPodcast: podcast) + numbers.indexed, EpisodeID.last(ofPodcast: podcast),
        Self.pieceEpisodes, Self.pieceBytes)
      // Made before a transaction begins.
      return (numbers, try FullText.texts(ids, in: database).map(\.indexed))
    }
    guard let piece else { return }
    let last = piece.texts.last.map { $0.id & EpisodeID.last } ?? piece.numbers.next - 1
    try store.write(.refresh) { database in
      // Where the episodes have changed meanwhile, or another process has put them in, the piece is made anew.
      guard try EpisodeNumbers(podcast: podcast, in: database) == piece.numbers else { return }
      try FullText.episodes(piece.texts, in: database)
      try database.run("UPDATE podcast SET indexed_upto = ? WHERE id = ?", last, podcast)
    }
  }
}

extension Catalog {
  /// Puts all that is known into the full-text index: for measuring.
  package func fillTexts() throws(CatalogError) { try texts.fillNow() }
}

// `source:local`: what the catalogue itself knows. The same words give the same answer, however busy the machine is:
// what bounds the work are counts.
extension TextIndex {
  /// Of beginnings of words up to so many characters the index of episodes knows at once where they are.
  private static let indexedBeginnings = 4
  /// Words of the index that a long beginning stands for.
  private static let mostForms = 200

  /// Podcasts whose own texts match, those with the words in their titles first. Empty where the index can't be read.
  func answer(_ query: SearchQuery, limit: Int) -> SearchAnswer {
    let found = try? store.read { database in
      try Self.localMatches(query, limit: limit, in: database)
        .compactMap { try PodcastRecord.load($0, in: database).map { FoundPodcast(podcast: $0.podcast) } }
    }
    return SearchAnswer(source: "local", found: found ?? [])
  }

  private static func localMatches(_ query: SearchQuery, limit: Int, in database: Database) throws -> [Int64]
  {
    guard let words = SearchText.query(query.terms),
      let first = SearchText.query(query.terms, isAtStart: true)
    else { return [] }
    var ids: [Int64] = []
    for own in ["title : (\(first))", "title : (\(words))", "author : (\(words))", words]
    where ids.count < limit {
      let found = try database.numbers(
        """
        SELECT p.id FROM podcast_text t JOIN podcast p ON p.id = t.rowid
        WHERE podcast_text MATCH ? AND p.is_forgotten = 0 AND coalesce(p.language, '') LIKE ?
        ORDER BY t.rowid LIMIT ?
        """, own, query.language.map { "\($0)%" } ?? "%", limit)
      ids += found.filter { !ids.contains($0) }
    }
    return Array(ids.prefix(limit))
  }

  /// A query for the episodes that have all words of `terms`, each perhaps the beginning of one; nil where there is no word.
  ///
  /// FTS5 reads all that begins with a long word before it gives the first: the index's own words stand for it, where they
  /// are not too many.
  static func everyWord(_ terms: String, in database: Database) throws -> String? {
    let words = SearchText.episodeWords(terms)
    let all = try words.map { word in
      let forms = try wordsOfIndex(beginningWith: word, in: database)
      if !(1...mostForms).contains(forms.count) { return "\"\(word)\" *" }
      let any = forms.map { $0.count <= indexedBeginnings ? "\"\($0)\" *" : "\"\($0)\"" }
      return "(\(any.joined(separator: " OR ")))"
    }
    return all.isEmpty ? nil : all.joined(separator: " AND ")
  }

  /// The words of the index of episodes that begin with one that is too long for its table of beginnings.
  private static func wordsOfIndex(beginningWith word: String, in database: Database) throws -> [String] {
    guard word.count > indexedBeginnings else { return [word] }
    let first = word.withoutAnyMarks.lowercased()
    return try database.all(
      "SELECT term FROM episode_word WHERE term >= ? AND term < ? ORDER BY term LIMIT ?", first,
      first + "\u{10FFFF}", mostForms + 1
    ) { $0.string(0) }
  }
}
