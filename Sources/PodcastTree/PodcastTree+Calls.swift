internal import Configuration
internal import PodcastModel
internal import PosixKit

extension PodcastTree {
  package func attributes(of node: NodeID) -> Answer<NodeAttributes> {
    self.node(node)?.attributes() ?? .failure(.ENOENT)
  }

  package func lookup(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<NodeAttributes> {
    // The kernel looks these up for an NFS server that has only a node's number.
    if name == "." { return attributes(of: parent) }
    if name == ".." { return self.parent(of: parent).then { self.attributes(of: $0) } }
    if name.utf8.count > 255 { return .failure(.ENAMETOOLONG) }
    guard let folder = folder(parent) else { return .failure(node(parent) == nil ? .ENOENT : .ENOTDIR) }
    return folder.lookup(name, for: caller).then { target in
      if parent == .root || parent == .search { self.prepare(target.identity) }
      // Its size is computed when it is asked for.
      if target.identity == .subscriptionList { return self.attributes(of: .subscriptionList) }
      let isEpisode = if case .episode = target { true } else { false }
      let known = isEpisode ? self.linksKnown : .value(())
      return known.map { self.attributes(of: [target])[0] }
    }
  }

  /// Reads a directory, and the one that it is in, without the network. It may be watched without ever being listed:
  /// watchers hear of differences to what it lists now.
  package func prepare(_ node: NodeID) {
    if state.withLock({ $0.listings[node] != nil }) { return }
    loader.async { [self] in
      try? loadPlace(of: node)
      try? load(node)
      _ = state.withLock { $0.listing(of: node) }
    }
  }

  private func parent(of node: NodeID) -> Answer<NodeID> {
    if node == .root { return .value(.root) }
    return .inMemory(or: loader) {
      self.state.withLock { $0.place(of: node)?.parent }
    } load: {
      try self.loadPlace(of: node)
    }
  }

  /// The rows that say which directory a node is in.
  private func loadPlace(of node: NodeID) throws {
    try loadSubscriptions()
    try loadSearches()
    guard node.kind == .result else { return }
    for search in state.withLock({ $0.searches ?? [] }) { try loadResults(ofSearch: search.id) }
  }

  package func path(of directory: NodeID) -> [String]? { state.withLock { $0.path(of: directory) } }

  /// - Parameter truncates: whether the file loses what it has (O_TRUNC).
  package func open(
    _ node: NodeID, writes: Bool, truncates: Bool = false, for caller: Caller
  ) -> Answer<any OpenFile> {
    guard let found = self.node(node) else { return .failure(.ENOENT) }
    return found.open(writes: writes, for: caller).map { file in
      if truncates { (file as? Upload)?.empty() }
      return file
    }
  }

  package func change(
    _ node: NodeID, size: Int64?, onlyTimes: Bool, for caller: Caller
  ) -> Answer<NodeAttributes> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    return self.node(node)?.change(size: size, onlyTimes: onlyTimes) ?? .failure(.ENOENT)
  }

  /// access(2).
  /// - Parameter mask: R_OK, W_OK, X_OK of unistd.h.
  package func access(_ node: NodeID, mask: Int32, for caller: Caller) -> Answer<Void> {
    attributes(of: node).then { attributes in
      let isPrivate = attributes.permissions & 0o077 == 0
      if isPrivate && !self.owner.admits(caller) { return .failure(.EACCES) }
      if mask & 1 != 0 && !attributes.isDirectory { return .failure(.EACCES) }
      if mask & 2 != 0 {
        if !self.owner.admits(caller) { return .failure(.EACCES) }
        if self.node(node)?.hasVerbs != true { return .failure(.EROFS) }
      }
      return .value(())
    }
  }

  /// - Returns: ENODATA where it has none of that name, EOPNOTSUPP outside `user.`.
  package func extendedAttribute(_ name: String, of node: NodeID) -> Answer<[UInt8]> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    guard let found = self.node(node) else { return .failure(.ENOENT) }
    return found.extendedAttribute(name).then { value in
      guard let value, !value.isEmpty else { return .failure(.ENODATA) }
      return .value(Array(value.utf8))
    }
  }

  /// The names, each followed by a NUL, as listxattr(2) gives them.
  package func extendedAttributeNames(of node: NodeID) -> Answer<[UInt8]> {
    guard let found = self.node(node) else { return .failure(.ENOENT) }
    return found.extendedAttributes().map { $0.items.flatMap { Array($0.name.utf8) + [0] } }
  }

  /// - Parameter flags: XATTR_CREATE, XATTR_REPLACE (setxattr(2)).
  package func setExtendedAttribute(
    _ name: String, to value: [UInt8], of node: NodeID, flags: Int32 = 0, for caller: Caller
  ) -> Answer<Void> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    guard owner.admits(caller) else { return .failure(.EACCES) }
    let isTags = name == EpisodeAttributes.tags
    guard isTags || name.hasPrefix(AttributeList.prefix), let found = self.node(node) else {
      return .failure(.EPERM)
    }
    guard let text = String(validating: value, as: UTF8.self) else { return .failure(.EINVAL) }
    let key = isTags ? name : String(name.dropFirst(AttributeList.prefix.count))
    if flags == 0 { return found.set(key, to: text, for: caller) }
    return found.extendedAttribute(name).then { value in
      let (creates, replaces): (Int32, Int32) = (1, 2)
      if flags & creates != 0, value != nil { return .failure(.EEXIST) }
      if flags & replaces != 0, value == nil { return .failure(.ENODATA) }
      return found.set(key, to: text, for: caller)
    }
  }

  /// Ours are computed: none can be removed, but for positions and rules.
  package func removeExtendedAttribute(_ name: String, of node: NodeID, for caller: Caller) -> Answer<Void> {
    guard name.hasPrefix("user.") else { return .failure(.EOPNOTSUPP) }
    let key = String(name.dropFirst(AttributeList.prefix.count))
    let none = key == "position" ? "0" : SubscriptionRules.Key(rawValue: key) == nil ? nil : ""
    return extendedAttribute(name, of: node).then { _ in
      guard let none else { return .failure(.EPERM) }
      return self.setExtendedAttribute(name, to: Array(none.utf8), of: node, for: caller)
    }
  }

  /// In bytes. Less room on the disk lowers only what is available.
  package func statistics() -> (total: Int64, free: Int64, available: Int64) {
    let used = state.withLock { $0.cachedBytes }
    let free = max(0, settings.cacheSize - used)
    let room = DiskSpace.available(at: places.cache).map { max(0, $0 - settings.minimumFree) } ?? free
    return (settings.cacheSize, free, min(free, room))
  }
}
