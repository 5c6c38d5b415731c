internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// `source:local`: what the catalogue itself knows.
extension TextIndex {
  /// Seconds that are spent on podcasts that match, and on all: common words are in very many.
  private static let patience = (podcasts: 0.01, all: 0.035)
  /// Pages that are put together for what begins with long words: about thirty milliseconds.
  private static let pageLimit = 100
  /// Seconds for what is not in the index yet, in a process that does not refresh by itself.
  private static let indexing = 0.1

  /// Podcasts whose own texts match, those with the words in their titles first, then those of whose episodes most match.
  /// Empty where the index can't be read.
  func answer(_ query: SearchQuery, limit: Int) -> SearchAnswer {
    // What is more than that comes behind the answer, as long as this process lives.
    if !isFilledHere, (try? TextIndexer(store: store).run(until: .after(Self.indexing))) == false {
      fillBehind()
    }
    let found = try? store.read { database in
      try Self.localMatches(query, limit: limit, in: database).compactMap { id in
        try PodcastRow.podcast(id, in: database).map(Self.found)
      }
    }
    return SearchAnswer(source: "local", found: found ?? [])
  }

  private static func localMatches(_ query: SearchQuery, limit: Int, in database: Database) throws -> [Int64]
  {
    guard let words = SearchText.query(query.terms),
      let first = SearchText.query(query.terms, isAtStart: true)
    else { return [] }
    let language = query.language.map { "\($0)%" } ?? "%"
    let deadline = MonotonicTime.after(patience.all)
    let own = try podcastsByOwnTexts(words, first, language, limit: limit, in: database)
    if own.count >= limit { return own }
    let byEpisodes = try podcastsByEpisodes(query, language, limit: limit, until: deadline, in: database)
    var seen: Set<Int64> = []
    return (own + byEpisodes).filter { seen.insert($0).inserted }
  }

  /// Those whose titles begin with the words, that have them in the title, as the author, and anywhere: of each in the order
  /// in which they came into the catalogue.
  private static func podcastsByOwnTexts(
    _ words: String, _ first: String, _ language: String, limit: Int, in database: Database
  ) throws -> [Int64] {
    let deadline = MonotonicTime.after(patience.podcasts)
    let sql = """
      SELECT rowid, ?2 = '%' OR EXISTS (
        SELECT 1 FROM podcast WHERE id = podcast_text.rowid AND coalesce(language, '') LIKE ?2)
      FROM podcast_text WHERE podcast_text MATCH ?1
      """
    var found: [Int64] = []
    var seen: Set<Int64> = []
    for query in ["title : (\(first))", "title : (\(words))", "author : (\(words))", words] {
      // The last finds all that the others do.
      if found.count >= limit || query != words && MonotonicTime.now >= deadline { continue }
      var looked = 0
      try database.forEach(sql, query, language) { row in
        let id = row.int64(0)
        if row.bool(1), seen.insert(id).inserted { found.append(id) }
        looked += 1
        return found.count < limit && (looked % 64 != 0 || MonotonicTime.now < deadline)
      }
    }
    return found
  }

  /// Podcasts of whose episodes most match, as far as there is time to look: in the order in which they came into
  /// the catalogue.
  private static func podcastsByEpisodes(
    _ query: SearchQuery, _ language: String, limit: Int, until deadline: MonotonicTime, in database: Database
  ) throws -> [Int64] {
    let parts = SearchText.episodeWords(query.terms)
    if parts.isEmpty { return [] }
    var counts = try count(SearchText.episodeQuery(parts, asBeginnings: false), until: deadline, in: database)
    // What begins with a long word is put together as a whole before the first of it is seen: only where it is little.
    let long = parts.flatMap(\.self).filter { $0.count > SearchText.indexedBeginnings }
    if counts.count < limit, !long.isEmpty, MonotonicTime.now < deadline,
      try long.reduce(0, { try $0 + pages(beginningWith: $1, in: database) }) <= pageLimit
    {
      counts = try count(SearchText.episodeQuery(parts, asBeginnings: true), until: deadline, in: database)
    }
    let best = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit * 4).map(\.key)
    if language == "%" { return Array(best.prefix(limit)) }
    let spoken = try best.filter { id in
      try database.exists(
        "SELECT 1 FROM podcast WHERE id = ? AND coalesce(language, '') LIKE ?", id, language)
    }
    return Array(spoken.prefix(limit))
  }

  /// How many episodes of each podcast match, as far as there is time to look.
  private static func count(
    _ words: String, until deadline: MonotonicTime, in database: Database
  ) throws -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    var looked = 0
    try database.forEach("SELECT rowid FROM episode_text WHERE episode_text MATCH ?", words) { row in
      counts[EpisodeID.podcast(of: row.int64(0)), default: 0] += 1
      looked += 1
      return looked % 512 != 0 || MonotonicTime.now < deadline
    }
    return counts
  }

  /// Pages of the index, each of some thousand entries, from where words that begin so begin to where they end.
  private static func pages(beginningWith word: String, in database: Database) throws -> Int {
    // In the index of words, as against those of beginnings, each is preceded by "0" (fts5_index.c); the tokenizer takes
    // their marks from Latin letters.
    let first = Array("0\(word.lowercased().withoutLatinMarks)".utf8)
    return try database.first(
      """
      WITH RECURSIVE segment (id) AS (
        SELECT min(segid) FROM episode_text_idx
        UNION ALL
        SELECT (SELECT min(segid) FROM episode_text_idx WHERE segid > segment.id) FROM segment WHERE id IS NOT NULL)
      SELECT sum((SELECT pgno >> 1 FROM episode_text_idx WHERE segid = id AND term > ?2 ORDER BY term LIMIT 1)
        - coalesce((SELECT pgno >> 1 FROM episode_text_idx WHERE segid = id AND term <= ?1 ORDER BY term DESC LIMIT 1), 1))
      FROM segment WHERE id IS NOT NULL
      """, first, first + [0xFF]
    ) { $0.int(0) } ?? 0
  }

  private static func found(_ podcast: Podcast) -> FoundPodcast {
    var found = FoundPodcast(feedURL: podcast.feedURL, title: podcast.title)
    found.author = podcast.author
    found.link = podcast.link
    found.imageURL = podcast.imageURL
    found.language = podcast.language
    found.description = podcast.description
    found.categories = podcast.categories
    found.explicit = podcast.explicit
    found.isListed = podcast.isListed
    return found
  }
}
