internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Sync
internal import TransferProtocol

/// The mount's root, and `.podcastfs/`, which is for the owner alone.
struct FixedFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { false }

  static let names: [NodeID: [(String, NodeID)]] = [
    .root: [
      ("Discover", .discover), ("Downloaded", .downloaded), ("Downloading", .downloading),
      ("Latest", .latest), ("Queue", .queue), ("Search", .search),
      ("Subscriptions", .subscriptions),
    ],
    .control: [("events", .events), ("log", .log), ("metrics", .metrics), ("status.json", .status)],
  ]
  /// Opens by name but is not listed, so that cp -r and grep -r don't wait in it.
  private static let controlName = ".podcastfs"

  func listing(for caller: Caller) -> Answer<Listing> {
    if id == .control && !tree.owner.admits(caller) { return .failure(.EACCES) }
    if id == .root { freshen() }
    return tree.listing(of: id) {}.map { listing in
      var listing = listing
      // Nothing tells a mount that the offline directory was installed: each listing of the root looks.
      listing.isCacheable = id != .root
      return listing
    }
  }

  /// `Discover/` is listed where the offline directory is installed.
  private func freshen() {
    let hasDirectory = tree.catalog.hasDirectory
    tree.state.withLock { state in
      if state.hasDirectory != hasDirectory { state.listings[.root] = nil }
      state.hasDirectory = hasDirectory
    }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    if id == .root && name == Self.controlName { return .value(.node(.control)) }
    if name == "Discover", !tree.catalog.hasDirectory { return .failure(.ENOENT) }
    let found = Self.names[id]?.first { $0.0 == name }
    return found.map { .value(.node($0.1)) } ?? .failure(.ENOENT)
  }

  func extendedAttributes() -> Answer<AttributeList> {
    var list = AttributeList()
    if id == .control { return .value(list) }
    let (cached, active, queued) = tree.state.withLock {
      ($0.cachedBytes, $0.count(of: .downloading), $0.count(of: .queued))
    }
    list.add("version", podcastfsVersion)
    list.add("cache_bytes", String(cached))
    list.add("cache_limit", String(tree.settings.cacheSize))
    list.add("active", String(active))
    list.add("queued", String(queued))
    let steering = tree.transfers.steering
    list.add("limit_rate", String(steering.limitRate ?? tree.settings.limitRate ?? 0))
    list.add("paused", steering.isPaused ? "1" : "0")
    return .on(tree.loader) { [list] in
      guard let sync = try tree.catalog.syncStatus(tree.settings.sync) else { return list }
      var list = list
      list.add("sync_last", sync.last.map { CivilTime.iso8601($0) })
      list.add("sync_error", sync.error)
      list.add("sync_pending", String(sync.pending))
      return list
    }
  }

  /// `limit_rate` and `paused` are for all background downloads of the user.
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> {
    guard id == .root else { return .failure(.EPERM) }
    var steering = tree.transfers.steering
    switch key {
    case "limit_rate":
      guard let rate = Settings.rate(value) else { return .failure(.EINVAL) }
      steering.limitRate = rate
    case "paused":
      guard let flag = ["0": false, "1": true][value] else { return .failure(.EINVAL) }
      steering.isPaused = flag
    default: return .failure(.EPERM)
    }
    return .on(tree.loader) { [steering] in try tree.transfers.steer(steering) }
  }
}
