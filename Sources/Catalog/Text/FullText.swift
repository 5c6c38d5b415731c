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

  /// Empties the index, so that words that were taken out leave the file. All that is known is to be put into it
  /// again (`TextIndexer`).
  static func reset(in database: Database) throws {
    for table in ["podcast_text", "episode_text"] {
      try database.run("INSERT INTO \(table) (\(table)) VALUES ('delete-all')")
    }
    try database.run("UPDATE counter SET podcasts_unindexed = coalesce((SELECT max(id) FROM podcast), 0)")
    // What is being prepared for the old one is made anew.
    try database.run("UPDATE podcast SET indexed_upto = 0, revision = revision + 1")
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
