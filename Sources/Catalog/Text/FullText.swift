internal import SQLiteKit

/// The full-text index over podcasts and episodes (https://sqlite.org/fts5.html, contentless tables).
enum FullText {
  /// Puts a podcast into the index, or anew after a change: call `removePodcast` before the change.
  static func indexPodcast(_ id: Int64, in database: Database) throws {
    guard let texts = try podcast(id, in: database) else { return }
    try database.run(
      "INSERT INTO podcast_text (rowid, title, author, rest) VALUES (?, ?, ?, ?)", values: [id] + texts)
  }

  /// Takes a podcast out of the index, by its row as it was when it was put in.
  static func removePodcast(_ id: Int64, in database: Database) throws {
    guard try database.exists("SELECT 1 FROM podcast_text_docsize WHERE id = ?", id),
      let texts = try podcast(id, in: database)
    else { return }
    try database.run(
      """
      INSERT INTO podcast_text (podcast_text, rowid, title, author, rest) VALUES ('delete', ?, ?, ?, ?)
      """, values: [id] + texts)
  }

  /// Has words that were taken out leave the file: until then the index only notes that they are gone. It costs as much
  /// as the index is large, and is done in pieces (`mergePages`).
  /// - Returns: whether the index is empty now, and to be filled anew.
  static func beginMerging(in database: Database) throws -> Bool {
    if try tables.contains(where: { try levels(of: $0, in: database) > mostLevels }) {
      try beginAnew(in: database)
      return true
    }
    try database.run(
      """
      UPDATE counter SET pages_to_merge = 2 * \(pagesAtOnce)
        + (SELECT count(*) FROM episode_text_data) + (SELECT count(*) FROM podcast_text_data)
      """)
    // Less than zero: all of it becomes one, however little each part has
    // (https://sqlite.org/fts5.html#the_merge_command).
    try merge(-pagesAtOnce, in: database)
    return false
  }

  /// Puts some more pages of the index together.
  static func mergePages(in database: Database) throws { try merge(pagesAtOnce, in: database) }

  private static func merge(_ pages: Int64, in database: Database) throws {
    var isMoved = false
    for table in tables {
      let before = try totalChanges(in: database)
      try database.run("INSERT INTO \(table) (\(table), rank) VALUES ('merge', ?)", pages)
      // Fewer than two changes: there was nothing to do.
      if try totalChanges(in: database) - before >= 2 { isMoved = true }
    }
    // What comes meanwhile makes further parts: they are not run after.
    try database.run(
      "UPDATE counter SET pages_to_merge = CASE WHEN ? THEN max(pages_to_merge - ?, 0) ELSE 0 END", isMoved,
      pagesAtOnce)
  }

  private static let tables = ["podcast_text", "episode_text"]
  /// Some tens of milliseconds.
  private static let pagesAtOnce: Int64 = 200

  /// Levels of an index from which on it is begun anew. Each time that all of it becomes one it gets one or two more, and
  /// loses none; one with more than 2,000 can't be read (SQLite 3.40).
  private static let mostLevels = 1000

  /// The first number of the index's structure record (fts5_index.c), behind its cookie.
  private static func levels(of table: String, in database: Database) throws -> Int {
    let record = try database.first("SELECT block FROM \(table)_data WHERE id = 10") { $0.blob(0) } ?? []
    var levels = 0
    for byte in record.dropFirst(4).prefix(3) {
      levels = levels << 7 | Int(byte & 0x7f)
      if byte < 0x80 { break }
    }
    return levels
  }

  /// All that is known is to be put into it again (`TextIndexer`).
  private static func beginAnew(in database: Database) throws {
    for table in tables { try database.run("INSERT INTO \(table) (\(table)) VALUES ('delete-all')") }
    try database.run(
      """
      UPDATE counter SET pages_to_merge = 0, podcasts_unindexed = coalesce((SELECT max(id) FROM podcast), 0)
      """)
    // What is being prepared for the old one is made anew.
    try database.run("UPDATE podcast SET indexed_upto = 0, revision = revision + 1")
  }

  private static func totalChanges(in database: Database) throws -> Int64 {
    try database.first("SELECT total_changes()") { $0.int64(0) } ?? 0
  }

  static func indexEpisode(_ id: Int64, _ text: IndexedText, in database: Database) throws {
    try database.run(
      "INSERT INTO episode_text (rowid, title, notes) VALUES (?, ?, ?)", id, text.title, text.notes)
  }

  /// - Parameter text: as it was when it was put in.
  static func removeEpisode(_ id: Int64, _ text: IndexedText, in database: Database) throws {
    try database.run(
      "INSERT INTO episode_text (episode_text, rowid, title, notes) VALUES ('delete', ?, ?, ?)", id,
      text.title, text.notes)
  }

  private static func podcast(_ id: Int64, in database: Database) throws -> [any Bindable]? {
    try database.first(
      "SELECT title, author, description, categories FROM podcast WHERE id = ?", id
    ) { row in
      [
        SearchText.indexed(row.string(0)), SearchText.indexed(row.string(1)),
        SearchText.indexed(row.string(2) + "\n" + row.string(3)),
      ]
    }
  }
}
