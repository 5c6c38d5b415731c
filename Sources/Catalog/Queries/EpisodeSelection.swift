package import PodcastModel
internal import SQLiteKit
internal import Transcripts

/// Selects the episodes of a query from their rows; within a read.
///
/// An index of dates that has all other columns that queries look at (`episode_facts`) finds the first rows of a query that
/// many match. Where few can match (downloads, the queue, rare words, what was heard, some podcasts), these are looked at
/// one by one.
struct EpisodeSelection {
  let query: EpisodeQuery
  /// The episodes in each state that the query looks at and that the catalogue does not know: `State.isOfDownload`.
  let downloads: [EpisodeQuery.State: Set<Int64>]
  /// Those in whose transcripts the query's words are; nil where it looks for none.
  let heard: [Int64]?
  let limit: Int
  /// Seconds since 1970.
  let now: Int64
  let database: Database

  /// More matches of words than these are not looked at one by one: the rows are looked through by date.
  private static let fewMatches = 20_000

  /// So many are put in the order of their titles, which stand in no index: of more the newest.
  private static let mostByTitle = 20_000

  private struct Condition {
    var sql: String
    var values: [any Bindable] = []
    /// Whether it selects numbers that are few.
    var isNarrow = false
  }

  private enum Way {
    /// The numbers that a narrow condition gives.
    case numbers
    case podcasts([Int64])
    case index(String)
  }

  /// What folders show of the selected episodes, in the query's order.
  func episodes() throws -> [Episode] {
    if limit <= 0 { return [] }
    guard let texts = try textConditions() else { return [] }
    let conditions = bounds() + stateConditions() + texts
    switch try way(conditions) {
    case .numbers: return try episodes("e NOT INDEXED", conditions)
    case .index where query.order == .title: return try episodes("e NOT INDEXED", [newest(conditions)])
    case .index(let name): return try episodes("e INDEXED BY \(name)", conditions)
    case .podcasts(let podcasts) where try query.order == .title && count(podcasts) > Self.mostByTitle:
      return try episodes("e NOT INDEXED", [newest(conditions + [Self.of(podcasts)])])
    case .podcasts(let podcasts):
      if query.order == .newest { return try newest(of: podcasts, conditions) }
      return try episodes("e INDEXED BY episode_by_date", [Self.of(podcasts)] + conditions)
    }
  }

  private func episodes(_ source: String, _ conditions: [Condition], limit: Int? = nil) throws
    -> [Episode]
  {
    // Numbers first: the index has all that selects and orders. The rows of those selected are read then.
    let chosen = """
      SELECT e.id FROM episode \(source) WHERE \(conditions.map(\.sql).joined(separator: " AND "))
      ORDER BY \(order("e")) LIMIT ?
      """
    return try database.all(
      "SELECT \(EpisodeRow.listedColumns) FROM episode e WHERE e.id IN (\(chosen)) ORDER BY \(order("e"))",
      values: conditions.flatMap(\.values) + [limit ?? self.limit]
    ) { EpisodeRow.readListed($0) }
  }

  /// The newest that fulfil some conditions, as one condition.
  private func newest(_ conditions: [Condition]) -> Condition {
    Condition(
      sql: """
        e.id IN (SELECT e.id FROM episode e INDEXED BY \(index) WHERE \(conditions.map(\.sql).joined(separator: " AND "))
          ORDER BY e.published DESC, e.id DESC LIMIT \(Self.mostByTitle))
        """, values: conditions.flatMap(\.values))
  }

  private static func of(_ podcasts: [Int64]) -> Condition {
    Condition(sql: "e.podcast_id IN (SELECT value FROM json_each(?))", values: [EpisodeRow.list(podcasts)])
  }

  /// Episodes of some podcasts.
  private func count(_ podcasts: [Int64]) throws -> Int {
    try database.first(
      "SELECT total(episode_count) FROM podcast WHERE id IN (SELECT value FROM json_each(?))",
      EpisodeRow.list(podcasts)
    ) { Int($0.int64(0)) } ?? 0
  }

  /// From the podcast with the newest episode on: the rest is not looked at once they are all too old.
  private func newest(of podcasts: [Int64], _ conditions: [Condition]) throws -> [Episode] {
    var oldest = query.newer?.seconds(now: now) ?? .min
    let byDate = try database.all(
      """
      SELECT id, newest FROM podcast WHERE id IN (SELECT value FROM json_each(?)) AND newest >= ?
      ORDER BY newest DESC
      """, EpisodeRow.list(podcasts), oldest
    ) { (id: $0.int64(0), newest: $0.int64(1)) }
    var found: [Episode] = []
    for (id, newest) in byDate where found.count < limit || newest >= oldest {
      let own = [
        Condition(sql: "e.podcast_id = ?", values: [id]),
        Condition(sql: "e.published >= ?", values: [oldest]),
      ]
      let some = try episodes("e INDEXED BY episode_by_date", own + conditions)
      if some.isEmpty { continue }
      found = (found + some).sorted { ($1.published, $1.id) < ($0.published, $0.id) }
      found.removeLast(max(found.count - limit, 0))
      if found.count == limit { oldest = found.last?.published ?? oldest }
    }
    return found
  }

  private func way(_ conditions: [Condition]) throws -> Way {
    if conditions.contains(where: \.isNarrow) { return .numbers }
    if !query.shows.isEmpty { return .podcasts(try podcastsOfShows()) }
    if query.states.contains(.followed) {
      return .podcasts(try database.all("SELECT podcast_id FROM subscription") { $0.int64(0) })
    }
    return .index(index)
  }

  /// The index of dates that has all that selects.
  private var index: String {
    query.states.isDisjoint(with: [.played, .started]) ? "episode_facts" : "episode_heard"
  }

  private func order(_ table: String) -> String {
    switch query.order {
    case .newest: "\(table).published DESC, \(table).id DESC"
    case .oldest: "\(table).published, \(table).id"
    case .title: "lower(substr(\(table).stem, instr(\(table).stem, ' - ') + 3)), \(table).id"
    case .shortest: "\(table).duration IS NULL, \(table).duration, \(table).id"
    case .queue: "(SELECT q.place FROM queue q WHERE q.episode_id = \(table).id), \(table).id"
    }
  }

  private func bounds() -> [Condition] {
    // What is being deleted is shown nowhere.
    var all = [Condition(sql: "e.podcast_id NOT IN (SELECT id FROM podcast WHERE is_forgotten = 1)")]
    func add(_ sql: String, _ value: Int64?) {
      if let value { all.append(Condition(sql: sql, values: [value])) }
    }
    add("e.published >= ?", query.newer?.seconds(now: now))
    add("e.published < ?", query.older?.seconds(now: now))
    add("e.duration <= ?", query.shorter.map(Int64.init))
    add("e.duration >= ?", query.longer.map(Int64.init))
    add("e.season = ?", query.season.map(Int64.init))
    return all
  }

  private func stateConditions() -> [Condition] {
    let wanted = query.states.sorted { $0.rawValue < $1.rawValue }.map { condition($0) }
    let unwanted = query.excludedStates.sorted { $0.rawValue < $1.rawValue }.map { state in
      let condition = condition(state)
      return Condition(sql: "NOT (\(condition.sql))", values: condition.values)
    }
    return wanted + unwanted
  }

  private func condition(_ state: EpisodeQuery.State) -> Condition {
    switch state {
    case .unplayed: Condition(sql: "e.played = 0")
    case .played: Condition(sql: "e.played = 1")
    case .started: Condition(sql: "e.played = 0 AND e.position > 0")
    case .hidden: Condition(sql: "e.hidden = 1")
    case .followed: Condition(sql: "e.podcast_id IN (SELECT podcast_id FROM subscription)")
    case .queued: Condition(sql: "e.id IN (SELECT episode_id FROM queue)", isNarrow: true)
    case .cached, .kept, .downloading, .paused, .failed:
      Condition(
        sql: "e.id IN (SELECT value FROM json_each(?))",
        values: [EpisodeRow.list((downloads[state] ?? []).sorted())], isNarrow: true)
    }
  }

  /// - Returns: nil where nothing can match.
  private func textConditions() throws -> [Condition]? {
    var all: [Condition] = []
    if !query.shows.isEmpty {
      let podcasts = try podcastsOfShows()
      if podcasts.isEmpty { return nil }
      all.append(Self.of(podcasts))
    }
    for name in query.people {
      let (episodes, podcasts) = try PersonRows.find(name, in: database)
      all.append(
        Condition(
          sql: """
            (e.id IN (SELECT value FROM json_each(?))
              OR e.podcast_id IN (SELECT value FROM json_each(?)) AND e.people IS NULL)
            """, values: [EpisodeRow.list(episodes), EpisodeRow.list(podcasts)]))
    }
    if !query.words.isEmpty {
      guard let words = SearchText.everyWord(query.words) else { return nil }
      let matches = "SELECT rowid FROM episode_text WHERE episode_text MATCH ?"
      let count = try database.first("SELECT count(*) FROM (\(matches) LIMIT ?)", words, Self.fewMatches + 1)
      {
        $0.int(0)
      }
      all.append(
        Condition(
          sql: "e.id IN (\(matches))", values: [words], isNarrow: (count ?? 0) <= Self.fewMatches))
    }
    if let heard {
      if heard.isEmpty { return nil }
      all.append(
        Condition(
          sql: "e.id IN (SELECT value FROM json_each(?))", values: [EpisodeRow.list(heard)], isNarrow: true))
    }
    return all
  }

  /// Those with the words of each `show:` in their titles or in the names of their subscriptions. The index finds titles;
  /// its words may be beginnings of others.
  private func podcastsOfShows() throws -> [Int64] {
    let folders = try database.all("SELECT podcast_id, name FROM subscription") { Named($0) }
    let found = try query.shows.map { show in
      guard let words = SearchText.everyWord(show) else { return Set<Int64>() }
      let titles = try database.all(
        """
        SELECT p.id, p.title FROM podcast_text t JOIN podcast p ON p.id = t.rowid
        WHERE podcast_text MATCH ? AND p.is_forgotten = 0
        """, "title : (\(words))"
      ) { Named($0) }
      return Set((titles + folders).filter { WordMatch.contains(show, in: $0.name) }.map(\.podcast))
    }
    return found.dropFirst().reduce(found.first ?? []) { $0.intersection($1) }.sorted()
  }

  /// A podcast by its title, or by its subscription's name.
  private struct Named {
    let podcast: Int64
    let name: String

    init(_ row: borrowing Row) { (podcast, name) = (row.int64(0), row.string(1)) }
  }
}

extension Catalog {
  /// The episodes that a query selects, in its order.
  /// - Parameters:
  ///   - downloads: the episodes in each state that only their downloads tell (`State.isOfDownload`) and the query looks at.
  ///   - limit: the most episodes to select.
  package func episodes(
    selectedBy query: EpisodeQuery, downloads: [EpisodeQuery.State: Set<Int64>] = [:], limit: Int
  ) throws(CatalogError) -> [Episode] {
    if !query.words.isEmpty { texts.fillBriefly() }
    let heard = try heard(query)
    return try store.read { [now = store.now] database in
      try EpisodeSelection(
        query: query, downloads: downloads, heard: heard, limit: limit, now: now, database: database
      ).episodes()
    }
  }

  /// Those of some episodes whose texts match a query.
  package func matching(_ query: EpisodeQuery, among ids: [Int64]) throws(CatalogError) -> Set<Int64> {
    let words = SearchText.everyWord(query.words)
    if words == nil && !query.words.isEmpty { return [] }
    let matching = try store.read { database in
      Set(
        try ids.filter { id in
          let hasWords =
            try words.map {
              try database.exists(
                "SELECT 1 FROM episode_text WHERE episode_text MATCH ? AND rowid = ?", $0, id)
            } ?? true
          return try hasWords && (query.people.isEmpty || PersonRows.matches(query.people, id, in: database))
        })
    }
    if query.transcript.isEmpty || matching.isEmpty { return matching }
    guard let words = TranscriptQuery(query.transcript), let index = transcripts.index() else { return [] }
    return Set(
      try episodes(matching.sorted()).filter { episode in
        (try? index.hits(of: episode.mediaKey, words))?.isEmpty == false
      }.map(\.id))
  }

  /// Transcripts that are looked at for a query: of those that match, the last ones that came.
  private static let mostHeard = 3000

  /// The episodes in whose transcripts a query's words are; nil where it looks for none.
  private func heard(_ query: EpisodeQuery) throws(CatalogError) -> [Int64]? {
    if query.transcript.isEmpty { return nil }
    guard let words = TranscriptQuery(query.transcript), let index = transcripts.index(),
      let keys = try? index.search(words, limit: Self.mostHeard)
    else { return [] }
    return try store.read { database in
      try keys.flatMap { key in
        try database.all("SELECT id FROM episode WHERE media_key = ?", key.bytes) { $0.int64(0) }
      }
    }
  }
}
