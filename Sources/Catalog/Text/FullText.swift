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
