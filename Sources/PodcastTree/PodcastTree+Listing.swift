internal import Catalog
internal import PodcastModel
internal import PosixKit

/// What directories list.
extension PodcastTree {
  package func openDirectory(_ node: NodeID, for caller: Caller) -> Answer<DirectorySnapshot> {
    switch node.kind {
    case .fixed: return openFixed(node, for: caller)
    case .search:
      guard state.withLock({ $0.searches.contains { $0.id == node.row } }) else { return .failure(.ENOENT) }
      return results(ofSearch: node.row).map { results in
        self.snapshot(node, results.map { self.item($0, .result) })
      }
    case .result, .subscription:
      guard let podcast = podcastID(shownBy: node) else { return .failure(.ENOENT) }
      return shelf(podcast, for: caller).map { shelf in
        guard let shelf else { return DirectorySnapshot(node: node, items: [], isCacheable: false) }
        self.refreshIfDue(shelf.podcast, caller)
        return self.snapshot(node, self.items(of: shelf, in: node))
      }
    case .downloadedPodcast:
      return .value(
        snapshot(
          node,
          downloadedEntries(ofPodcast: node.row).map { entry in
            DirectoryItem(name: entry.episode.fileName, attributes: self.attributes(of: entry))
          } + downloadedSidecarItems(ofPodcast: node.row)))
    default: return .failure(.ENOTDIR)
    }
  }

  private func openFixed(_ node: NodeID, for caller: Caller) -> Answer<DirectorySnapshot> {
    switch node {
    case .root:
      // The control directory opens by name but is not listed, so that cp -r and grep -r don't wait in it.
      let visible: [(String, NodeID)] = [
        ("Downloaded", .downloaded), ("Downloading", .downloading), ("Latest", .latest), ("Search", .search),
        ("Subscriptions", .subscriptions),
      ]
      return .value(
        snapshot(node, visible.map { DirectoryItem(name: $0.0, attributes: directory($0.1)) }))
    case .search:
      let searches = state.withLock { $0.searches }
      return .value(
        snapshot(node, searches.map { DirectoryItem(name: $0.name, attributes: attributes(of: $0)) }))
    case .subscriptions:
      var items = state.withLock { $0.subscriptions }.map { item($0, .subscription) }
      items += uploadItems()
      items.append(
        DirectoryItem(name: Self.subscriptionListName, attributes: controlFileAttributes(.subscriptionList)))
      return .value(snapshot(node, items))
    case .latest, .downloading:
      let items = view(node).items.filter { isListed($0.entry, in: node) }
      return .value(
        snapshot(node, items.map { DirectoryItem(name: $0.name, attributes: attributes(of: $0.entry)) }))
    case .downloaded:
      let podcasts = state.withLock { $0.downloaded.compactMapValues(\.first?.podcast) }
      let shown = podcasts.filter { !downloadedEntries(ofPodcast: $0.key).isEmpty }
      return .value(
        snapshot(
          node,
          shown.map { id, podcast in
            DirectoryItem(
              name: podcast.name,
              attributes: directory(NodeID(.downloadedPodcast, id), modified: podcast.lastRefresh))
          }))
    case .control:
      guard owner.admits(caller) else { return .failure(.EACCES) }
      return .value(
        snapshot(
          node,
          Self.controlNames.map { DirectoryItem(name: $0.key, attributes: controlFileAttributes($0.value)) }))
    default: return .failure(.ENOTDIR)
    }
  }

  private func snapshot(_ node: NodeID, _ items: [DirectoryItem]) -> DirectorySnapshot {
    DirectorySnapshot(node: node, items: items.sorted { $0.name < $1.name })
  }

  private func item(_ entry: ListedPodcast, _ kind: NodeID.Kind) -> DirectoryItem {
    DirectoryItem(
      name: entry.name, attributes: directory(NodeID(kind, entry.id), modified: entry.podcast.lastRefresh))
  }

  private func items(of shelf: Shelf, in node: NodeID) -> [DirectoryItem] {
    let episodes = shelf.episodes.filter { shows($0, in: node) }
    return episodes.map { episode in
      DirectoryItem(name: episode.fileName, attributes: attributes(of: shelf.entry(episode)))
    } + sidecarItems(of: shelf, in: node)
  }

  /// A listing is shown as it is; where its feed is due, it is fetched behind.
  private func refreshIfDue(_ podcast: Podcast, _ caller: Caller) {
    guard let due = podcast.nextRefresh, due <= wallClockSeconds(), !isBarred(caller) else { return }
    _ = catalog.refresh(podcast: podcast.id, cause: .due) { _ in }
  }
}
