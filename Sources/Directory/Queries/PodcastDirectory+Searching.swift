package import PodcastModel
internal import SQLiteKit

extension PodcastDirectory {
  /// Matches that are looked at for each that is wanted: those that name the words in their titles go first.
  private static let candidates = 3
  /// Words of the index that a beginning stands for. One of more words is looked up as such, which takes longer.
  private static let mostWords = 2000

  /// Podcasts whose title and author have all words of a query, each perhaps the beginning of one: the best of those that
  /// are called so, then those whose title begins so, then the others, all by rank.
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

  /// What of a full-text query stands for words with one beginning: of a short one the index has a list, of a long one its
  /// words are looked up, which is faster than to merge all that begin so (https://sqlite.org/fts5.html#fts5_prefix_queries).
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
