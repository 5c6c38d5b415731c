internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Takes in commits of the catalogue, by whatever process, and states of downloads: reads the rows that have changed and
/// hands them to the state. On the loader's thread.
extension PodcastTree {
  /// Takes in what has been committed since the last call: from then on every directory shows it.
  func takeInCommits() {
    guard let seen = lastCommit.withLock({ $0 }) else {
      return lastCommit.withLock { $0 = try? catalog.commits() }
    }
    for commit in (try? catalog.commits(after: seen)) ?? [] {
      for change in commit.changes {
        // While the catalogue cannot be read, memory stays as it is until the next change.
        try? catalogChanged(change)
      }
      lastCommit.withLock { $0 = commit.number }
    }
  }

  private func catalogChanged(_ change: CatalogChange) throws {
    switch change {
    case .everything: try everythingChanged()
    case .searches, .search: try readSearches()
    case .results(search: let id), .result(_, search: let id): try readResults(ofSearch: id)
    case .hiddenInSearch(let result, let episode):
      apply(.hiddenInSearch(episode: episode, result: result))
      try readRows([NodeID(.result, result)])
    case .subscriptions: try readSubscriptions()
    case .subscription(let id, let podcast): try readSubscription(id, of: podcast)
    case .podcast(let id), .facts(podcast: let id): try podcastChanged(id)
    case .newEpisodes(let podcast, let first, let last):
      try readEpisodes(Array(first...last))
      try recordNew(Array(first...last), of: podcast)
    case .refreshed(let id, _): try podcastRefreshed(id)
    case .episode(let id):
      details.forget(id)
      try readEpisodes([id])
      // What is played has left the queue.
      if state.withLock({ $0.views.queue[id] != nil }) { try queueChanged() }
      try readRows(state.withLock { $0.folders(showing: EpisodeID.podcast(of: id)) })
    case .queue: try queueChanged()
    case .texts:
      state.withLock { $0.views.outdate(where: \.needsIndex) }
    case .synchronized(let added, let removed, let episodes):
      events.recordSynchronized(added: added, removed: removed, episodes: episodes)
    case .sidecar(let number): sidecarChanged(NodeID(rawValue: UInt64(number)))
    }
    freshenViewsSoon()
  }

  private func everythingChanged() throws {
    try readQueue()
    try readSearches()
    for id in state.withLock({ Array($0.results.keys) }) { try readResults(ofSearch: id) }
    try readSubscriptions()
    for id in state.withLock({ Array($0.podcasts.keys) }) { try podcastChanged(id) }
    transfersChanged(state.withLock { Array($0.statuses.keys) })
  }

  func readResults(ofSearch id: Int64) throws {
    let new = try catalog.results(ofSearch: id).map { Folder($0) }
    let old = state.withLock { $0.results[id] ?? [] }
    let podcasts = Set((old + new).map(\.podcast)).filter { id in state.withLock { $0.podcasts[id] != nil } }
    var shown: [Int64: [Int64: Set<Int64>]] = [:]
    let found = try catalog.results(showing: Array(podcasts))
    for podcast in podcasts { shown[podcast] = found[podcast] ?? [:] }
    apply(.results(search: id, try catalog.search(id), new, shown: shown))
    let view = NodeID(.search, id)
    if state.withLock({ $0.views.queries[view] != nil && $0.listings[view] != nil }) { try loadView(view) }
  }

  /// Seconds that an empty directory of `Downloaded/` stays: `rm -r` removes it last.
  private static let lifetimeOfRemoved = 10.0
  func readSubscriptions() throws { try setSubscriptions(try catalog.subscriptions().map { Folder($0) }) }

  private func readSubscription(_ id: Int64, of podcast: Int64) throws {
    guard let known = state.withLock({ $0.subscriptions }) else { return try readSubscriptions() }
    let now = try catalog.subscription(id).map { Folder($0) }
    try setSubscriptions(known.filter { $0.id != id && $0.podcast != podcast } + (now.map { [$0] } ?? []))
  }

  private func setSubscriptions(_ folders: [Folder]) throws {
    let old = state.withLock { state in state.subscriptions.map { Set($0.map(\.podcast)) } }
    apply(.subscriptions(folders, try catalog.folderTimes()))
    guard let old else { return }
    for folder in folders where !old.contains(folder.podcast) { fetchCover(ofPodcast: folder.podcast) }
  }

  /// Reads the rows of directories that say when their podcast last listed something else.
  private func readRows(_ nodes: [NodeID]) throws {
    for node in nodes where state.withLock({ $0.folders[node] != nil }) {
      let row = try node.kind == .result ? catalog.result(node.row) : catalog.subscription(node.row)
      if let row { apply(.folder(node, Folder(row))) }
    }
  }

  private func podcastChanged(_ id: Int64) throws {
    details.forget(podcast: id)
    let old = state.withLock { $0.podcasts[id] }
    let record = try catalog.podcast(id)
    if let old {
      let entry = try record.map { try readEntries([$0], withEpisodes: old.episodes != nil)[0] }
      apply(.podcast(id, entry))
      if (entry?.episodes?.count ?? 0) > 1000 { SpareMemory.giveBackSoon(on: loader) }
      if old.isFetched, let new = entry?.episodes?.map(\.id) {
        try recordNew(new.filter { old.episode($0) == nil }, of: id)
      }
    } else {
      state.withLock { $0.noteChanged(podcast: id) }
    }
    transfersChanged(
      state.withLock { state in
        let unowned = state.statuses.keys.filter { state.downloadOfKey[$0] == nil }
        return unowned + state.downloads.values.filter { $0.podcast == id }.map(\.mediaKey)
      })
    if record == nil { apply(.emptied(NodeID(.downloadedPodcast, id))) }
    try readRows(state.withLock { $0.folders(showing: id) })
    fetchCover(ofPodcast: id)
  }

  func readEpisodes(_ ids: [Int64]) throws {
    guard let first = ids.first else { return }
    let isInMemory = state.withLock { $0.podcasts[EpisodeID.podcast(of: first)] != nil }
    let episodes = try loadListed(catalog.episodes(ids))
    defer { if !isInMemory { state.withLock { $0.forgetUnshown() } } }
    apply(.episodes(episodes))
    // A lost catalogue knows them again: they may have been downloaded before.
    transfersChanged(
      state.withLock { state in
        episodes.map(\.mediaKey).filter { state.statuses[$0] != nil && state.downloadOfKey[$0] == nil }
      })
  }

  private func podcastRefreshed(_ id: Int64) throws {
    guard let podcast = try catalog.podcast(id) else { return }
    let known = state.withLock { $0.podcasts[id] }
    if let known, !known.isFetched, podcast.isFetched { return try podcastChanged(id) }
    apply(.refreshed(podcast: id, next: podcast.nextRefresh))
    try readRows(state.withLock { $0.folders(showing: id) })
    if events.hasReaders { events.record(refreshed: podcast) }
  }

  private func recordNew(_ ids: [Int64], of podcast: Int64) throws {
    guard events.hasReaders, state.withLock({ $0.followed[podcast] != nil }),
      let record = try catalog.podcast(podcast)
    else { return }
    events.record(new: try catalog.episodes(ids), of: record)
  }

  func transferChanged(_ key: MediaKey) {
    let known = state.withLock { state in state.downloadOfKey[key].flatMap { state.downloads[$0] } }
    if let known { return take(transfers.status(of: key), key, known) }
    transfersChanged([key])
  }

  /// After two podcasts were merged a download may belong to another episode, or to none.
  private func transfersChanged(_ keys: [MediaKey]) {
    guard !keys.isEmpty, let entries = try? catalog.entries(forKeys: keys) else { return }
    for key in keys {
      let former = state.withLock { $0.downloadOfKey[key] }
      take(transfers.status(of: key), key, entries[key].flatMap { try? loadListed([$0])[0] })
      if let former { removeSoonIfEmpty(EpisodeID.podcast(of: former)) }
    }
  }

  private func take(_ status: TransferStatus?, _ key: MediaKey, _ episode: ListedEpisode?) {
    if status?.isEpisode == false { return }
    let old = state.withLock { $0.statuses[key] }
    apply(.transfer(key, status, episode))
    if let status { report(status, before: old) }
    if status?.state == .cached, old?.state != .cached, let episode { fetchTranscript(of: episode) }
    if let episode { removeSoonIfEmpty(episode.podcast) }
  }

  private func removeSoonIfEmpty(_ podcast: Int64) {
    let folder = NodeID(.downloadedPodcast, podcast)
    guard state.withLock({ $0.views[folder]?.count == 0 }) else { return }
    loader.async(after: Self.lifetimeOfRemoved) { [weak self] in self?.apply(.emptied(folder)) }
  }

  private func report(_ status: TransferStatus, before old: TransferStatus?) {
    let isChange = old?.state != status.state && !(old == nil && status.state == .remote)
    // A download that is complete when it is first reported may have been complete for long.
    let isNew = old.map { $0.state != .cached || $0.generation != status.generation }
    let isCompletion = status.state == .cached && isNew ?? (status.changed >= started.sinceEpoch)
    let handler = isCompletion ? completed.withLock { $0 } : nil
    guard isChange && events.hasReaders || handler != nil,
      let entry = (try? catalog.entries(forKeys: [status.key]))?[status.key]
    else { return }
    if isChange { events.record(status, of: entry) }
    handler?((entry, status))
  }

  private func queueChanged() throws {
    try readQueue()
    try downloadAhead()
  }

  /// Orders the next episodes of the queue, each once: what the user drops or cancels stays away while it is in the queue.
  func downloadAhead() throws {
    let next = try catalog.queuedToOrder(amongFirst: settings.queueAhead)
    let episodes = Dictionary(uniqueKeysWithValues: try catalog.episodes(next).map { ($0.id, $0) })
    for episode in next.compactMap({ episodes[$0] }) where !episode.isReplaced {
      guard let podcast = try catalog.podcast(episode.podcastID) else { continue }
      let isAbsent = state.withLock { $0.statuses[episode.mediaKey]?.stage ?? .absent } == .absent
      if !isAbsent {
        try catalog.noteOrderedAhead(episode.id)
        continue
      }
      let request = request(for: EpisodeEntry(episode: episode, podcast: podcast))
      transfers.order(.start(request)) { [self] failure in
        if failure == nil { loader.async { try? self.catalog.noteOrderedAhead(episode.id) } }
      }
    }
  }
}
