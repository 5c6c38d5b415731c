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

  /// What folders show of the selected episodes, in the query's order.
  func episodes() throws -> [Episode] {
    if limit <= 0 { return [] }
    let shows = query.shows.isEmpty ? nil : try podcastsOfShows()
    var conditions = Conditions()
    try addBounds(to: &conditions)
    addStates(to: &conditions)
    guard shows?.isEmpty != true, try addTexts(to: &conditions) else { return [] }
    if let shows { conditions.add("e.podcast_id IN \(Self.list)", [EpisodeRow.list(shows)]) }
    var source = "episode e NOT INDEXED"
    if !conditions.isNarrow {
      source = "episode e INDEXED BY \(try index(ofPodcasts: shows?.count))"
      if query.order == .shortest, let longest = try longest(source, conditions) {
        conditions.add("e.duration <= ?", [longest])
      }
    }
    if query.order == .title {
      conditions.sql = ["e.id IN (\(newest(source, conditions, "e.id")))"]
      source = "episode e NOT INDEXED"
    }
    // Numbers first: the index has all that selects and orders. The rows of those selected are read then.
    let chosen = "SELECT e.id FROM \(source) WHERE \(conditions.text) ORDER BY \(order) LIMIT ?"
    return try database.all(
      "SELECT \(EpisodeRow.listedColumns) FROM episode e WHERE e.id IN (\(chosen)) ORDER BY \(order)",
      values: conditions.values + [limit]
    ) { EpisodeRow.readListed($0) }
  }

  /// A query for a column of the newest that fulfil some conditions.
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
      ("e.id IN \(Self.list)", [EpisodeRow.list((downloads[state] ?? []).sorted())], true)
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
        "(e.id IN \(Self.list) OR \(others))", [EpisodeRow.list(episodes), EpisodeRow.list(podcasts)],
        isNarrow: isFew)
    }
    if !query.words.isEmpty {
      guard let words = try TextIndex.everyWord(query.words, in: database) else { return false }
      let matches = "SELECT rowid FROM episode_text WHERE episode_text MATCH ?"
      let count = try database.number("SELECT count(*) FROM (\(matches) LIMIT ?)", words, Self.fewMatches + 1)
      conditions.add("e.id IN (\(matches))", [words], isNarrow: (count ?? 0) <= Self.fewMatches)
    }
    if let heard {
      if heard.isEmpty { return false }
      conditions.add("e.id IN \(Self.list)", [EpisodeRow.list(heard)], isNarrow: true)
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
    if !query.words.isEmpty { try? texts.fillNow() }
    let heard = try heard(query)
    return try store.read { [now = store.now] database in
      try EpisodeSelection(
        query: query, downloads: downloads, heard: heard, limit: limit, now: now, database: database
      ).episodes()
    }
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
        try database.numbers("SELECT id FROM episode WHERE media_key = ?", key.bytes)
      }
    }
  }
}
