package import PodcastModel
internal import SQLiteKit

extension PodcastDirectory {
  /// How many matches are read for each podcast that is wanted: the best titles of them are taken.
  private static let candidates = 3
  /// The most words of the index that take the place of a beginning. Where more words begin so, the index is asked for the
  /// beginning itself, which takes longer.
  private static let mostWords = 2000

  /// Finds podcasts whose title and author have all words of a query. A word of the query may be the beginning of one of
  /// theirs. Podcasts whose title is the query come first, then those whose title begins with it, then the others. Within
  /// these the order is by rank.
  /// - Parameter limit: the most that are wanted.
  package func search(_ query: SearchQuery, limit: Int) throws(DirectoryError) -> [DirectoryEntry] {
    let parts = SearchText.episodeWords(query.terms)
    if parts.isEmpty { return [] }
    let found = try self.query { database in
      guard var text = try Self.match(parts, in: database) else { return [DirectoryEntry]() }
      if let language = query.language {
        text += " AND \"\(DirectorySchema.languageMark)\(language.prefix { $0 != "-" })\""
      }
      return try database.all(
        """
        SELECT \(Self.columns) FROM podcast_text t JOIN podcast p ON p.id = t.rowid
        WHERE podcast_text MATCH ? ORDER BY t.rowid LIMIT ?
        """, text, limit * Self.candidates, as: { DirectoryEntry($0) })
    }
    let language = query.language ?? ""
    let wanted = found.filter { $0.language?.hasPrefix(language) ?? language.isEmpty }
    let order = TitleOrder(query.terms)
    let places = wanted.map { order.place($0.title) }
    let sorted = wanted.indices.sorted { (places[$0], wanted[$0].rank) < (places[$1], wanted[$1].rank) }
    return sorted.prefix(limit).map { wanted[$0] }
  }

  /// The full-text query for the words; nil where the index has none that begins with one of them.
  private static func match(_ parts: [String], in database: Database) throws -> String? {
    var clauses: [String] = []
    for word in parts {
      let choices = try begun(word, in: database)
      if choices.isEmpty { return nil }
      clauses.append("(\(choices.joined(separator: " OR ")))")
    }
    return clauses.joined(separator: " AND ")
  }

  /// The terms of a full-text query that find the words with one beginning. For a short beginning the index has a list. A
  /// long one is replaced by the words that begin so, which is faster than to let the index merge their lists (https://sqlite.org/fts5.html#fts5_prefix_queries).
  private static func begun(_ word: String, in database: Database) throws -> [String] {
    let beginning = "\"\(word)\" *"
    guard word.count > SearchText.indexedBeginnings else { return [beginning] }
    let first = word.withoutAnyMarks.lowercased()
    let words = try database.all(
      "SELECT word FROM known_word WHERE word >= ? AND word < ? LIMIT ?", first, first + "\u{10FFFF}",
      mostWords + 1
    ) { $0.string(0) }
    return words.count > mostWords ? [beginning] : words.map { "\"\($0)\"" }
  }
}

/// How well titles fit the words of a query.
private struct TitleOrder {
  private let words: String

  init(_ terms: String) { words = Self.folded(terms) }

  /// 0 for a title that is the words, 1 for one that begins with them, 2 for one that has them, 3 for any other.
  func place(_ title: String) -> Int {
    let title = Self.folded(title)
    if title == words { return 0 }
    if title.hasPrefix(words) { return 1 }
    return words.split(separator: " ").allSatisfy { title.hasPrefix($0) || title.contains(" " + $0) } ? 2 : 3
  }

  /// The words alone, in small letters of English, with single blanks.
  private static func folded(_ text: String) -> String {
    SearchText.indexed(text).withoutAnyMarks.lowercased()
      .split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
  }
}
