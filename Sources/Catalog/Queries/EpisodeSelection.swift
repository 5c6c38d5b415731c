package import PodcastModel
internal import SQLiteKit
internal import Transcripts

/// Selects the episodes of a query from their rows; within a read.
///
/// Two indexes have all columns that queries look at: `episode_facts` by date, `episode_by_date` by podcast. Where few can
/// match (downloads, the queue, rare words, what was heard), these are looked at one by one.
struct EpisodeSelection {
  let query: EpisodeQuery
  /// The episodes in each state that the query looks at and that the catalogue does not know: `State.isOfDownload`.
  let downloads: [EpisodeQuery.State: Set<Int64>]
  /// Those in whose transcripts the query's words are; nil where it looks for none.
  let heard: [Int64]?
  let limit: Int
  let now: Int64
  let database: Database

  /// More matches of words than these are not looked at one by one: the rows are looked through by date.
  private static let fewMatches = 20_000
  /// So many texts are looked at for each episode that is to be listed before all matches are gathered.
  private static let textsForEach = 3
  /// The episodes of more podcasts are looked through by date, too.
  private static let fewPodcasts = 20
  /// So many are put in the order of their titles, which stand in no index: of more the newest.
  private static let mostByTitle = 20_000

  private struct Conditions {
    var sql: [String] = []
    var values: [any Bindable] = []
    var isNarrow = false

    mutating func add(_ sql: String, _ values: [any Bindable] = [], isNarrow: Bool = false) {
      self.sql.append(sql)
      self.values += values
      self.isNarrow = self.isNarrow || isNarrow
    }

    var text: String { sql.isEmpty ? "true" : sql.joined(separator: " AND ") }
  }

  func episodes() throws -> [Episode] {
    if limit <= 0 { return [] }
    let shows = query.shows.isEmpty ? nil : try podcastsOfShows()
    var conditions = Conditions()
    try addBounds(to: &conditions)
    addStates(to: &conditions)
    guard shows?.isEmpty != true, try addTexts(to: &conditions) else { return [] }
    if let shows { conditions.add("e.podcast_id IN \(Self.list)", [EpisodeRows.list(shows)]) }
    let index = "episode e INDEXED BY \(try index(ofPodcasts: shows?.count))"
    if !query.words.isEmpty {
      guard let words = try TextIndex.everyWord(query.words, in: database) else { return [] }
      let matches = "SELECT rowid FROM episode_text WHERE episode_text MATCH ?"
      let count = try database.number("SELECT count(*) FROM (\(matches) LIMIT ?)", words, Self.fewMatches + 1)
      let isFew = (count ?? 0) <= Self.fewMatches
      if !isFew, !conditions.isNarrow, let ids = try first(withWords: words, index, conditions) {
        return try listed("SELECT value FROM json_each(?)", [EpisodeRows.list(ids)])
      }
      conditions.add("e.id IN (\(matches))", [words], isNarrow: isFew)
    }
    var source = conditions.isNarrow ? "episode e NOT INDEXED" : index
    if !conditions.isNarrow, query.order == .shortest, let longest = try longest(source, conditions) {
      conditions.add("e.duration <= ?", [longest])
    }
    if query.order == .title {
      conditions.sql = ["e.id IN (\(newest(source, conditions, "e.id")))"]
      source = "episode e NOT INDEXED"
    }
    // Numbers first: the index has all that selects and orders. The rows of those selected are read then.
    return try listed(chosen(source, conditions), conditions.values + [limit])
  }

  private func chosen(_ source: String, _ conditions: Conditions) -> String {
    "SELECT e.id FROM \(source) WHERE \(conditions.text) ORDER BY \(order) LIMIT ?"
  }

  private func listed(_ ids: String, _ values: [any Bindable]) throws -> [Episode] {
    try database.all(
      "SELECT \(ListedEpisode.columns) FROM episode e WHERE e.id IN (\(ids)) ORDER BY \(order)",
      values: values
    ) { ListedEpisode($0).episode }
  }

  /// Looks for words in the texts of the first episodes, in the query's order, that fulfil some conditions: where most have
  /// the words, that is much quicker than to gather all that have.
  /// - Returns: nil where too few of them have the words, and where the order stands in no index.
  private func first(withWords words: String, _ index: String, _ conditions: Conditions) throws -> [Int64]? {
    guard [.newest, .oldest].contains(query.order) else { return nil }
    let most = limit * Self.textsForEach
    let ids = try database.all(chosen(index, conditions), values: conditions.values + [most]) { $0.int64(0) }
    try database.script(
      """
      DROP TABLE IF EXISTS temp.looked_at;
      CREATE VIRTUAL TABLE temp.looked_at USING fts5 (
        title, notes, content = '', detail = none, columnsize = 0, \(Schema.tokenizer))
      """)
    // Where nearly all have the words, a few more than are listed say so.
    let step = limit + limit / 5 + 1
    for start in stride(from: 0, to: ids.count, by: step) {
      let looked = ids.prefix(start + step)
      for text in try FullText.texts(Array(looked[start...]), in: database).map(\.indexed) {
        try database.run(
          "INSERT INTO looked_at (rowid, title, notes) VALUES (?, ?, ?)", text.id, text.title, text.notes)
      }
      let having = Set(try database.numbers("SELECT rowid FROM looked_at WHERE looked_at MATCH ?", words))
      let found = looked.filter(having.contains)
      if found.count >= limit || looked.count == ids.count && ids.count < most {
        return Array(found.prefix(limit))
      }
      if found.count * Self.textsForEach < looked.count { return nil }
    }
    return nil
  }

  private func newest(_ source: String, _ conditions: Conditions, _ column: String) -> String {
    """
    SELECT \(column) FROM \(source) WHERE \(conditions.text)
    ORDER BY e.published DESC, e.id DESC LIMIT \(Self.mostByTitle)
    """
  }

  /// How long the longest of the shortest can be, by the newest that fulfil some conditions: no longer ones need sorting.
  /// - Returns: nil where those are too few to tell.
  private func longest(_ source: String, _ conditions: Conditions) throws -> Int64? {
    try database.all(
      """
      SELECT duration FROM (\(newest(source, conditions, "e.duration"))) WHERE duration NOT NULL
      ORDER BY duration LIMIT 1 OFFSET ?
      """, values: conditions.values + [limit - 1]
    ) { $0.int64(0) }.first
  }

  /// The index that has all that selects.
  /// - Parameter count: how many podcasts can have what is selected; nil for any.
  private func index(ofPodcasts count: Int?) throws -> String {
    var count = count
    if count == nil, query.states.contains(.followed) {
      count = try database.first("SELECT count(*) FROM subscription") { $0.int(0) }
    }
    if let count, count <= Self.fewPodcasts { return "episode_by_date" }
    return query.states.isDisjoint(with: [.played, .started]) ? "episode_facts" : "episode_heard"
  }

  private var order: String {
    switch query.order {
    case .newest: "e.published DESC, e.id DESC"
    case .oldest: "e.published, e.id"
    case .title: "lower(substr(e.stem, instr(e.stem, ' - ') + 3)), e.id"
    case .shortest: "e.duration NULLS LAST, e.id"
    case .queue: "(SELECT q.place FROM queue q WHERE q.episode_id = e.id), e.id"
    }
  }

  private func addBounds(to conditions: inout Conditions) throws {
    // What is being deleted is shown nowhere.
    let forgotten = "SELECT id FROM podcast INDEXED BY podcast_forgotten WHERE is_forgotten = 1"
    if try database.exists(forgotten) { conditions.add("e.podcast_id NOT IN (\(forgotten))") }
    let bounds = [
      ("e.published >= ?", query.newer?.seconds(now: now)),
      ("e.published < ?", query.older?.seconds(now: now)),
      ("e.duration <= ?", query.shorter.map(Int64.init)), ("e.duration >= ?", query.longer.map(Int64.init)),
      ("e.season = ?", query.season.map(Int64.init)),
    ]
    for case (let sql, let value?) in bounds { conditions.add(sql, [value]) }
  }

  private func addStates(to conditions: inout Conditions) {
    for state in query.states.sorted(by: { $0.rawValue < $1.rawValue }) {
      let (sql, values, isNarrow) = condition(state)
      conditions.add(sql, values, isNarrow: isNarrow)
    }
    for state in query.excludedStates.sorted(by: { $0.rawValue < $1.rawValue }) {
      let (sql, values, _) = condition(state)
      // For an index by podcast, which has those first that are not hidden.
      conditions.add(state == .hidden ? "e.hidden = 0" : "NOT (\(sql))", values)
    }
  }

  private func condition(_ state: EpisodeQuery.State) -> (String, [any Bindable], isNarrow: Bool) {
    switch state {
    case .unplayed: ("e.played = 0", [], false)
    case .played: ("e.played = 1", [], false)
    case .started: ("e.played = 0 AND e.position > 0", [], false)
    case .hidden: ("e.hidden = 1", [], false)
    case .followed: ("e.podcast_id IN (SELECT podcast_id FROM subscription)", [], false)
    case .queued: ("e.id IN (SELECT episode_id FROM queue)", [], true)
    case .cached, .kept, .downloading, .paused, .failed:
      ("e.id IN \(Self.list)", [EpisodeRows.list((downloads[state] ?? []).sorted())], true)
    }
  }

  /// - Returns: false where nothing can match.
  private func addTexts(to conditions: inout Conditions) throws -> Bool {
    for name in query.people {
      let (episodes, podcasts) = try PersonRows.find(name, in: database)
      if episodes.isEmpty && podcasts.isEmpty { return false }
      let isFew = podcasts.count <= Self.fewPodcasts && episodes.count <= Self.fewMatches
      let others =
        isFew
        ? "e.id IN (SELECT o.id FROM episode o WHERE o.podcast_id IN \(Self.list) AND o.people IS NULL)"
        : "e.podcast_id IN \(Self.list) AND e.people IS NULL"
      conditions.add(
        "(e.id IN \(Self.list) OR \(others))", [EpisodeRows.list(episodes), EpisodeRows.list(podcasts)],
        isNarrow: isFew)
    }
    if let heard {
      if heard.isEmpty { return false }
      conditions.add("e.id IN \(Self.list)", [EpisodeRows.list(heard)], isNarrow: true)
    }
    return true
  }

  private static let list = "(SELECT value FROM json_each(?))"

  /// Those with the words of each `show:` in their titles or in the names of their subscriptions. The index finds titles;
  /// its words may be beginnings of others.
  private func podcastsOfShows() throws -> [Int64] {
    typealias Named = (podcast: Int64, name: String)
    let named = { (row: borrowing Row) in Named(row.int64(0), row.string(1)) }
    let folders = try database.all("SELECT podcast_id, name FROM subscription", as: named)
    let found = try query.shows.map { show in
      guard let words = SearchText.query(show) else { return Set<Int64>() }
      let titles = try database.all(
        """
        SELECT p.id, p.title FROM podcast_text t JOIN podcast p ON p.id = t.rowid
        WHERE podcast_text MATCH ? AND p.is_forgotten = 0
        """, "title : (\(words))", as: named)
      return Set((titles + folders).filter { WordMatch.contains(show, in: $0.name) }.map(\.podcast))
    }
    return found.dropFirst().reduce(found.first ?? []) { $0.intersection($1) }.sorted()
  }
}

extension Catalog {
  /// The episodes that a query selects, in its order.
  /// - Parameters:
  ///   - downloads: the episodes in each state that only their downloads tell (`State.isOfDownload`) and the query looks at.
  package func episodes(
    selectedBy query: EpisodeQuery, downloads: [EpisodeQuery.State: Set<Int64>] = [:], limit: Int
  ) throws(CatalogError) -> [Episode] {
    if !query.words.isEmpty { try texts.fillForSearch() }
    let heard = try heard(query)
    return try store.read { [now = store.now] database in
      try EpisodeSelection(
        query: query, downloads: downloads, heard: heard, limit: limit, now: now, database: database
      ).episodes()
    }
  }

  /// Transcripts that are looked at for a query: of those that match, the last ones that came.
  private static let mostHeard = 3000

  private func heard(_ query: EpisodeQuery) throws(CatalogError) -> [Int64]? {
    if query.transcript.isEmpty { return nil }
    guard let words = TranscriptQuery(query.transcript) else { return [] }
    let keys = try wrapping { try transcripts.index().search(words, limit: Self.mostHeard) }
    return try store.read { database in
      try keys.flatMap { key in
        try database.numbers("SELECT id FROM episode WHERE media_key = ?", key.bytes)
      }
    }
  }
}
