internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// mkdir, rmdir, rm and mv, as far as PRODUCT.md gives them a meaning; everything else changes nothing.
extension PodcastTree {
  /// Search for what the directory is called.
  package func makeDirectory(
    _ name: String, in parent: NodeID, for caller: Caller
  ) -> Answer<NodeAttributes> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    guard parent == .search else { return .failure(.EROFS) }
    // What file managers make everywhere for what is thrown away.
    if name.hasPrefix(".Trash") { return .failure(.EPERM) }
    if state.withLock({ $0.searches.contains { $0.name == name } }) { return .failure(.EEXIST) }
    return search(name, replacing: nil).map { self.attributes(of: $0) }
  }

  private func search(_ name: String, replacing old: Int64?) -> Answer<Search> {
    Answer<Search>.pending { completion in
      let task = self.catalog.search(name, replacing: old) { result in
        completion(result.mapError(\.errnoForReader))
      }
      return { task.cancel() }
    }.then { search in
      .on(self.loader) {
        try self.loadSearches()
        try self.loadResults(ofSearch: search.id)
        try self.reloadAppearances()
        self.invalidate([.listing(.search), .listing(NodeID(.search, search.id))])
        return search
      }
    }
  }

  package func removeDirectory(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<Void> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    return lookup(name, in: parent, for: caller).then { found in
      let row = found.node.row
      guard found.isDirectory else { return .failure(.ENOTDIR) }
      switch found.node.kind {
      case .search:
        return .on(self.loader) {
          try self.catalog.forgetSearch(row)
          try self.searchesChanged()
        }
      case .result:
        return .on(self.loader) {
          try self.catalog.hideResult(row)
          try self.resultsChanged(parent.row)
        }
      case .subscription:
        return .on(self.loader) {
          try self.catalog.unsubscribe(row)
          try self.subscriptionsChanged()
        }
      case .downloadedPodcast:
        // It goes by itself with its last episode; `rm -r` then finds nothing left to remove.
        guard self.downloadedEntries(ofPodcast: row).isEmpty else { return .failure(.ENOTEMPTY) }
        self.state.withLock { _ = $0.emptied.removeValue(forKey: row) }
        return .value(())
      default: return .failure(.EPERM)
      }
    }
  }

  package func remove(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<Void> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    return lookup(name, in: parent, for: caller).then { found in
      if found.isDirectory { return .failure(.EISDIR) }
      if found.node.kind == .upload { return self.removeUpload(found.node) }
      switch found.node.kind {
      case .episode: return self.entry(ofEpisode: found.node.row).then { self.remove($0, from: parent) }
      case .cover, .transcript, .chapters, .notes: return self.removeSidecar(found.node, from: parent)
      default: return .failure(.EPERM)
      }
    }
  }

  private func remove(_ entry: EpisodeEntry, from parent: NodeID) -> Answer<Void> {
    let episode = entry.episode
    switch parent.kind {
    case .result:
      return .on(loader) {
        try self.catalog.hideInSearch(result: parent.row, episode: episode.id)
        try self.loadAppearances(ofPodcast: episode.podcastID)
        self.invalidate([.listing(parent), .attributes(self.node(of: entry))])
      }
    case .subscription:
      return hide(entry).then { self.dropDownload(of: entry) }
    case .fixed where parent == .latest:
      return hide(entry).then { self.dropDownload(of: entry) }
    case .downloadedPodcast, .fixed: return dropDownload(of: entry)
    default: return .failure(.EPERM)
    }
  }

  private func hide(_ entry: EpisodeEntry) -> Answer<Void> {
    .on(loader) {
      try self.catalog.hide(episode: entry.episode.id)
      try self.podcastChanged(entry.podcast.id)
    }
  }

  /// Stops or drops the download: now, or when the last reader closes it.
  private func dropDownload(of entry: EpisodeEntry) -> Answer<Void> {
    let (episode, key) = (entry.episode.id, entry.episode.mediaKey)
    if TreeState.Standing(transfers.status(of: key)).view == .none { return .value(()) }
    let isOpen = state.withLock { state in
      guard state.openCounts[episode] != nil else { return false }
      state.dropsAtClose.insert(episode)
      return true
    }
    if isOpen {
      invalidate(names(of: entry))
      return .value(())
    }
    return Answer<Void>.order { self.transfers.drop(key, completion: $0) }.then {
      .on(self.loader) { self.transferChanged(key) }
    }
  }

  private func removeUpload(_ node: NodeID) -> Answer<Void> {
    state.withLock { _ = $0.uploads.removeValue(forKey: node.row) }
    invalidate([.listing(.subscriptions)])
    return .value(())
  }

  /// - Parameter flags: of renameat2(2).
  package func rename(
    _ name: String, in parent: NodeID, to newName: String, in newParent: NodeID, flags: UInt32,
    for caller: Caller
  ) -> Answer<Void> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    let exchange: UInt32 = 2
    if flags & exchange != 0 { return .failure(.EINVAL) }
    if parent == newParent && name == newName { return .value(()) }
    return lookup(name, in: parent, for: caller).then { found in
      switch found.node.kind {
      case .search where newParent == .search:
        if newName.hasPrefix(".Trash") { return .failure(.EPERM) }
        if self.state.withLock({ $0.searches.contains { $0.name == newName } }) { return .failure(.EEXIST) }
        return self.search(newName, replacing: found.node.row).map { _ in
          self.invalidate([.name(name, in: .search), .name(newName, in: .search)])
        }
      case .result where newParent == .subscriptions:
        return self.subscribe(result: found.node.row, named: newName, in: parent)
      default: return .failure(.EPERM)
      }
    }
  }

  private func subscribe(result id: Int64, named name: String, in search: NodeID) -> Answer<Void> {
    if state.withLock({ $0.subscriptions.contains { $0.name == name } }) || name == Self.subscriptionListName
    {
      return .failure(.EEXIST)
    }
    return .on(loader) {
      let entry = try self.catalog.subscribe(result: id, name: name)
      try self.resultsChanged(search.row)
      try self.subscriptionsChanged()
      // The kernel moves the result's node to the new name; the subscription has one of its own.
      self.invalidate([.name(name, in: .subscriptions), .name(entry.name, in: .subscriptions)])
    }
  }

  /// chmod, chown, utimes, truncate.
  /// - Parameter size: the new size where it is to change.
  package func change(
    _ node: NodeID, size: Int64?, onlyTimes: Bool, for caller: Caller
  ) -> Answer<NodeAttributes> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    switch node.kind {
    case .upload:
      if let size, let errno = state.withLock({ $0.uploads[node.row] })?.truncate(to: size) {
        return .failure(errno)
      }
      return attributes(of: node)
    case .fixed where node == .subscriptionList && (size == 0 || onlyTimes): return attributes(of: node)
    default: return .failure(size == nil ? .EPERM : .EROFS)
    }
  }

  // MARK: access(2)

  /// - Parameter mask: R_OK, W_OK, X_OK of unistd.h.
  package func access(_ node: NodeID, mask: Int32, for caller: Caller) -> Answer<Void> {
    attributes(of: node).then { attributes in
      let isPrivate = attributes.permissions & 0o077 == 0
      if isPrivate && !self.owner.admits(caller) { return .failure(.EACCES) }
      if mask & 1 != 0 && !attributes.isDirectory { return .failure(.EACCES) }
      if mask & 2 != 0 {
        if !self.owner.admits(caller) { return .failure(.EACCES) }
        if !Self.hasVerbs(node) { return .failure(.EROFS) }
      }
      return .value(())
    }
  }

  /// Whether something can be done to the node, or in the directory.
  private static func hasVerbs(_ node: NodeID) -> Bool {
    switch node.kind {
    case .fixed:
      [.search, .subscriptions, .latest, .downloading, .downloaded, .subscriptionList].contains(node)
    case .cover, .transcript, .chapters, .notes, nil: false
    default: true
    }
  }
}
