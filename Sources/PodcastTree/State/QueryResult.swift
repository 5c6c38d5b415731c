internal import Catalog
internal import PodcastModel
internal import TransferProtocol

/// The episodes that a query selects, and their names. A change of an episode costs one `update`, however many there are.
struct QueryResult: Sendable {
  struct Row: Sendable {
    let episode: ListedEpisode
    let podcastName: String
    let facts: EpisodeFacts
  }

  private enum Naming: Sendable {
    /// As in the folder of the one podcast.
    case own
    case mixed
    case numbered
  }

  let query: EpisodeQuery
  /// The folder's name, where it is that of a podcast.
  let name: String
  private let naming: Naming
  private var rows: [Int64: Row] = [:]
  /// Whether rows that are not here may be among those that the query selects.
  var isOutdated = false
  /// When the clock alone may change what it selects, in seconds since 1970.
  private var validUntil = Int64.max
  private var names: [Int64: (stem: String, name: String)] = [:]
  private var taken = UniqueNames()

  init(_ query: EpisodeQuery, name: String = "") {
    self.query = query
    self.name = name
    naming = !name.isEmpty ? .own : query.order == .queue ? .numbered : .mixed
  }

  /// - Parameters:
  ///   - rows: those that the query selects, at most as many as its limit says.
  ///   - now: seconds since 1970.
  init(_ query: EpisodeQuery, _ rows: [Row], now: Int64) {
    self.init(query)
    if query.isFedByClock { validUntil = now + Self.clockStep }
    // In the order of their numbers, so that a remount gives the same names.
    for row in rows.sorted(by: { $0.episode.id < $1.episode.id }) where query.matches(row.facts, now: now) {
      show(row, now)
    }
  }

  /// Seconds after which a query that the clock adds to is run again.
  private static let clockStep: Int64 = 60
  var shown: [Row] { Array(rows.values) }
  var count: Int { rows.count }
  /// Whether rows have to be read: others may be selected now, or the clock has changed what is.
  func isStale(now: Int64) -> Bool { isOutdated || now >= validUntil }
  func name(of id: Int64) -> String? { names[id]?.name }
  func episode(_ id: Int64) -> ListedEpisode? { rows[id]?.episode }
  var podcasts: Set<Int64> { Set(rows.values.map(\.episode.podcast)) }
  func episodes(ofPodcast podcast: Int64) -> [Int64] {
    rows.keys.filter { EpisodeID.podcast(of: $0) == podcast }.sorted()
  }

  /// Takes in an episode's row as it is now; nil where the episode is gone.
  ///
  /// The result of a query with a limit does not know what lies beyond that, and only an index knows whose texts match. So
  /// an episode that may come in then makes the result outdated.
  /// - Parameter old: its row before; nil where memory did not hold it.
  mutating func update(_ id: Int64, from old: Row?, to row: Row?, now: Int64) {
    let isFull = rows.count >= query.limit
    let new = row.flatMap { query.matches($0.facts, now: now) ? $0 : nil }
    let former = rows[id] ?? old.flatMap { query.matches($0.facts, now: now) ? $0 : nil }
    let staysInPlace =
      if let new, let former {
        !query.isOrdered(former.facts, before: new.facts) && !query.isOrdered(new.facts, before: former.facts)
      } else { false }
    if let shown = rows.removeValue(forKey: id) {
      hide(shown)
      if isFull && !staysInPlace { isOutdated = true }
      if let new { show(new, now) }
    } else if let new {
      if !isFull && !query.needsIndex { return show(new, now) }
      if !staysInPlace { isOutdated = true }
    }
  }

  /// Shortened names of two podcasts may be equal, and so may their episodes' names: the later name gets a number.
  private mutating func show(_ row: Row, _ now: Int64) {
    let episode = row.episode
    rows[episode.id] = row
    if let change = query.nextChange(of: row.facts, after: now) { validUntil = min(validUntil, change) }
    let stem =
      switch naming {
      case .own: episode.stem
      case .mixed: taken.claim(EpisodeName.viewStem(podcast: row.podcastName, stem: episode.stem))
      case .numbered:
        EpisodeName.queueStem(place: row.facts.queuePlace ?? 0, podcast: row.podcastName, stem: episode.stem)
      }
    let ending = String(decoding: episode.name.utf8.dropFirst(episode.stem.utf8.count), as: UTF8.self)
    names[episode.id] = (stem, stem + ending)
  }

  private mutating func hide(_ row: Row) {
    if let old = names.removeValue(forKey: row.episode.id), naming == .mixed { taken.remove(old.stem) }
  }
}

struct Views: Sendable {
  /// Those whose rows are read from the catalogue: of `Latest/`, and of searches for episodes.
  private(set) var queries: [NodeID: EpisodeQuery] {
    didSet { mixed = FixedNode.queries.map(\.0) + queries.keys }
  }
  /// The folders of episodes of several podcasts.
  private(set) var mixed: [NodeID]
  /// `Downloading/` with its folders, the queue, the folders of `Downloaded/`; `Latest/` and searches for episodes where
  /// their rows have been read.
  private(set) var results = Dictionary(uniqueKeysWithValues: FixedNode.queries.map { ($0, QueryResult($1)) })
  /// When what a folder lists last changed.
  private(set) var times: [NodeID: FileTime] = [:]
  /// Places in the queue, from 1, by episode.
  var queue: [Int64: Int] = [:]

  init(latest: EpisodeQuery) {
    queries = [.latest: latest]
    mixed = FixedNode.queries.map(\.0) + [.latest]
  }

  subscript(view: NodeID) -> QueryResult? {
    get { results[view] }
    // In its place: a copy would cost as many rows as it has.
    _modify { yield &results[view] }
  }

  /// What a folder of episodes selects; nil for other folders, and where its search has not been read.
  func query(of folder: NodeID) -> EpisodeQuery? { queries[folder] ?? results[folder]?.query }

  func all(ofEpisode id: Int64) -> [NodeID] {
    mixed + [NodeID(.downloadedPodcast, EpisodeID.podcast(of: id))]
  }

  /// Whether a view's rows are to be read; nil where they never were.
  func isStale(_ view: NodeID) -> Bool? { results[view]?.isStale(now: FileTime.now.seconds) }
  var stale: [NodeID] { queries.keys.filter { isStale($0) ?? false } }

  mutating func outdate(where isConcerned: (EpisodeQuery) -> Bool) {
    for (view, query) in queries where isConcerned(query) { results[view]?.isOutdated = true }
  }

  mutating func noteTime(_ time: FileTime, of folder: NodeID) {
    times[folder] = max(times[folder] ?? time, time)
    if folder.kind == .downloadedPodcast { noteTime(time, of: .downloaded) }
  }

  mutating func remove(_ folder: NodeID) { (results[folder], times[folder]) = (nil, nil) }

  /// Notes which directories of `Search/` list episodes. Forgets the results of those whose query has changed, so that they
  /// are read again.
  mutating func note(_ searches: [Search]) {
    let queries = searches.filter { $0.category == nil }.compactMap { search in
      (try? EpisodeQuery(parsing: search.name)).flatMap(\.self).map { (NodeID(.search, search.id), $0) }
    }
    var new = Dictionary(queries, uniquingKeysWith: { first, _ in first })
    new[.latest] = self.queries[.latest]
    for (view, query) in self.queries where new[view] != query { results[view] = nil }
    self.queries = new
  }
}

extension TreeState {
  init(latest: EpisodeQuery = .latest(100, days: 60)) { views = Views(latest: latest) }

  /// What queries select by; nil where its podcast is not in memory.
  func row(of episode: ListedEpisode) -> QueryResult.Row? {
    guard let podcast = podcasts[episode.podcast] else { return nil }
    let folder = followed[podcast.id].flatMap { folders[$0]?.name }
    var facts = episode.facts(show: podcast.title, folder: folder)
    facts.queuePlace = views.queue[episode.id]
    // Two episodes may have one address: views show the one that the download belongs to.
    if downloadOfKey[episode.mediaKey] == episode.id {
      facts.download = stage(of: episode)
      if status(of: episode)?.isKept ?? false { facts.marks.insert(.kept) }
    }
    return QueryResult.Row(episode: episode, podcastName: podcast.name, facts: facts)
  }

  /// The episodes in each state that a query looks at and only their downloads tell.
  func downloads(for query: EpisodeQuery) -> [EpisodeQuery.State: Set<Int64>] {
    let states = query.states.union(query.excludedStates).filter(\.isOfDownload)
    if states.isEmpty { return [:] }
    let rows = downloads.values.compactMap { row(of: $0)?.facts }
    return Dictionary(
      uniqueKeysWithValues: states.map { state in (state, Set(rows.filter { $0.has(state) }.map(\.id))) })
  }

  mutating func apply(_ view: NodeID, _ episodes: [ListedEpisode], _ query: EpisodeQuery) -> Difference {
    let rows = episodes.compactMap { row(of: $0) }
    let isFirst = views[view] == nil
    views[view] = QueryResult(query, rows, now: FileTime.now.seconds)
    // A search for podcasts may have become one for episodes.
    if isFirst && listings[view] == nil { return Difference() }
    let difference = remake([view])
    if difference.names.contains(where: { $0.event != .replaced }) { views.noteTime(.now, of: view) }
    return difference
  }

  /// - Parameter episodes: those that are new in it.
  mutating func apply(_ entries: [QueueEntry], _ episodes: [ListedEpisode]) -> Difference {
    let new = Dictionary(entries.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
    let changed = Set(views.queue.keys).union(new.keys).filter { views.queue[$0] != new[$0] }
    return changing(changed.sorted(), to: episodes) { $0.views.queue = new }
  }
}
