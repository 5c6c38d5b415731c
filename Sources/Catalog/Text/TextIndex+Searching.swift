internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// `source:local`: what the catalogue itself knows. The same words give the same answer, however busy the machine is:
// what bounds the work are counts.
extension TextIndex {
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
      return (1...mostForms).contains(forms.count) ? SearchText.episodeQuery(forms) : "\"\(word)\" *"
    }
    return all.isEmpty ? nil : all.joined(separator: " AND ")
  }

  /// The words of the index of episodes that begin with one that is too long for its table of beginnings.
  private static func wordsOfIndex(
    beginningWith word: String, in database: Database
  ) throws -> [String] {
    guard word.count > SearchText.indexedBeginnings else { return [word] }
    let first = word.withoutAnyMarks.lowercased()
    return try database.all(
      "SELECT term FROM episode_word WHERE term >= ? AND term < ? ORDER BY term LIMIT ?", first,
      first + "\u{10FFFF}", mostForms + 1
    ) { $0.string(0) }
  }
}
