internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What stat(2) shows.
extension PodcastTree {
  package func attributes(of node: NodeID) -> Answer<NodeAttributes> {
    switch node.kind {
    case .fixed: return fixedAttributes(node).map { .value($0) } ?? .failure(.ENOENT)
    case .search:
      let search = state.withLock { $0.searches.first { $0.id == node.row } }
      return search.map { .value(attributes(of: $0)) } ?? .failure(.ENOENT)
    case .result, .subscription, .downloadedPodcast:
      return podcast(shownBy: node).map { self.directory(node, modified: $0.lastRefresh) }
    case .episode: return entry(ofEpisode: node.row).map { self.attributes(of: $0, node: node) }
    case .upload: return uploadAttributes(node)
    case .cover, .transcript, .chapters, .notes: return sidecar(node).map { self.attributes(of: $0) }
    case nil: return .failure(.ENOENT)
    }
  }

  /// The podcast that a directory or a cover shows.
  func podcast(shownBy node: NodeID) -> Answer<Podcast> {
    guard let id = podcastID(shownBy: node) else { return .failure(.ENOENT) }
    let found = state.withLock { state -> Podcast? in
      if let shelf = state.shelves[id] { return shelf.podcast }
      if let entry = state.subscription(ofPodcast: id) { return entry.podcast }
      if let entry = state.downloaded[id]?.first { return entry.podcast }
      guard node.kind == .result else { return nil }
      return state.results.values.lazy.flatMap { $0 }.first { $0.podcast.id == id }?.podcast
    }
    if let found { return .value(found) }
    return .on(loader) {
      guard let podcast = try self.catalog.podcast(id) else { throw Errno.ENOENT }
      return podcast
    }
  }

  func podcastID(shownBy node: NodeID) -> Int64? {
    switch node.kind {
    case .result: state.withLock { $0.podcastOfResult[node.row] }
    case .subscription: state.withLock { $0.podcastOfSubscription[node.row] }
    case .downloadedPodcast, .cover: node.row
    default: nil
    }
  }

  func directory(_ node: NodeID, modified: Int64? = nil, permissions: UInt32 = 0o755) -> NodeAttributes {
    var attributes = NodeAttributes(node: node, isDirectory: true, permissions: permissions)
    attributes.size = 4096
    attributes.modified = modified ?? started
    attributes.changed = attributes.modified
    return attributes
  }

  func attributes(of search: Search) -> NodeAttributes {
    directory(NodeID(.search, search.id), modified: search.searched)
  }

  private func fixedAttributes(_ node: NodeID) -> NodeAttributes? {
    switch node {
    case .root, .search, .subscriptions, .latest, .downloading, .downloaded: directory(node)
    case .control: directory(node, permissions: 0o700)
    case .status, .events, .log, .subscriptionList: controlFileAttributes(node)
    default: nil
    }
  }

  /// The node of an episode as it is now: a new representation is a new node.
  func node(of entry: EpisodeEntry) -> NodeID {
    Self.node(of: entry.episode, transfers.status(of: entry.episode.mediaKey))
  }

  static func node(of episode: Episode, _ status: TransferStatus?) -> NodeID {
    node(of: episode, generation: status?.generation ?? 0, size: status?.total)
  }

  /// - Parameter size: the exact one, nil while it is not known.
  static func node(of episode: Episode, generation: UInt32, size: Int64?) -> NodeID {
    let kind: NodeID.Size =
      if let size { size == EpisodeSize(episode, nil).bytes ? .asShown : .corrected } else {
        generation > 0 ? .unknown : .asShown
      }
    return NodeID(.episode, episode.id, generation: generation, size: kind)
  }

  func attributes(of entry: EpisodeEntry, node: NodeID? = nil) -> NodeAttributes {
    let status = transfers.status(of: entry.episode.mediaKey)
    let current = Self.node(of: entry.episode, status)
    var attributes = NodeAttributes(node: node ?? current, isDirectory: false, permissions: 0o444)
    // Who has it open keeps its size: another one's would cut its reads off, or show it zeros behind its end.
    let open = state.withLock { $0.openSizes[attributes.node]?.bytes }
    let size = EpisodeSize(entry.episode, status)
    attributes.size = open ?? (attributes.node.isOfUnknownSize ? size.whileUnknown : size.bytes)
    attributes.stored = status?.received ?? 0
    attributes.modified = entry.episode.published
    attributes.changed = max(entry.episode.published, status?.changed ?? 0)
    attributes.links = UInt32(max(1, linkCount(of: entry, status)))
    if let state = status?.state, state == .queued || state == .downloading { attributes.timeout = 1 }
    return attributes
  }

  /// How many views show the episode.
  private func linkCount(of entry: EpisodeEntry, _ status: TransferStatus?) -> Int {
    let (podcast, episode) = (entry.podcast.id, entry.episode.id)
    return state.withLock { state in
      var count = state.appearances[podcast]?.hidden.values.count { !$0.contains(episode) } ?? 0
      if !entry.episode.hidden && state.subscription(ofPodcast: podcast) != nil { count += 1 }
      if state.latest.contains(episode: episode) { count += 1 }
      if !state.dropsAtClose.contains(episode), TreeState.Standing(status).view != .none { count += 1 }
      return count
    }
  }
}
