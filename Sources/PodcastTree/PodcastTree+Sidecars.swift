internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Covers, transcripts, chapters and show notes: listed from what is in memory, fetched when they are opened.
extension PodcastTree {
  // MARK: Listing

  func sidecarItems(of shelf: Shelf, in node: NodeID) -> [DirectoryItem] {
    if settings.sidecars.isEmpty { return [] }
    var list = shelf.cover(settings.sidecars).map { [$0] } ?? []
    for episode in shelf.episodes where shows(episode, in: node) {
      list += shelf.sidecars(of: episode, settings.sidecars)
    }
    return list.map { DirectoryItem(name: $0.name, attributes: attributes(of: $0)) }
  }

  /// Beside downloaded episodes: only what is wholly here.
  func downloadedSidecarItems(ofPodcast id: Int64) -> [DirectoryItem] {
    let entries = downloadedEntries(ofPodcast: id)
    guard let podcast = entries.first?.podcast else { return [] }
    let shelf = Shelf(podcast: podcast, episodes: entries.map(\.episode))
    return sidecarItems(of: shelf, in: NodeID(.downloadedPodcast, id)).filter {
      $0.attributes.node.kind == .notes || $0.attributes.stored > 0
    }
  }

  /// Also where the episode has just left the directory: `rm -r` has its sidecars yet to remove.
  func downloadedSidecar(named name: String, ofPodcast id: Int64) -> NodeAttributes? {
    let entries = state.withLock { state in
      state.known.values.filter { $0.podcast.id == id }
    }
    guard let podcast = entries.first?.podcast else { return nil }
    let near = entries.map(\.episode).filter { name.hasPrefix($0.stem) }
    let found = Shelf(podcast: podcast, episodes: near).sidecar(named: name, settings.sidecars)
    guard let found, found.url == nil || sidecars.copy(found.key) != nil else { return nil }
    return attributes(of: found)
  }

  // MARK: Attributes

  func attributes(of sidecar: Sidecar) -> NodeAttributes {
    var attributes = NodeAttributes(node: sidecar.node, isDirectory: false, permissions: 0o444)
    let copy = sidecar.url == nil ? noteSize(sidecar.node) : sidecars.copy(sidecar.key)
    attributes.size = copy?.size ?? sidecar.estimate
    attributes.stored = copy?.size ?? 0
    attributes.modified = sidecar.modified ?? copy?.fetched ?? started
    attributes.changed = max(attributes.modified, copy?.fetched ?? 0)
    attributes.timeout = 60
    return attributes
  }

  private func noteSize(_ node: NodeID) -> SidecarStore.Copy? {
    state.withLock { $0.noteSizes[node.row] }.map { SidecarStore.Copy(size: $0, fetched: 0) }
  }

  /// What a node stands for, as long as the feed names it.
  func sidecar(_ node: NodeID) -> Answer<Sidecar> {
    let kinds = settings.sidecars
    if node.kind == .cover {
      return podcast(shownBy: node).then { podcast in
        guard kinds.contains(.cover), let cover = Sidecar.cover(of: podcast) else { return .failure(.ENOENT) }
        return .value(cover)
      }
    }
    return entry(ofEpisode: node.row).then { entry in
      Sidecar.all(of: entry, kinds).first { $0.node == node }.map { .value($0) } ?? .failure(.ENOENT)
    }
  }

  // MARK: Opening

  /// Ends when the whole of it is here, so that its size is exact for whoever has it open.
  func openSidecar(_ node: NodeID, for caller: Caller) -> Answer<any OpenFile> {
    let isBarred = isBarred(caller)
    return sidecar(node).then { sidecar in
      guard let url = sidecar.address else { return self.openNotes(sidecar.node) }
      return Answer.on(self.sidecars.disk) { self.sidecars.read(sidecar.key) }.then { found in
        if let found, isBarred || found.copy.fetched > wallClockSeconds() - SidecarStore.lifetime {
          return .value(TextFile(found.bytes, isDirect: false))
        }
        if isBarred { return .failure(.EIO) }
        return self.fetch(sidecar, url, old: found?.bytes)
      }
    }
  }

  private func fetch(_ sidecar: Sidecar, _ url: WebAddress, old: [UInt8]?) -> Answer<any OpenFile> {
    Answer<[UInt8]>.pending { completion in
      let task = self.fetcher.fetch(url, allowsPrivateHosts: sidecar.allowsPrivateHosts) { result in
        if case .failure(let errno) = result, let old, errno != .EINTR { return completion(.success(old)) }
        completion(result)
      }
      return { task.cancel() }
    }.then { bytes in
      .on(self.sidecars.disk) {
        self.sidecars.keep(bytes, sidecar.key)
        // Its attributes are forgotten by the open itself: a word that came later could meet the kernel asking
        // for them, which then takes the answer for an old one and stays with the estimate.
        self.invalidate(self.downloadedNames(of: sidecar))
        return TextFile(bytes, isDirect: false)
      }
    }
  }

  private func openNotes(_ node: NodeID) -> Answer<any OpenFile> {
    .on(loader) {
      guard let notes = try self.catalog.episode(node.row)?.notes else { throw Errno.ENOENT }
      let bytes = Array((PlainText.text(notes) + "\n").utf8)
      self.state.withLock { state in
        if state.noteSizes.count >= TreeState.episodesInMemory { state.noteSizes = [:] }
        state.noteSizes[node.row] = Int64(bytes.count)
      }
      return TextFile(bytes, isDirect: false)
    }
  }

  // MARK: Removing

  /// Drops the copy; the feed still names it, so that it is listed again. It succeeds because `rm -r` of a
  /// podcast removes each name before the directory.
  func removeSidecar(_ node: NodeID, from parent: NodeID) -> Answer<Void> {
    sidecar(node).then { sidecar in
      .on(self.sidecars.disk) {
        if sidecar.url != nil { self.sidecars.drop(sidecar.key) }
        self.invalidate(
          [.listing(parent), .attributes(sidecar.node)] + self.downloadedNames(of: sidecar))
      }
    }
  }

  /// Beside downloaded episodes a sidecar comes and goes with its copy.
  private func downloadedNames(of sidecar: Sidecar) -> [Invalidation] {
    let folder = NodeID(.downloadedPodcast, sidecar.podcastID)
    let isShown = state.withLock { $0.downloaded[sidecar.podcastID] != nil }
    return isShown ? [.listing(folder), .name(sidecar.name, in: folder)] : []
  }
}
