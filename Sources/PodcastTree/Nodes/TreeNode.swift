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
  /// One of them, where it can be computed without the others; nil: take it from `extendedAttributes`.
  func extendedAttribute(_ name: String) -> Answer<String?>?
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
  func extendedAttribute(_ name: String) -> Answer<String?>? { nil }
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> { .failure(.EPERM) }
  func change(size: Int64?, onlyTimes: Bool) -> Answer<NodeAttributes> {
    .failure(size == nil ? .EPERM : .EROFS)
  }
  var hasVerbs: Bool { true }
}

/// A directory.
protocol FolderNode: TreeNode {
  /// What it lists; nil where the rows are not in memory: see `load`.
  func items(_ world: World) -> [Listing.Item]?
  /// When what it lists last changed.
  func modified(_ world: World) -> FileTime
  /// Reads the rows that `items` needs. On the loader's thread.
  func load() throws
  /// Whether it exists; nil where memory does not say: ask after `load`.
  func exists(_ world: World) -> Bool?

  func listing(for caller: Caller) -> Answer<Listing>
  func lookup(_ name: String, for caller: Caller) -> Answer<Target>

  func makeDirectory(_ name: String) -> Answer<NodeAttributes>
  func create(_ name: String) -> Answer<(attributes: NodeAttributes, file: any OpenFile)>
  /// unlink(2) of one of its names.
  func remove(_ name: String, _ target: Target) -> Answer<Void>
  /// rmdir(2) of one of its names.
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void>
  /// rename(2) of one of its names.
  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void>
}

extension FolderNode {
  func attributes() -> Answer<NodeAttributes> {
    let known = tree.world.withLock { world -> NodeAttributes?? in
      guard let exists = exists(world) else { return nil }
      return .some(exists ? tree.directory(id, modified(world), world) : nil)
    }
    if let known { return known.map { .value($0) } ?? .failure(.ENOENT) }
    return .on(tree.loader) {
      try load()
      return try tree.world.withLock { world in
        guard exists(world) == true else { throw Errno.ENOENT }
        return tree.directory(id, modified(world), world)
      }
    }
  }

  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> { .failure(.EISDIR) }

  func listing(for caller: Caller) -> Answer<Listing> {
    let found = tree.world.withLock { world -> Listing? in
      guard let listing = world.listings[id] else { return nil }
      world.touch(id)
      return listing
    }
    if let found { return .value(found) }
    return .on(tree.loader) {
      try load()
      return try tree.makeListing(self)
    }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    listing(for: caller).then { listing in
      listing[name].map { .value($0) } ?? .failure(.ENOENT)
    }
  }

  func makeDirectory(_ name: String) -> Answer<NodeAttributes> { .failure(.EROFS) }
  func create(_ name: String) -> Answer<(attributes: NodeAttributes, file: any OpenFile)> { .failure(.EROFS) }
  func remove(_ name: String, _ target: Target) -> Answer<Void> { .failure(.EPERM) }
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> { .failure(.EPERM) }
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
    case .result: ResultFolder(tree: self, id: id)
    case .subscription: SubscriptionFolder(tree: self, id: id)
    case .downloadedPodcast: DownloadedPodcastFolder(tree: self, id: id)
    case .episode: EpisodeNode(tree: self, id: id)
    case .cover, .transcript, .chapters, .notes: SidecarNode(tree: self, id: id)
    case .upload: UploadNode(tree: self, id: id)
    case .icon: FolderIcon(tree: self, id: id)
    case nil: nil
    }
  }

  private func fixedNode(_ id: NodeID) -> (any TreeNode)? {
    switch id {
    case .root: RootFolder(tree: self)
    case .search: SearchesFolder(tree: self)
    case .subscriptions: SubscriptionsFolder(tree: self)
    case .latest: LatestFolder(tree: self)
    case .downloading: DownloadingFolder(tree: self)
    case .downloaded: DownloadedFolder(tree: self)
    case .control: ControlFolder(tree: self)
    case .status, .events, .gauges, .log: ControlFile(tree: self, id: id)
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

  /// What stat(2) shows of a directory.
  func directory(_ id: NodeID, _ modified: FileTime, _ world: World) -> NodeAttributes {
    var attributes = NodeAttributes(
      node: id, isDirectory: true, permissions: id == .control ? 0o700 : 0o755)
    attributes.size = 4096
    attributes.modified = modified
    attributes.changed = attributes.modified
    return attributes
  }

  /// Of a directory, or a file that is one of a kind.
  func attributes(of id: NodeID, _ world: World) -> NodeAttributes {
    if let folder = folder(id) {
      var attributes = directory(id, folder.modified(world), world)
      // What decides its time has not been read: the kernel asks for it when somebody looks.
      if folder.exists(world) == nil { attributes.timeout = 0 }
      return attributes
    }
    if id.kind == .upload { return uploadAttributes(id, world) }
    if id.kind == .icon { return iconAttributes(id) }
    return controlFileAttributes(id, world)
  }
}
