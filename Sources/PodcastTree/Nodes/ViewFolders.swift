internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// A folder of episodes that a query selects: `Latest/`, `Queue/`, `Downloading/` with its folders, each podcast's in
/// `Downloaded/`, and searches for episodes.
struct ViewFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  /// What it is made of decides when it last changed.
  func load() throws { if isRead { try tree.loadView(id) } }

  private var isRead: Bool { id == .latest || id.kind == .search }

  func listing(for caller: Caller) -> Answer<Listing> {
    let isStale = isRead && tree.state.withLock { $0.isStale(id) ?? true }
    return (isStale ? Answer.on(tree.loader) { try load() } : .value(())).then {
      tree.listing(of: id) { try load() }
    }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    listing(for: caller).then { listing in
      if let target = listing[name] { return .value(target) }
      if id.kind != .downloadedPodcast { return .failure(.ENOENT) }
      return Answer.on(tree.loader) { try tree.loadEpisodes(ofPodcast: id.row) }.then { _ in
        tree.unlisted(name, ofPodcast: id.row) { state, sidecar in state.isHere(sidecar) }
      }
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    if id.kind != .downloadedPodcast { return .value(AttributeList()) }
    return tree.podcast(id.row).map { tree.attributeList(of: $0, in: id) }
  }

  func create(_ name: String) -> Answer<CreatedFile> {
    id.kind == .downloadedPodcast ? tree.createTranscript(name, ofPodcast: id.row) : .failure(.EROFS)
  }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    switch target {
    case .episode(let episode) where isRead:
      tree.markAndDrop(episode) { try tree.catalog.setPlayed($0, episode: episode.id) }
    case .episode(let episode) where id == .queue:
      tree.commit { try tree.catalog.removeFromQueue([episode.id]) }
    case .episode(let episode): tree.dropDownload(of: episode)
    case .sidecar(let sidecar): tree.removeCopy(of: sidecar)
    case .node: .failure(.EPERM)
    }
  }

  func take(_ episode: ListedEpisode, for caller: Caller) -> Answer<Void> {
    let node = EpisodeNode(tree: tree, id: NodeID(.episode, episode.id))
    return switch id {
    case .downloading: node.set("state", to: TransferState.downloading.name, for: caller)
    case .paused: node.set("state", to: TransferState.paused.name, for: caller)
    case .queue: tree.commit { try tree.catalog.appendToQueue([episode.id]) }
    default: .failure(.EROFS)
    }
  }

  /// The number at the beginning of the new name is the episode's new place.
  func reorder(_ episode: ListedEpisode, to newName: String) -> Answer<Void> {
    guard id == .queue, let place = Int(newName.prefix { $0.isASCII && $0.isNumber }) else {
      return .failure(.EPERM)
    }
    return tree.commit { try tree.catalog.moveInQueue(episode.id, to: place) }
  }
}

/// `Downloaded/`: a directory for each podcast of which something is wholly here.
struct DownloadedFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .downloaded }

  /// Only where it is empty: `rm -r` removes the episodes first.
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> {
    .on(tree.loader) {
      if tree.state.withLock({ $0.views[target.identity]?.count ?? 0 }) > 0 { throw Errno.ENOTEMPTY }
      tree.apply(.emptied(target.identity))
    }
  }
}
