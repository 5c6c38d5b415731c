internal import Configuration
internal import PodcastModel
internal import PosixKit

/// From a name in a directory to its node.
extension PodcastTree {
  package func lookup(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<NodeAttributes> {
    switch parent.kind {
    case .fixed: return lookupInFixed(name, parent)
    case .search:
      return results(ofSearch: parent.row).then { results in
        guard let entry = results.first(where: { $0.name == name }) else { return .failure(.ENOENT) }
        return .value(self.directory(NodeID(.result, entry.id), modified: entry.podcast.lastRefresh))
      }
    case .result, .subscription:
      // No name of ours begins like this: file managers look for such files everywhere, and must not fetch
      // a feed for it.
      if name.hasPrefix(".") { return .failure(.ENOENT) }
      guard let podcast = podcastID(shownBy: parent) else { return .failure(.ENOENT) }
      return shelf(podcast, for: caller).then { shelf in
        if let shelf, let episode = shelf.episode(named: name), self.shows(episode, in: parent) {
          return .value(self.attributes(of: shelf.entry(episode)))
        }
        // Also where the episode is hidden: `rm -r` has hidden it when it comes to remove its sidecars.
        let sidecar = shelf?.sidecar(named: name, self.settings.sidecars)
        return sidecar.map { .value(self.attributes(of: $0)) } ?? .failure(.ENOENT)
      }
    case .downloadedPodcast:
      let entry = downloadedEntries(ofPodcast: parent.row).first { $0.episode.fileName == name }
      let found = entry.map { attributes(of: $0) } ?? downloadedSidecar(named: name, ofPodcast: parent.row)
      return found.map { .value($0) } ?? .failure(.ENOENT)
    default: return .failure(.ENOTDIR)
    }
  }

  private func lookupInFixed(_ name: String, _ parent: NodeID) -> Answer<NodeAttributes> {
    switch parent {
    case .root:
      guard let node = Self.rootNames[name] else { return .failure(.ENOENT) }
      return attributes(of: node)
    case .search:
      let search = state.withLock { $0.searches.first { $0.name == name } }
      return search.map { .value(attributes(of: $0)) } ?? .failure(.ENOENT)
    case .subscriptions:
      if name == Self.subscriptionListName { return attributes(of: .subscriptionList) }
      if let upload = upload(named: name) { return attributes(of: upload) }
      let entry = state.withLock { $0.subscriptions.first { $0.name == name } }
      guard let entry else { return .failure(.ENOENT) }
      return .value(directory(NodeID(.subscription, entry.id), modified: entry.podcast.lastRefresh))
    case .latest, .downloading:
      guard let entry = view(parent).entry(named: name), isListed(entry, in: parent) else {
        return .failure(.ENOENT)
      }
      return .value(attributes(of: entry))
    case .downloaded:
      return lookupInDownloaded(name)
    case .control:
      guard let node = Self.controlNames[name] else { return .failure(.ENOENT) }
      return attributes(of: node)
    default: return .failure(.ENOTDIR)
    }
  }

  private func lookupInDownloaded(_ name: String) -> Answer<NodeAttributes> {
    let podcast = state.withLock { state -> Int64? in
      let now = MonotonicTime.now
      state.emptied = state.emptied.filter { $0.value > now }
      return state.known.values.first {
        let id = $0.podcast.id
        return $0.podcast.name == name && (state.downloaded[id] != nil || state.emptied[id] != nil)
      }?.podcast.id
    }
    guard let podcast else { return .failure(.ENOENT) }
    return attributes(of: NodeID(.downloadedPodcast, podcast))
  }

  static let subscriptionListName = "subscriptions.opml"

  static let rootNames: [String: NodeID] = [
    "Search": .search, "Subscriptions": .subscriptions, "Latest": .latest, "Downloading": .downloading,
    "Downloaded": .downloaded, ".podcastfs": .control,
  ]

  static let controlNames: [String: NodeID] = ["status.json": .status, "events": .events, "log": .log]

  func view(_ node: NodeID) -> ViewListing {
    state.withLock { node == .latest ? $0.latest : $0.downloading }
  }

  /// Whether a podcast's directory shows one of its episodes.
  func shows(_ episode: Episode, in directory: NodeID) -> Bool {
    switch directory.kind {
    case .subscription: return !episode.hidden
    case .result:
      return state.withLock { state in
        state.appearances[episode.podcastID]?.hidden[directory.row]?.contains(episode.id) != true
      }
    default: return true
    }
  }

  /// Removed downloads that somebody still has open are listed no more.
  func isListed(_ entry: EpisodeEntry, in view: NodeID) -> Bool {
    view == .latest || state.withLock { !$0.dropsAtClose.contains(entry.episode.id) }
  }

  func downloadedEntries(ofPodcast id: Int64) -> [EpisodeEntry] {
    state.withLock { state in
      state.downloaded[id]?.filter { !state.dropsAtClose.contains($0.episode.id) } ?? []
    }
  }
}
