internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The mount's root.
struct RootFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .root }
  var hasVerbs: Bool { false }

  static let names: [(String, NodeID)] = [
    ("Downloaded", .downloaded), ("Downloading", .downloading), ("Latest", .latest), ("Search", .search),
    ("Subscriptions", .subscriptions),
  ]
  /// Opens by name but is not listed, so that cp -r and grep -r don't wait in it.
  private static let controlName = ".podcastfs"

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    if name == Self.controlName { return .value(.node(.control)) }
    let found = Self.names.first { $0.0 == name }
    return found.map { .value(.node($0.1)) } ?? .failure(.ENOENT)
  }

  func extendedAttributes() -> Answer<AttributeList> {
    let (cached, counts) = tree.state.withLock { ($0.cachedBytes, $0.stateCounts) }
    var list = AttributeList()
    list.add("version", podcastfsVersion)
    list.add("cache_bytes", String(cached))
    list.add("cache_limit", String(tree.settings.cacheSize))
    list.add("active", String(counts[.downloading] ?? 0))
    list.add("queued", String(counts[.queued] ?? 0))
    return .value(list)
  }
}

/// `.podcastfs/`: for the owner alone.
struct ControlFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .control }
  var hasVerbs: Bool { false }

  private static let names: [(String, NodeID)] = [
    ("events", .events), ("gauges", .gauges), ("log", .log), ("status.json", .status),
  ]

  func listing(for caller: Caller) -> Answer<Listing> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    return .value(Listing(Self.names.map { Listing.Item($0.0, .node($0.1)) }))
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    let found = Self.names.first { $0.0 == name }
    return found.map { .value(.node($0.1)) } ?? .failure(.ENOENT)
  }
}
