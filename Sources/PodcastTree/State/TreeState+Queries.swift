internal import Catalog
internal import PodcastModel
internal import TransferProtocol

extension TreeState {
  init(latest: EpisodeQuery = .latest(100, days: 60)) { readQueries = [.latest: latest] }

  /// What a folder of episodes selects; nil for other folders, and where its search has not been read.
  func query(of folder: NodeID) -> EpisodeQuery? { readQueries[folder] ?? views[folder]?.query }

  /// The folders whose rows are read from the catalogue.
  var readViews: [NodeID] { Array(readQueries.keys) }

  /// The folders of episodes of several podcasts.
  var mixedViews: [NodeID] { [.queue, .downloading, .paused, .failed] + readQueries.keys }

  func views(ofEpisode id: Int64) -> [NodeID] {
    mixedViews + [NodeID(.downloadedPodcast, EpisodeID.podcast(of: id))]
  }

  /// Whether a view's rows are to be read; nil where they never were.
  func isStale(_ view: NodeID) -> Bool? {
    views[view].map { staleViews.contains(view) || $0.isStale(now: FileTime.now.seconds) }
  }

  /// The views in memory that only the index can say of whether they show an episode.
  var indexedViews: [NodeID] { readQueries.keys.filter { views[$0]?.query.needsIndex ?? false } }

  /// What queries select by; nil where its podcast is not in memory.
  func row(of episode: ListedEpisode) -> QueryResult.Row? {
    guard let podcast = podcasts[episode.podcast] else { return nil }
    let folder = followed[podcast.id].flatMap { folders[$0]?.name }
    var facts = episode.facts(show: podcast.title, folder: folder)
    facts.queuePlace = queue[episode.id]
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

  /// Takes in the rows that a view's query has selected.
  mutating func apply(_ view: NodeID, _ episodes: [ListedEpisode], _ query: EpisodeQuery) -> Difference {
    staleViews.remove(view)
    let rows = episodes.compactMap { row(of: $0) }
    let old = views.updateValue(QueryResult(query, rows, now: FileTime.now.seconds), forKey: view)
    // A search for podcasts may have become one for episodes.
    if old == nil && listings[view] == nil { return Difference() }
    let difference = remake([view])
    if difference.names.contains(where: { $0.event != .replaced }) { noteTime(.now, of: view) }
    return difference
  }

  /// Takes in the queue.
  /// - Parameter episodes: those that are new in it.
  mutating func apply(_ entries: [QueueEntry], _ episodes: [ListedEpisode]) -> Difference {
    let new = Dictionary(entries.map { ($0.episode, $0.place) }, uniquingKeysWith: { first, _ in first })
    let changed = Set(queue.keys).union(new.keys).filter { queue[$0] != new[$0] }
    return changing(changed.sorted(), to: episodes) { $0.queue = new }
  }

  /// Notes which directories of `Search/` list episodes. Forgets the results of those whose query has changed, so that they
  /// are read again.
  mutating func noteEpisodeSearches(_ searches: [Search]) {
    let queries = searches.filter { $0.category == nil }.compactMap { search in
      (try? EpisodeQuery(parsing: search.name)).flatMap(\.self).map { (NodeID(.search, search.id), $0) }
    }
    var new = Dictionary(queries, uniquingKeysWith: { first, _ in first })
    new[.latest] = readQueries[.latest]
    for view in readViews where new[view] != readQueries[view] {
      views[view] = nil
      staleViews.remove(view)
    }
    readQueries = new
  }
}
