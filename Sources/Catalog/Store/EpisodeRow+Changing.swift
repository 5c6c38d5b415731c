internal import SQLiteKit

// How episodes come into the catalogue and change; within a transaction.
extension EpisodeRow {
  /// What else than its audio directories list of an episode.
  struct Sidecars: Hashable {
    var hasTranscripts: Bool
    var hasChapters: Bool
    var hasImage: Bool
  }

  /// What a change of an episode is compared with.
  struct Description {
    var title: String
    var notes: String?
    var sidecars: Sidecars
  }

  static func described(_ id: Int64, in database: Database) throws -> Description? {
    try database.first(
      """
      SELECT e.title, n.text, e.transcripts IS NOT NULL, e.chapters_url IS NOT NULL, e.image_url IS NOT NULL
      FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?
      """, id
    ) {
      Description(
        title: $0.string(0), notes: $0.stringIfPresent(1),
        sidecars: Sidecars(hasTranscripts: $0.bool(2), hasChapters: $0.bool(3), hasImage: $0.bool(4)))
    }
  }

  /// Adds episodes, as far as the podcast has numbers for them.
  /// - Parameters:
  ///   - next: the podcast's next number.
  ///   - values: gives one of them its values, by `columns`.
  /// - Returns: their numbers.
  static func add(
    _ count: Int, columns: [String], to podcast: Int64, from next: Int64, in database: Database,
    _ values: (Int, inout RowValues) -> Void
  ) throws -> [Int64] {
    var ids: [Int64] = []
    ids.reserveCapacity(count)
    for number in 0..<Int64(count) {
      guard let id = EpisodeID.make(podcast: podcast, number: next + number) else { break }
      ids.append(id)
    }
    try database.run(Database.insertion(into: "episode", ["id"] + columns), rows: ids.count) {
      [ids] place, row in
      row.add(ids[place])
      values(place, &row)
    }
    return ids
  }

  /// Its address is its own again.
  /// - Parameter values: gives it its values, by `columns`.
  static func change(
    _ id: Int64, _ columns: [String], in database: Database, _ values: (inout RowValues) -> Void
  ) throws {
    try database.run(Database.change(of: "episode", columns + ["is_replaced"]), rows: 1) { _, row in
      values(&row)
      row.add(false)
      row.add(id)
    }
  }

  /// Its address is another episode's by now.
  static func markReplaced(_ id: Int64, in database: Database) throws {
    try database.run("UPDATE episode SET is_replaced = 1 WHERE id = ?", id)
  }

  static func addNotes(
    _ notes: [(id: Int64, text: String)], in database: Database
  ) throws {
    try database.run("INSERT INTO notes (episode_id, text) VALUES (?, ?)", rows: notes.count) { place, row in
      row.add(notes[place].id)
      row.add(notes[place].text)
    }
  }

  static func removeNotes(of id: Int64, in database: Database) throws {
    try database.run("DELETE FROM notes WHERE episode_id = ?", id)
  }
}
