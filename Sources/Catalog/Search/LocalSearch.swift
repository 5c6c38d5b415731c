internal import Configuration
internal import PodcastModel
internal import SQLiteKit

// `source:local`: what the catalogue itself knows.
extension Catalog {
  /// How many matching episodes are looked at: common words are in very many.
  private static let episodeBound = 20_000

  /// Podcasts whose own texts match, the best first, then those of whose episodes most match. Empty where
  /// the index can't be read.
  func localAnswer(_ query: SearchQuery) -> SearchAnswer {
    let limit = query.limit ?? settings.searchLimit
    let found = try? store.read { database in
      try Self.localMatches(query, limit: limit, in: database).compactMap { id in
        try database.first("SELECT \(PodcastRow.columns) FROM podcast p WHERE p.id = ?", id) {
          Self.found(PodcastRow.read($0))
        }
      }
    }
    return SearchAnswer(source: "local", found: found ?? [])
  }

  private static func localMatches(_ query: SearchQuery, limit: Int, in database: Database) throws -> [Int64]
  {
    guard let words = SearchText.query(query.terms) else { return [] }
    let language = query.language.map { "\($0)%" } ?? "%"
    let own = try database.all(
      """
      SELECT t.rowid FROM podcast_text t JOIN podcast p ON p.id = t.rowid
      WHERE podcast_text MATCH ? AND coalesce(p.language, '') LIKE ?
      ORDER BY bm25(podcast_text, 10, 5, 1) LIMIT ?
      """, words, language, limit
    ) { $0.int64(0) }
    let byEpisodes = try database.all(
      """
      SELECT p.id FROM
        (SELECT rowid FROM episode_text WHERE episode_text MATCH ? LIMIT ?) m
        JOIN podcast p ON p.id = m.rowid >> \(EpisodeID.bits)
      WHERE coalesce(p.language, '') LIKE ?
      GROUP BY p.id ORDER BY count(*) DESC, p.id LIMIT ?
      """, words, Self.episodeBound, language, limit
    ) { $0.int64(0) }
    var seen: Set<Int64> = []
    return (own + byEpisodes).filter { seen.insert($0).inserted }
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
