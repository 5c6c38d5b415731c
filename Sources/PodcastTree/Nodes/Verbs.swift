internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What mkdir, cp, rm, rmdir, mv and ln mean, by what they are done to and in which folder. A verb commits, or gives an
/// order to the transfers; no verb says what the kernel has to forget.
extension PodcastTree {
  package func makeDirectory(
    _ name: String, in parent: NodeID, for caller: Caller
  ) -> Answer<NodeAttributes> {
    verb(in: parent, caller) { _ in
      if parent != .search { return .failure(.EROFS) }
      return search(for: name, replacing: nil).then { self.attributes(of: NodeID(.search, $0.id)) }
    }
  }

  package func create(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<CreatedFile> {
    verb(in: parent, caller) { _ in
      switch (parent, parent.kind) {
      case (.subscriptions, _):
        if let errno = refusal(ofName: name) { return .failure(errno) }
        return isFree(name).then { self.createUpload(name) }
      case (_, .result), (_, .subscription), (_, .downloadedPodcast):
        return createTranscript(name, in: parent)
      default: return .failure(.EROFS)
      }
    }
  }

  package func remove(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<Void> {
    verb(on: name, in: parent, caller) { target in
      switch (target, parent.kind) {
      case _ where target.isDirectory: .failure(.EISDIR)
      case (.episode(let episode), .subscription):
        self.markAndDrop(episode) { try self.catalog.setHidden($0, episode: episode.id) }
      case (.episode(let episode), .result):
        self.commit { try self.catalog.hideInSearch(result: parent.row, episode: episode.id) }
      case (.episode(let episode), .search),
        (.episode(let episode), _) where parent == .latest:
        self.markAndDrop(episode) { try self.catalog.setPlayed($0, episode: episode.id) }
      case (.episode(let episode), _) where parent == .queue:
        self.commit { try self.catalog.removeFromQueue([episode.id]) }
      case (.episode(let episode), _): self.dropDownload(of: episode)
      case (.sidecar(let sidecar), _): self.removeCopy(of: sidecar)
      case (.node(let node), _) where node.kind == .upload: self.removeUpload(node)
      default: .failure(.EPERM)
      }
    }
  }

  package func removeDirectory(_ name: String, in parent: NodeID, for caller: Caller) -> Answer<Void> {
    verb(on: name, in: parent, caller) { target in
      let (id, row) = (target.identity, target.identity.row)
      if !target.isDirectory { return .failure(.ENOTDIR) }
      switch id.kind {
      // A language's folder leaves its category until a program looks it up again.
      case .search where parent != .discover: return self.commit { try self.catalog.forgetSearch(row) }
      case .result: return self.commit { try self.catalog.hideResult(row) }
      case .subscription: return self.commit { try self.catalog.unsubscribe(row) }
      // Only where it is empty: `rm -r` removes the episodes first.
      case .downloadedPodcast:
        return .on(self.loader) {
          if self.state.withLock({ $0.views[id]?.count ?? 0 }) > 0 { throw Errno.ENOTEMPTY }
          self.apply(.emptied(id))
        }
      default: return .failure(.EPERM)
      }
    }
  }

  package func rename(
    _ name: String, in parent: NodeID, to newName: String, in newParent: NodeID, flags: UInt32,
    for caller: Caller
  ) -> Answer<Void> {
    verb(on: name, in: parent, caller) { target in
      let exchange: UInt32 = 2
      if flags & exchange != 0 { return .failure(.EINVAL) }
      if parent == newParent && name == newName { return .value(()) }
      if case .episode(let episode) = target {
        let done =
          parent == newParent
          ? self.reorder(episode, in: parent, to: newName)
          : self.take(episode, into: newParent, for: caller, refusal: .EPERM)
        return done.then { self.correct(episode, was: (parent, name), becomes: (newParent, newName)) }
      }
      let id = target.identity
      switch (id.kind, newParent) {
      case (.search, .search) where parent == .search:
        return self.listing(of: .search) { try self.loadSearches() }.then { listing in
          if listing[newName] != nil { return .failure(.EEXIST) }
          return self.search(for: newName, replacing: id.row).map { _ in }
        }
      case (.result, .subscriptions): return self.follow(id, name, in: parent, as: newName)
      case (.subscription, .subscriptions):
        if let errno = self.refusal(ofSubscription: newName) { return .failure(errno) }
        return self.isFree(newName).then {
          self.commit { try self.catalog.rename(subscription: id.row, to: newName) }
        }
      // File managers copy under a temporary name.
      case (.upload, .subscriptions):
        if let errno = self.refusal(ofName: newName) { return .failure(errno) }
        return self.isFree(newName).then { self.renameUpload(id, to: newName) }
      default: return .failure(.EPERM)
      }
    }
  }

  package func link(_ node: NodeID, _ name: String, in parent: NodeID, for caller: Caller) -> Answer<
    NodeAttributes
  > {
    verb(in: parent, caller) { _ in
      if node.kind != .episode { return .failure(.EROFS) }
      return listed(node.row).then { episode in
        self.take(episode, into: parent, for: caller, refusal: .EROFS).then {
          self.correct(episode, was: nil, becomes: (parent, name))
        }
      }.then { self.attributes(of: node) }
    }
  }

  private func verb(
    on name: String, in parent: NodeID, _ caller: Caller,
    _ body: @escaping @Sendable (Target) -> Answer<Void>
  ) -> Answer<Void> { verb(in: parent, caller) { folder in folder.lookup(name, for: caller).then(body) } }

  private func verb<Value>(
    in parent: NodeID, _ caller: Caller, _ body: (any FolderNode) -> Answer<Value>
  ) -> Answer<Value> {
    guard owner.admits(caller) else { return .failure(.EACCES) }
    return folder(parent).map(body) ?? .failure(node(parent) == nil ? .ENOENT : .ENOTDIR)
  }

  private func search(for name: String, replacing old: Int64?) -> Answer<Search> {
    if let errno = refusal(ofName: name) { return .failure(errno) }
    return Answer.task { self.catalog.search(name, replacing: old, completion: $0) }.then { search in
      .on(self.loader) {
        self.takeInCommits()
        try self.loadResults(ofSearch: search.id)
        return search
      }
    }
  }

  /// Subscribes to a result. Where its podcast is followed already, under any name, nothing changes; but the kernel has
  /// moved the directory in its cache, and has to look up both names again.
  private func follow(
    _ result: NodeID, _ name: String, in folder: NodeID, as newName: String
  ) -> Answer<Void> {
    if let errno = refusal(ofSubscription: newName) { return .failure(errno) }
    return Answer.on(loader) {
      try self.loadSubscriptions()
      let isFollowed = self.state.withLock { state in
        state.folders[result].map { state.followed[$0.podcast] != nil } ?? false
      }
      if isFollowed {
        var difference = Difference()
        difference.names = [(folder, name), (.subscriptions, newName)].map {
          Difference.Name(name: $1, directory: $0, event: .replaced, node: result)
        }
        self.tell(difference)
      }
      return isFollowed
    }.then { isFollowed in
      if isFollowed { return .value(()) }
      return self.isFree(newName).then {
        self.commit {
          let listed = try self.catalog.subscribe(result: result.row, name: newName)
          self.kernel?.moved(result, to: NodeID(.subscription, listed.id))
        }
      }
    }
  }

  static let listName = "subscriptions.opml"

  /// Fails with EEXIST where a name in `Subscriptions/` is taken.
  private func isFree(_ name: String) -> Answer<Void> {
    listing(of: .subscriptions) { try self.loadSubscriptions() }.then { listing in
      listing[name] == nil && UniqueNames.key(name) != Self.listName ? .value(()) : .failure(.EEXIST)
    }
  }

  /// Why a user can't call a directory so; nil where he can. Never EINVAL, which mv(1) takes for a directory that is to
  /// be moved into itself.
  private func refusal(ofName name: String) -> Errno? {
    if name.utf8.count > 255 { return .ENAMETOOLONG }
    // What programs make everywhere for themselves (".Trash-1000") is no search and no podcast.
    if name.hasPrefix(".") { return .EPERM }
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      let category = scalar.properties.generalCategory
      return category != .control && category != .lineSeparator && category != .paragraphSeparator
    }
    return isPlain ? nil : .EILSEQ
  }

  /// The same of a subscription, whose name is valid on Windows and Samba too, and none of a list's.
  private func refusal(ofSubscription name: String) -> Errno? {
    if let errno = refusal(ofName: name) { return errno }
    if name.utf8.count > EpisodeName.byteLimit { return .ENAMETOOLONG }
    if EpisodeName.isDirectoryName(name) && !name.lowercased().hasSuffix(".opml") { return nil }
    return EpisodeName.hasForbiddenCharacters(name) ? .EILSEQ : .EPERM
  }

  /// What rename(2) or link(2) of an episode to a folder orders. The episode stays listed where it was, and the folder
  /// lists it under the name that it has there.
  private func take(
    _ episode: ListedEpisode, into folder: NodeID, for caller: Caller, refusal: Errno
  ) -> Answer<Void> {
    let node = EpisodeNode(tree: self, id: NodeID(.episode, episode.id))
    return switch folder {
    case .downloading: node.set("state", to: TransferState.downloading.name, for: caller)
    case .paused: node.set("state", to: TransferState.paused.name, for: caller)
    case .queue: commit { try self.catalog.appendToQueue([episode.id]) }
    default: .failure(refusal)
    }
  }

  /// The number at the beginning of the new name is the episode's new place in the queue.
  private func reorder(_ episode: ListedEpisode, in folder: NodeID, to newName: String) -> Answer<Void> {
    guard folder == .queue, let place = Int(newName.prefix { $0.isASCII && $0.isNumber }) else {
      return .failure(.EPERM)
    }
    return commit { try self.catalog.moveInQueue(episode.id, to: place) }
  }

  /// The kernel has told watchers that the episode has left one name and has got another. Corrects that where it is not
  /// so. Programs may use the new name until the kernel looks it up again, a second later: mv(1) inspects it.
  private func correct(
    _ episode: ListedEpisode, was old: (folder: NodeID, name: String)?,
    becomes new: (folder: NodeID, name: String)
  ) -> Answer<Void> {
    .on(loader) {
      let shown = self.state.withLock { $0.names(of: $0.episode(episode.id) ?? episode) }.byFolder
      var difference = Difference()
      func correct(_ name: (folder: NodeID, name: String), _ event: Difference.Event) {
        let node = NodeID(.episode, episode.id)
        difference.news.append(.init(name: name.name, directory: name.folder, event: event, node: node))
        difference.listings.append(name.folder)
      }
      if let old, shown[old.folder]?[old.name] != nil { correct(old, .appeared) }
      if shown[new.folder]?[new.name] == nil { correct(new, .vanished) }
      self.tell(difference)
    }
  }

  /// Hides an episode or marks it as played, then stops or drops its download. Where the download stays, the mark is taken
  /// back. On a full disk the drop comes first: it makes the room that the catalogue needs.
  private func markAndDrop(
    _ episode: ListedEpisode, _ set: @escaping @Sendable (Bool) throws -> Void
  ) -> Answer<Void> {
    let mark: @Sendable (Bool) -> Answer<Void> = { isSet in self.commit { try set(isSet) } }
    return mark(true).recover { errno in
      errno == .ENOSPC ? self.dropDownload(of: episode).then { mark(true) } : .failure(errno)
    }.then { self.dropDownload(of: episode).recover { errno in mark(false).then { .failure(errno) } } }
  }

  /// Stops or drops a download, when the last reader in any mount closes it.
  private func dropDownload(of episode: ListedEpisode) -> Answer<Void> {
    noteByHand(episode.id)
    if state.withLock({ $0.stage(of: episode) }) == .absent { return .value(()) }
    return order(.dropAtClose(episode.mediaKey))
  }
}
