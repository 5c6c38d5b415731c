internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// `source:local`: what the catalogue itself knows. The same words give the same answer, however busy the machine is:
// what bounds the work are counts.
extension TextIndex {
  /// Podcasts of whose episodes some match that are compared, for each that is wanted.
  private static let candidates = 4
  /// Episodes of one podcast that are counted.
  private static let mostCounted = 100
  /// Words of the index that a long beginning stands for.
  private static let mostWords = 20
  /// The same where no podcast is looked for.
  private static let mostForms = 200

  /// Podcasts whose own texts match, those with the words in their titles first, then those of whose episodes most match.
  /// Empty where the index can't be read.
  func answer(_ query: SearchQuery, limit: Int) -> SearchAnswer {
    fillBriefly()
    let found = try? store.read { database in
      try Self.localMatches(query, limit: limit, in: database)
        .compactMap { try PodcastRecord.load($0, in: database).map { FoundPodcast(podcast: $0.podcast) } }
    }
    return SearchAnswer(source: "local", found: found ?? [])
  }

  private static func localMatches(_ query: SearchQuery, limit: Int, in database: Database) throws -> [Int64]
  {
    var matches = Matches(limit: limit, language: query.language.map { "\($0)%" } ?? "%")
    guard let words = SearchText.query(query.terms),
      let first = SearchText.query(query.terms, isAtStart: true)
    else { return [] }
    for own in ["title : (\(first))", "title : (\(words))", "author : (\(words))", words] {
      try matches.add(own, in: database)
    }
    let parts = SearchText.episodeWords(query.terms)
    if parts.isEmpty { return matches.ids }
    try matches.addByEpisodes(SearchText.episodeQuery(parts.map { [$0] }), in: database)
    // Where whole words find too little, long ones may be the beginnings of others.
    if matches.ids.count < limit {
      let begun = try parts.map { try wordsOfIndex(beginningWith: $0, in: database) }
      if begun != parts.map({ [$0] }), !begun.contains([]) {
        try matches.addByEpisodes(SearchText.episodeQuery(begun), in: database)
      }
    }
    return matches.ids
  }

  /// The words of the index of episodes that begin with one that is too long for its table of beginnings.
  private static func wordsOfIndex(
    beginningWith word: String, most: Int = mostWords, in database: Database
  ) throws -> [String] {
    guard word.count > SearchText.indexedBeginnings else { return [word] }
    let first = word.withoutAnyMarks.lowercased()
    return try database.all(
      "SELECT term FROM episode_word WHERE term >= ? AND term < ? ORDER BY term LIMIT ?", first,
      first + "\u{10FFFF}", most
    ) { $0.string(0) }
  }

  /// A query for the episodes that have all words of `terms`, each perhaps the beginning of one; nil where there is no word.
  ///
  /// FTS5 reads all that begins with a long word before it gives the first: the index's own words stand for it, where they
  /// are not too many.
  static func everyWord(_ terms: String, in database: Database) throws -> String? {
    let words = SearchText.episodeWords(terms)
    let all = try words.map { word in
      let forms = try wordsOfIndex(beginningWith: word, most: mostForms + 1, in: database)
      return (1...mostForms).contains(forms.count) ? SearchText.episodeQuery([forms]) : "\"\(word)\" *"
    }
    return all.isEmpty ? nil : all.joined(separator: " AND ")
  }

  /// Podcasts that match, the best first.
  private struct Matches {
    let limit: Int
    /// For LIKE.
    let language: String
    private(set) var ids: [Int64] = []
    private var seen: Set<Int64> = []

    init(limit: Int, language: String) {
      self.limit = limit
      self.language = language
    }

    /// Those whose own texts match, in the order in which they came into the catalogue.
    mutating func add(_ words: String, in database: Database) throws {
      if ids.count >= limit { return }
      let found = try database.numbers(
        """
        SELECT p.id FROM podcast_text t JOIN podcast p ON p.id = t.rowid
        WHERE podcast_text MATCH ? AND p.is_forgotten = 0 AND coalesce(p.language, '') LIKE ?
        ORDER BY t.rowid LIMIT ?
        """, words, language, limit
      )
      for id in found where ids.count < limit && seen.insert(id).inserted { ids.append(id) }
    }

    /// Those of whose episodes most match, of the first that came into the catalogue.
    mutating func addByEpisodes(_ words: String, in database: Database) throws {
      var counts: [(id: Int64, count: Int)] = []
      var next: Int64 = 0
      while counts.count < (limit - ids.count) * candidates {
        // From podcast to podcast: the index finds a number without those before it.
        let episode = try database.number(
          "SELECT rowid FROM episode_text WHERE episode_text MATCH ? AND rowid >= ? ORDER BY rowid LIMIT 1",
          words,
          EpisodeID.first(ofPodcast: next)
        )
        guard let id = episode.map(EpisodeID.podcast) else { break }
        next = id + 1
        if !seen.contains(id), try isShown(id, in: database) {
          counts.append((id, try count(words, of: id, in: database)))
        }
      }
      for (id, _) in counts.sorted(by: { ($1.count, $0.id) < ($0.count, $1.id) }) where ids.count < limit {
        seen.insert(id)
        ids.append(id)
      }
    }

    private func isShown(_ id: Int64, in database: Database) throws -> Bool {
      try database.exists(
        "SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0 AND coalesce(language, '') LIKE ?", id,
        language)
    }

    private func count(_ words: String, of id: Int64, in database: Database) throws -> Int {
      try database.first(
        """
        SELECT count(*) FROM (SELECT rowid FROM episode_text
          WHERE episode_text MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?)
        """, words, EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id), mostCounted
      ) { $0.int(0) } ?? 0
    }
  }
}
