internal import PodcastModel
internal import SQLiteKit

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
