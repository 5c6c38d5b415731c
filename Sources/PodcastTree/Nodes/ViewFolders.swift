internal import Catalog
internal import PodcastModel
internal import PosixKit

/// `Latest/`: the newest episodes of all subscriptions.
struct LatestFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .latest }

  /// What it is made of decides when it last changed.
  func exists(_ world: World) -> Bool? { world.subscriptions != nil ? true : nil }
  func load() throws {
    try tree.loadLatest()
    try tree.freshenLatest()
  }
  func modified(_ world: World) -> FileTime { world.latestTime ?? tree.started }
  func items(_ world: World) -> [Listing.Item]? { world.latest?.view.items }

  func listing(for caller: Caller) -> Answer<Listing> {
    let found = tree.world.withLock { world in world.latest?.isStale == false ? world.listings[id] : nil }
    if let found { return .value(found) }
    return .on(tree.loader) {
      try load()
      return try tree.makeListing(self)
    }
  }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    guard case .episode(let episode) = target else { return .failure(.EPERM) }
    return tree.hideAndDrop(episode)
  }
}

/// `Downloading/`: what is queued, under way, paused or failed.
struct DownloadingFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .downloading }

  func exists(_ world: World) -> Bool? { true }
  func load() {}
  func modified(_ world: World) -> FileTime { world.downloads.changed[id] ?? tree.started }
  func items(_ world: World) -> [Listing.Item]? { world.downloads.downloading.items }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    guard case .episode(let episode) = target else { return .failure(.EPERM) }
    return tree.dropDownload(of: episode)
  }
}

/// `Downloaded/`: a directory for each podcast of which something is wholly here.
struct DownloadedFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .downloaded }

  func exists(_ world: World) -> Bool? { true }
  func load() {}
  func modified(_ world: World) -> FileTime { world.downloads.changed[id] ?? tree.started }
  func items(_ world: World) -> [Listing.Item]? {
    world.downloads.downloaded.map { podcast, folder in
      Listing.Item(
        name: folder.name,
        target: .node(NodeID(.downloadedPodcast, podcast)))
    }
  }

  /// Only where it is empty: `rm -r` removes the episodes first.
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> {
    .on(tree.loader) {
      if !tree.removeEmptyFolder(target.identity.row) { throw Errno.ENOTEMPTY }
    }
  }
}

/// `Downloaded/PODCAST/`: what is wholly here, sidecars too.
struct DownloadedPodcastFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  func exists(_ world: World) -> Bool? { true }
  func load() {}
  func modified(_ world: World) -> FileTime { world.downloads.downloaded[id.row]?.changed ?? tree.started }
  func items(_ world: World) -> [Listing.Item]? {
    guard let folder = world.downloads.downloaded[id.row] else { return [] }
    let episodes = Array(folder.episodes.values)
    let sidecars = episodes.flatMap(\.sidecars) + [world.downloads.cover(of: id.row)].compactMap(\.self)
    return tree.items(episodes, sidecars: sidecars.filter { tree.isHere($0) }, cover: nil)
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    listing(for: caller).then { listing in
      if let target = listing[name] ?? besideGone(name) { return .value(target) }
      // Only where the cover is here, too.
      let showsCover =
        tree.world.withLock { $0.downloads.cover(of: id.row).map { listing[$0.name] != nil } } ?? false
      return name == FolderIcon.name && showsCover
        ? FolderIcon.target(of: id.row, in: tree) : .failure(.ENOENT)
    }
  }

  /// What is here beside an episode that has just gone: see `Downloads.Folder.gone`.
  private func besideGone(_ name: String) -> Target? {
    let gone = tree.world.withLock { $0.downloads.downloaded[id.row]?.gone.values.flatMap(\.sidecars) } ?? []
    return gone.first { $0.name == name && tree.isHere($0) }.map { .sidecar($0) }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    tree.podcast(id.row).map { tree.attributeList(of: $0, in: id) }
  }

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    switch target {
    case .episode(let episode): tree.dropDownload(of: episode)
    case .sidecar(let sidecar): tree.removeCopy(of: sidecar, podcast: id.row, from: id)
    case .node: .failure(.EPERM)
    }
  }
}
