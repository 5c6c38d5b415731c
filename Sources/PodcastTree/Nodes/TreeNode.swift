internal import PodcastModel
internal import PosixKit

/// A kind of node: what it is, what opening it gives, and what each verb means for it. `PodcastTree.node` is the only
/// place that tells the kinds apart.
protocol TreeNode: Sendable {
  var tree: PodcastTree { get }
  var id: NodeID { get }

  func attributes() -> Answer<NodeAttributes>
  /// - Parameter writes: whether it is opened for writing or to be cut.
  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile>
  /// What getfattr lists, in that order.
  func extendedAttributes() -> Answer<AttributeList>
  /// One of them; nil where it has none of that name.
  func extendedAttribute(_ name: String) -> Answer<String?>
  /// - Parameter key: the name without "user.podcastfs.".
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void>
  /// chmod, chown, utimes, truncate.
  /// - Parameter size: the new size where it is to change.
  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes>
  /// Whether something can be done to it, or in it: access(W_OK).
  var hasVerbs: Bool { get }
}

extension TreeNode {
  func extendedAttributes() -> Answer<AttributeList> { .value(AttributeList()) }
  func extendedAttribute(_ name: String) -> Answer<String?> { extendedAttributes().map { $0.value(name) } }
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> { .failure(.EPERM) }
  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    .failure(size == nil ? .EPERM : .EROFS)
  }
  var hasVerbs: Bool { true }
}

protocol FolderNode: TreeNode {
  /// Reads the rows that its listing and its time need. On the loader's thread.
  func load() throws
  func listing(for caller: Caller) -> Answer<Listing>
  func lookup(_ name: String, for caller: Caller) -> Answer<Target>

  func makeDirectory(_ name: String) -> Answer<NodeAttributes>
  func create(_ name: String) -> Answer<CreatedFile>
  /// unlink(2) of one of its names.
  func remove(_ name: String, _ target: Target) -> Answer<Void>
  /// rmdir(2) of one of its names.
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void>
  /// What an episode's rename(2) or link(2) to it orders.
  func take(_ episode: ListedEpisode, for caller: Caller) -> Answer<Void>
  /// rename(2) of one of its episodes within it.
  func reorder(_ episode: ListedEpisode, to newName: String) -> Answer<Void>
  /// rename(2) of one of its other names.
  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void>
}

extension FolderNode {
  func load() throws {}

  func attributes() -> Answer<NodeAttributes> {
    @Sendable func find() -> Answer<NodeAttributes>? {
      let presence = tree.state.withLock { $0.presence(of: id) }
      switch presence {
      case .unread: return nil
      case .gone: return .failure(.ENOENT)
      case .there: return .value(tree.directoryAttributes(id, presence))
      }
    }
    if let found = find() { return found }
    return Answer.on(tree.loader) { try load() }.then { find() ?? .failure(.ENOENT) }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> { .failure(.EISDIR) }

  func listing(for caller: Caller) -> Answer<Listing> { tree.listing(of: id) { try load() } }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    listing(for: caller).then { listing in
      listing[name].map { .value($0) } ?? .failure(.ENOENT)
    }
  }

  func makeDirectory(_ name: String) -> Answer<NodeAttributes> { .failure(.EROFS) }
  func create(_ name: String) -> Answer<CreatedFile> { .failure(.EROFS) }
  func remove(_ name: String, _ target: Target) -> Answer<Void> { .failure(.EPERM) }
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> { .failure(.EPERM) }
  func take(_ episode: ListedEpisode, for caller: Caller) -> Answer<Void> { .failure(.EROFS) }
  func reorder(_ episode: ListedEpisode, to newName: String) -> Answer<Void> { .failure(.EPERM) }
  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void> {
    .failure(.EPERM)
  }
}

extension PodcastTree {
  /// What a number stands for: the one place that tells the kinds apart.
  func node(_ id: NodeID) -> (any TreeNode)? {
    switch id.kind {
    case .fixed: fixedNode(id)
    case .search: SearchFolder(tree: self, id: id)
    case .result, .subscription: PodcastFolder(tree: self, id: id)
    case .downloadedPodcast: ViewFolder(tree: self, id: id)
    case .episode: EpisodeNode(tree: self, id: id)
    case .cover, .transcript, .chapters, .notes: SidecarNode(tree: self, id: id)
    case .upload: UploadNode(tree: self, id: id)
    case nil: nil
    }
  }

  private func fixedNode(_ id: NodeID) -> (any TreeNode)? {
    switch id {
    case .search: SearchesFolder(tree: self)
    case .discover: DiscoverFolder(tree: self)
    case .subscriptions: SubscriptionsFolder(tree: self)
    case .latest, .downloading, .paused, .failed, .queue: ViewFolder(tree: self, id: id)
    case .downloaded: DownloadedFolder(tree: self)
    case .root, .control: FixedFolder(tree: self, id: id)
    case .status, .events, .metrics, .log: ControlFile(tree: self, id: id)
    case .subscriptionList: SubscriptionListFile(tree: self)
    default: nil
    }
  }

  /// Why a user can't call a directory so; nil where he can. Never EINVAL, which mv(1) takes for a directory that is to
  /// be moved into itself.
  func refusal(ofName name: String) -> Errno? {
    if name.utf8.count > 255 { return .ENAMETOOLONG }
    // What programs make everywhere for themselves (".Trash-1000") is no search and no podcast.
    if name.hasPrefix(".") { return .EPERM }
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      let category = scalar.properties.generalCategory
      return category != .control && category != .lineSeparator && category != .paragraphSeparator
    }
    return isPlain ? nil : .EILSEQ
  }

  /// Why a subscription can't be called so: it has a name as the tree gives them, also on Windows and Samba, and none
  /// of a list's.
  func refusal(ofSubscription name: String) -> Errno? {
    if let errno = refusal(ofName: name) { return errno }
    if name.utf8.count > EpisodeName.byteLimit { return .ENAMETOOLONG }
    if EpisodeName.isDirectoryName(name) && !name.lowercased().hasSuffix(".opml") { return nil }
    return EpisodeName.hasForbiddenCharacters(name) ? .EILSEQ : .EPERM
  }

  func folder(_ id: NodeID) -> (any FolderNode)? { node(id) as? any FolderNode }
}
