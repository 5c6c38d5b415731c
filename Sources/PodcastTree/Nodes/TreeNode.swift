internal import PodcastModel
internal import PosixKit

/// A kind of node: what it is, and what opening it gives. `PodcastTree.node` is the only place that tells the kinds apart;
/// Verbs.swift says what the verbs mean.
protocol TreeNode: Sendable {
  var tree: PodcastTree { get }
  var id: NodeID { get }
  func attributes() -> Answer<NodeAttributes>
  /// - Parameter writes: whether it is opened for writing or to be cut.
  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile>
  /// What getfattr lists, in that order.
  func extendedAttributes() -> Answer<AttributeList>
  func extendedAttribute(_ name: String) -> Answer<String?>
  /// - Parameter key: the name without "user.podcastfs.".
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void>
  /// Whether something can be done to it, or in it: access(W_OK).
  var hasVerbs: Bool { get }
}

extension TreeNode {
  func extendedAttributes() -> Answer<AttributeList> { .value(AttributeList()) }
  func extendedAttribute(_ name: String) -> Answer<String?> { extendedAttributes().map { $0.value(name) } }
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> { .failure(.EPERM) }
  var hasVerbs: Bool { true }

  /// chmod, chown, utimes, truncate. What is being copied can be cut. Programs that copy set times and permissions at the
  /// end, which are not kept.
  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    if let upload = tree.state.withLock({ $0.uploads[id] }) {
      return size.flatMap { upload.truncate(to: $0) }.map { .failure($0) } ?? attributes()
    }
    if size == nil, id.ending != nil || id == .subscriptionList && onlyTimes { return attributes() }
    return .failure(size == nil ? .EPERM : .EROFS)
  }
}

protocol FolderNode: TreeNode {
  func listing(for caller: Caller) -> Answer<Listing>
  func lookup(_ name: String, for caller: Caller) -> Answer<Target>
}

extension FolderNode {
  func attributes() -> Answer<NodeAttributes> {
    Answer.inMemory(or: tree.loader) {
      tree.state.withLock { $0.presence(of: id) }
    } load: {
      try tree.load(id)
    }.then { presence in .ready(presence.map { tree.directoryAttributes(id, changed: $0) }) }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> { .failure(.EISDIR) }
}

extension PodcastTree {
  func node(_ id: NodeID) -> (any TreeNode)? {
    switch id.kind {
    case .fixed:
      switch id {
      case .root, .control: FixedFolder(tree: self, id: id)
      case .search, .discover, .subscriptions, .downloaded, .latest, .downloading, .paused, .failed, .queue:
        ViewFolder(tree: self, id: id)
      case .status, .events, .metrics, .log, .subscriptionList: ControlFile(tree: self, id: id)
      default: nil
      }
    case .search: SearchFolder(tree: self, id: id)
    case .result, .subscription: PodcastFolder(tree: self, id: id)
    case .downloadedPodcast: ViewFolder(tree: self, id: id)
    case .episode: EpisodeNode(tree: self, id: id)
    case .cover, .transcript, .chapters, .notes: SidecarNode(tree: self, id: id)
    case .upload: UploadNode(tree: self, id: id)
    case nil: nil
    }
  }

  func folder(_ id: NodeID) -> (any FolderNode)? { node(id) as? any FolderNode }
}
