internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What follows from changes that were made elsewhere: by the daemon, a refresh, another mount, the command
/// line. All of it runs on the loader's thread.
extension PodcastTree {
  func transferChanged(_ key: MediaKey) {
    let status = transfers.status(of: key)
    if state.withLock({ $0.known[key] == nil }) {
      do { try loadKnown([key]) } catch { return }
    }
    let changes = state.withLock {
      state -> (entry: EpisodeEntry, old: TreeState.Standing?, new: TreeState.Standing)? in
      guard let entry = state.known[key] else { return nil }
      var new = TreeState.Standing(status)
      new.node = Self.node(of: entry.episode, status)
      let old = state.standing.updateValue(new, forKey: key)
      return (entry, old, new)
    }
    guard let (entry, old, new) = changes else { return }
    var invalidations: [Invalidation] = [
      .attributes(Self.node(of: entry.episode, status))
    ]
    let before = old?.node ?? Self.node(of: entry.episode, nil)
    if before != new.node {
      // A new representation is a new node: every name of the old one leads there now.
      invalidations.append(.attributes(before))
      invalidations += names(of: entry)
    }
    if (old?.view ?? .none) != new.view {
      invalidations += moveBetweenViews(entry, from: old?.view, to: new.view)
    }
    invalidate(invalidations)
    guard let status, old != new else { return }
    if old?.state != new.state { events.record(status, of: entry) }
    // What is first heard of when it is complete may have been so for long.
    if new.state == .cached, old != nil || status.changed >= started {
      completed.withLock { $0 }?((entry, status))
    }
  }

  private func moveBetweenViews(
    _ entry: EpisodeEntry, from old: TreeState.Standing.View?, to new: TreeState.Standing.View
  ) -> [Invalidation] {
    var invalidations: [Invalidation] = [.listing(.root)]
    let folder = NodeID(.downloadedPodcast, entry.podcast.id)
    let before = state.withLock { $0.downloading.name(ofEpisode: entry.episode.id) }
    rebuildDownloads()
    if old == .downloading || new == .downloading { invalidations.append(.listing(.downloading)) }
    if let before { invalidations.append(.name(before, in: .downloading)) }
    if old == .downloaded || new == .downloaded {
      invalidations += [.listing(.downloaded), .listing(folder), .name(entry.episode.fileName, in: folder)]
      // An emptied folder can be looked up for a while yet: `rm -r` wants to remove it.
      state.withLock { state in
        let isEmpty = state.downloaded[entry.podcast.id] == nil
        state.emptied[entry.podcast.id] = isEmpty ? .after(Self.emptiedLifetime) : nil
      }
    }
    return invalidations
  }

  /// How long a folder of `Downloaded/` without episodes can be looked up, in seconds.
  static let emptiedLifetime = 10.0

  /// Which episodes `Downloading/` and `Downloaded/` show. What was last told to the kernel (`standing`) is
  /// not touched: each change has an event of its own.
  func rebuildDownloads() {
    let statuses = transfers.allStatuses()
    state.withLock { state in
      var downloading: [EpisodeEntry] = []
      var downloaded: [Int64: [EpisodeEntry]] = [:]
      for status in statuses {
        guard let entry = state.known[status.key] else { continue }
        switch TreeState.Standing(status).view {
        case .downloading: downloading.append(entry)
        case .downloaded: downloaded[entry.podcast.id, default: []].append(entry)
        case .none: break
        }
      }
      state.downloading = ViewListing(downloading)
      state.downloaded = downloaded
    }
  }

  /// Every name under which the views show an episode.
  func names(of entry: EpisodeEntry) -> [Invalidation] {
    let id = entry.episode.id
    return state.withLock { state in
      var names: [Invalidation] = directories(showing: entry.podcast.id, state).flatMap {
        [.name(entry.episode.fileName, in: $0), .listing($0)]
      }
      for (view, node) in [(state.latest, NodeID.latest), (state.downloading, .downloading)] {
        if let name = view.name(ofEpisode: id) { names += [.name(name, in: node), .listing(node)] }
      }
      return names
    }
  }

  private func directories(showing podcast: Int64, _ state: TreeState) -> [NodeID] {
    var nodes = (state.appearances[podcast]?.hidden.keys).map { $0.map { NodeID(.result, $0) } } ?? []
    if let entry = state.subscription(ofPodcast: podcast) { nodes.append(NodeID(.subscription, entry.id)) }
    nodes.append(NodeID(.downloadedPodcast, podcast))
    return nodes
  }

  // MARK: The catalogue

  func catalogChanged(_ change: CatalogChange) {
    do {
      switch change {
      case .everything:
        try searchesChanged()
        for id in state.withLock({ Array($0.results.keys) }) { try resultsChanged(id) }
        try subscriptionsChanged()
        for id in state.withLock({ Array($0.shelves.keys) }) { try podcastChanged(id) }
      case .searches, .search: try searchesChanged()
      case .results(search: let id), .result(_, search: let id): try resultsChanged(id)
      case .hiddenInSearch(_, let episode):
        if let episode = try catalog.episode(episode) { try podcastChanged(episode.podcastID) }
      case .subscriptions, .subscription: try subscriptionsChanged()
      case .podcast(let id), .facts(podcast: let id), .newEpisodes(podcast: let id, _, _):
        try podcastChanged(id)
      case .refreshed(let id, _): try podcastRefreshed(id)
      case .episode(let id):
        if let episode = try catalog.episode(id) { try podcastChanged(episode.podcastID) }
      }
    } catch {
      // The catalogue can't be read at this moment: what is in memory stays until the next change.
    }
  }

  func searchesChanged() throws {
    let before = state.withLock { $0.searches }
    try loadSearches()
    let after = state.withLock { $0.searches }
    let names = Set(after.map { Name($0.name, $0.id) })
    let gone = before.filter { !names.contains(Name($0.name, $0.id)) }
    state.withLock { state in
      for search in before where !after.contains(where: { $0.id == search.id }) {
        state.results[search.id] = nil
      }
    }
    try reloadAppearances()
    invalidate([.listing(.search)] + gone.map { .name($0.name, in: .search) })
  }

  func resultsChanged(_ id: Int64) throws {
    let before = state.withLock { $0.results[id] } ?? []
    let after = try loadResults(ofSearch: id)
    try reloadAppearances()
    let names = Set(after.map { Name($0.name, $0.id) })
    let gone = before.filter { !names.contains(Name($0.name, $0.id)) }
    let node = NodeID(.search, id)
    invalidate([.listing(node)] + gone.map { .name($0.name, in: node) })
  }

  func subscriptionsChanged() throws {
    let before = state.withLock { $0.subscriptions }
    try loadSubscriptions()
    try loadLatest()
    let after = state.withLock { $0.subscriptions }
    let names = Set(after.map { Name($0.name, $0.id) })
    let gone = before.filter { !names.contains(Name($0.name, $0.id)) }
    invalidate(
      [.listing(.subscriptions), .listing(.latest), .attributes(.subscriptionList)]
        + gone.map { .name($0.name, in: .subscriptions) })
  }

  func podcastChanged(_ id: Int64) throws {
    guard let record = try catalog.podcast(id) else { return }
    let (shelf, isSubscribed) = state.withLock { ($0.shelves[id], $0.subscription(ofPodcast: id) != nil) }
    var invalidations: [Invalidation] = []
    if let old = shelf {
      let new = try loadShelf(id)
      let names = Set(new.episodes.map(\.fileName))
      let nodes = state.withLock { directories(showing: id, $0) }
      for node in nodes {
        invalidations.append(.listing(node))
        for episode in old.episodes
        where !names.contains(episode.fileName)
          || new.episode(episode.id).map({ shows($0, in: node) }) != true
        {
          invalidations.append(.name(episode.fileName, in: node))
        }
      }
      for episode in new.episodes where old.episode(episode.id) != episode {
        invalidations.append(.attributes(node(of: new.entry(episode))))
      }
      if isSubscribed { events.record(new: new.episodes.filter { old.episode($0.id) == nil }, of: record) }
    } else {
      try loadAppearances(ofPodcast: id)
    }
    let keys = state.withLock { state in state.known.filter { $0.value.podcast.id == id }.map(\.key) }
    if !keys.isEmpty { try loadKnown(keys) }
    if isSubscribed {
      try loadSubscriptions()
      try loadLatest()
      invalidations.append(.listing(.latest))
    }
    invalidate(invalidations)
  }

  private func podcastRefreshed(_ id: Int64) throws {
    guard let podcast = try catalog.podcast(id) else { return }
    let isStale = state.withLock { state in state.shelves[id].map { $0.podcast != podcast } ?? false }
    if isStale { try podcastChanged(id) }
    events.record(refreshed: podcast)
    try keepEpisodes(ofPodcast: id)
  }

  func reloadAppearances() throws {
    for podcast in state.withLock({ Array($0.appearances.keys) }) { try loadAppearances(ofPodcast: podcast) }
  }

  /// A name and what it stands for.
  private struct Name: Hashable {
    var name: String
    var id: Int64
    init(_ name: String, _ id: Int64) {
      self.name = name
      self.id = id
    }
  }
}
