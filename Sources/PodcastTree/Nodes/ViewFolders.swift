internal import PodcastModel
internal import PosixKit

/// A directory of episodes that a query selects: `Latest/`, `Downloading/`, and each podcast's in `Downloaded/`.
struct ViewFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  /// What it is made of decides when it last changed.
  func load() throws { if id == .latest { try tree.loadLatest() } }

  func listing(for caller: Caller) -> Answer<Listing> {
    let isStale = id == .latest && tree.state.withLock { tree.isLatestStale($0) ?? true }
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

  func create(_ name: String) -> Answer<(attributes: NodeAttributes, file: any OpenFile)> {
    id.kind == .downloadedPodcast ? tree.createTranscript(name, ofPodcast: id.row) : .failure(.EROFS)
  }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    switch target {
    case .episode(let episode):
      id == .latest ? tree.markPlayedAndDrop(episode) : tree.dropDownload(of: episode)
    case .sidecar(let sidecar): tree.removeCopy(of: sidecar)
    case .node: .failure(.EPERM)
    }
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
