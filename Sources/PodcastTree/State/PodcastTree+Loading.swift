internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

/// Reads into memory what directories need. On the loader's thread.
extension PodcastTree {
  /// Applies an event to the state, and sends the difference to the kernel and to watchers. Views that are outdated then
  /// are read a moment later: a burst of changes costs one query. A listing before that queries at once.
  func apply(_ event: TreeEvent) {
    tell(state.withLock { $0.apply(event) })
    freshenViewsSoon()
  }

  func freshenViewsSoon() {
    let stale = state.withLock { $0.views.stale }
    if stale.isEmpty { return }
    loader.async(after: 0.2) { [weak self] in for view in stale { try? self?.loadView(view) } }
  }

  func loadSearches() throws { if state.withLock({ $0.searches == nil }) { try readSearches() } }
  func readSearches() throws { apply(.searches(try catalog.searches(), try catalog.folderTimes())) }

  func loadSubscriptions() throws {
    if state.withLock({ $0.subscriptions == nil }) { try readSubscriptions() }
  }

  func loadResults(ofSearch id: Int64) throws {
    try loadSearches()
    if state.withLock({ $0.views.queries[NodeID(.search, id)] != nil }) {
      return try loadView(NodeID(.search, id))
    }
    if state.withLock({ $0.results[id] == nil }) { try readResults(ofSearch: id) }
  }

  func load(_ folder: NodeID) throws {
    switch (folder, folder.kind) {
    case (.search, _): try loadSearches()
    case (.discover, _):
      try catalog.makeCategories()
      try readSearches()
    case (.subscriptions, _): try loadSubscriptions()
    case (.latest, _): try loadView(folder)
    case (_, .search):
      try loadSearches()
      let isView = state.withLock { $0.views.queries[folder] != nil }
      if try !isView && catalog.fillCategory(folder.row) { takeInCommits() }
      try loadResults(ofSearch: folder.row)
    case (_, .result), (_, .subscription): try loadRow(of: folder)
    default: break
    }
  }

  /// The row that says which podcast a directory shows.
  private func loadRow(of node: NodeID) throws {
    if node.kind == .subscription { return try loadSubscriptions() }
    if node.kind != .result || state.withLock({ $0.folders[node] != nil }) { return }
    // A handle of an earlier mount.
    guard let listed = try catalog.result(node.row) else { throw Errno.ENOENT }
    apply(.folder(node, Folder(listed)))
  }

  @discardableResult
  func loadEpisodes(ofPodcast id: Int64) throws -> PodcastEntry {
    if let known = state.withLock({ $0.podcasts[id] }), known.isFetched, known.episodes != nil {
      return known
    }
    guard let record = try catalog.podcast(id) else { throw Errno.ENOENT }
    let entry = try readEntries([record], withEpisodes: true)[0]
    state.withLock { $0.podcasts[id] = entry }
    return entry
  }

  func readEntries(_ podcasts: [Podcast], withEpisodes: Bool = false) throws -> [PodcastEntry] {
    loadCopies()
    let results = try podcasts.isEmpty ? [:] : catalog.results(showing: podcasts.map(\.id))
    return try podcasts.map { podcast in
      let episodes =
        try withEpisodes ? catalog.listedEpisodes(ofPodcast: podcast.id) { listed($0, of: podcast) } : nil
      return PodcastEntry(podcast, results: results[podcast.id] ?? [:], episodes: episodes, settings.sidecars)
    }
  }

  private func listed(_ episode: Episode, of podcast: Podcast) -> ListedEpisode {
    let own = state.withLock { $0.own?[episode.mediaKey] ?? [] }
    return ListedEpisode(episode, of: podcast, settings.sidecars, own: own)
  }

  /// Episodes as they are listed, with their podcasts' rows in memory.
  func loadListed(_ entries: [EpisodeEntry]) throws -> [ListedEpisode] {
    let podcasts = Dictionary(
      entries.map { ($0.podcast.id, $0.podcast) }, uniquingKeysWith: { one, _ in one })
    let unknown = state.withLock { state in podcasts.values.filter { state.podcasts[$0.id] == nil } }
    for entry in try readEntries(unknown) { state.withLock { $0.podcasts[entry.id] = entry } }
    return entries.map { listed($0.episode, of: $0.podcast) }
  }

  func loadListed(_ episodes: [Episode]) throws -> [ListedEpisode] {
    let podcasts = try catalog.podcasts(Array(Set(episodes.map(\.podcastID))))
    let byID = Dictionary(podcasts.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
    return try loadListed(
      episodes.compactMap { episode in
        byID[episode.podcastID].map { EpisodeEntry(episode: episode, podcast: $0) }
      })
  }

  func loadCopies() {
    if state.withLock({ $0.own == nil }) {
      let own = Dictionary(grouping: ownTranscripts.all(), by: \.key)
      state.withLock { $0.own = own }
    }
    if state.withLock({ $0.copies == nil }) {
      let copies = sidecars.copies()
      state.withLock { $0.copies = copies }
    }
  }

  /// Reads the rows that a folder of episodes selects, unless memory has the current ones.
  func loadView(_ view: NodeID) throws {
    try loadSubscriptions()
    try loadSearches()
    guard state.withLock({ $0.views.isStale(view) ?? true }),
      let query = state.withLock({ $0.views.query(of: view) })
    else { return }
    let selected = try catalog.episodes(
      selectedBy: query, downloads: state.withLock { $0.downloads(for: query) },
      limit: query.limit)
    apply(.view(view, try loadListed(selected), query))
  }

  /// - Parameter isFirst: whether the process begins: nothing has changed then.
  func readQueue(isFirst: Bool = false) throws {
    let entries = try catalog.queueEntries()
    let changed = state.withLock { state in
      Set(state.views.queue.keys).symmetricDifference(entries.map(\.episode))
    }
    let queue = TreeEvent.queue(entries, episodes: try loadListed(try catalog.episodes(changed.sorted())))
    if isFirst { state.withLock { _ = $0.apply(queue) } } else { apply(queue) }
    transfers.protect(
      state.withLock { state in entries.compactMap { state.views[.queue]?.episode($0.episode)?.mediaKey } })
  }

  /// Ends when all folders of episodes have been read: an episode has a link for each that shows it. The first look at an
  /// episode pays for that, not the start.
  var linksKnown: Answer<Void> {
    let areKnown = state.withLock { state in
      state.searches != nil && state.views.queries.keys.allSatisfy { state.views[$0] != nil }
    }
    if areKnown { return .value(()) }
    return .on(loader) {
      try? self.loadSearches()
      for view in self.state.withLock({ $0.views.queries.keys }) { try? self.loadView(view) }
    }
  }

  /// Reads the states of all downloads, once, before anything is listed.
  func loadDownloads() {
    let statuses = transfers.allStatuses().filter(\.isEpisode)
    let entries = (try? catalog.entries(forKeys: statuses.map(\.key))) ?? [:]
    let rows = statuses.map { status in (status, entries[status.key].flatMap { try? loadListed([$0])[0] }) }
    // In the order of their numbers, so that a remount gives the same names.
    for (status, episode) in rows.sorted(by: { $0.1?.id ?? 0 < $1.1?.id ?? 0 }) {
      state.withLock { _ = $0.apply(.transfer(status.key, status, episode)) }
    }
  }

  func listed(_ id: Int64) -> Answer<ListedEpisode> {
    if let found = state.withLock({ $0.episode(id) }) { return .value(found) }
    return detail(id).map { self.listed($0.entry.episode, of: $0.entry.podcast) }
  }

  func detail(_ id: Int64) -> Answer<EpisodeDetails.Detail> {
    if let found = details.find(id) { return .value(found) }
    return .on(loader) {
      let (from, count) = self.details.toRead(with: id)
      let episodes = try self.catalog.episodes(from: from, count: count)
      guard let place = episodes.firstIndex(where: { $0.id == id }),
        let podcast = try self.catalog.podcast(episodes[place].podcastID)
      else { throw Errno.ENOENT }
      let details = episodes.map { EpisodeDetails.detail(EpisodeEntry(episode: $0, podcast: podcast)) }
      for detail in details { self.details.store(detail) }
      _ = try self.loadListed([details[place].entry])
      return details[place]
    }
  }

  func entry(ofEpisode id: Int64) -> Answer<EpisodeEntry> { detail(id).map(\.entry) }
}
