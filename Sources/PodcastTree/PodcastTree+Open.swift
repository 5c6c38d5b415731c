internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Opening files.
extension PodcastTree {
  /// - Parameter writes: whether it is opened for writing or to be cut.
  package func open(_ node: NodeID, writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    switch node.kind {
    case .episode:
      if writes { return .failure(.EROFS) }
      return entry(ofEpisode: node.row).then { self.open($0, as: node, for: caller) }
    case .fixed: return openControlFile(node, writes: writes, for: caller)
    case .cover, .transcript, .chapters, .notes:
      return writes ? .failure(.EROFS) : openSidecar(node, for: caller)
    case .upload: return .failure(.EACCES)
    case .search, .result, .subscription, .downloadedPodcast: return .failure(.EISDIR)
    case nil: return .failure(.ENOENT)
    }
  }

  private func open(_ entry: EpisodeEntry, as node: NodeID, for caller: Caller) -> Answer<any OpenFile> {
    let intent = intent(for: caller)
    return .pending { completion in
      let opening = self.transfers.open(self.request(for: entry), intent: intent) { result in
        switch result {
        case .failure(let failure): completion(.failure(failure.errno))
        case .success(let opened): completion(self.accept(opened, of: entry, as: node, intent))
        }
      }
      return { opening.cancel() }
    }
  }

  private func accept(
    _ opened: any OpenEpisode, of entry: EpisodeEntry, as node: NodeID, _ intent: OpenIntent
  ) -> Result<any OpenFile, Errno> {
    let current = Self.node(of: entry.episode, generation: opened.generation, size: opened.size)
    let isOther = current != node
    // What is known of it may be behind what has been opened.
    let found = self.node(of: entry)
    if isOther && found != node && !hasLookedAgain(entry.episode.id, node, found) {
      // The server's file has changed since this name was looked up, or its size has turned out to be another:
      // that is another node, which the kernel finds when it looks again (open(2) does at ESTALE). What has
      // been opened is closed only after it has: the response that is under way goes on.
      invalidate(names(of: entry))
      let isKept = PosixThread.attempt("reopening", stackSize: 65_536) {
        _ = Monitor(()).wait(until: .after(1)) { _ -> Bool? in nil }
        opened.close()
      }
      if !isKept { opened.close() }
      return .failure(.ESTALE)
    }
    let size = opened.size
    state.withLock { state in
      state.openCounts[entry.episode.id, default: 0] += 1
      state.staleOpens[entry.episode.id] = nil
      if let size { state.openSizes[node, default: OpenSize(bytes: size)].handles += 1 }
    }
    // Another one by now than the kernel has just looked up again: it is read past the kernel's cache.
    return .success(
      EpisodeFile(opened, isDirect: size == nil || isOther, shownSize: shownSize(of: entry, node, size)) {
        [weak self] in
        self?.closed(entry, as: node, hasSize: size != nil)
      })
  }

  /// What a handle's file seems to be long where the server gives no length.
  private func shownSize(of entry: EpisodeEntry, _ node: NodeID, _ size: Int64?) -> Int64? {
    guard size == nil, node.isOfUnknownSize else { return nil }
    return EpisodeSize(entry.episode, transfers.status(of: entry.episode.mediaKey)).whileUnknown
  }

  /// Whether `node` is what an open was sent to by ESTALE, which open(2) heals once only: a host that gives
  /// another file each time must not make opens fail. Else the next one is sent to `found`.
  private func hasLookedAgain(_ episode: Int64, _ node: NodeID, _ found: NodeID) -> Bool {
    state.withLock { state in
      defer { state.staleOpens[episode] = found }
      return state.staleOpens[episode] == node
    }
  }

  private func closed(_ entry: EpisodeEntry, as node: NodeID, hasSize: Bool) {
    let id = entry.episode.id
    let drops = state.withLock { state in
      if hasSize { state.openSizes.close(node) }
      let count = (state.openCounts[id] ?? 1) - 1
      state.openCounts[id] = count > 0 ? count : nil
      return count <= 0 && state.dropsAtClose.contains(id)
    }
    if drops {
      transfers.drop(entry.episode.mediaKey) { [self] _ in
        state.withLock { _ = $0.dropsAtClose.remove(id) }
      }
    }
  }

  func intent(for caller: Caller) -> OpenIntent {
    if isBarred(caller) { return .cachedOnly }
    return switch settings.trigger {
    case .open: .download
    case .read: .downloadAtRead
    case .never: .fetchOnly
    }
  }

  /// The facts that the daemon needs and keeps.
  func request(for entry: EpisodeEntry) -> TransferRequest {
    let episode = entry.episode
    return TransferRequest(
      key: episode.mediaKey, url: entry.enclosureAddress.forRequest, mediaType: episode.mediaType,
      expectedLength: EpisodeSize.plausibleLength(of: episode), title: episode.title,
      show: entry.podcast.title,
      fileName: episode.fileName, allowsPrivateHosts: entry.podcast.allowsPrivateHosts,
      userAgent: feeds[FeedKey.text(entry.podcast.feedURL)]?.userAgent)
  }
}
