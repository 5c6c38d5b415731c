internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts

/// A cover, transcript, list of chapters, or show notes. It is listed from memory and fetched when it is
/// opened.
struct SidecarNode: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  /// The user's own transcript may take the place of the feed's.
  var hasVerbs: Bool { id.kind == .transcript }

  func attributes() -> Answer<NodeAttributes> {
    sidecar.map { sidecar in tree.state.withLock { $0.attributes(of: sidecar) } }
  }

  private var sidecar: Answer<Sidecar> {
    .inMemory(or: tree.loader) {
      tree.state.withLock { $0.sidecar(id) }
    } load: {
      try tree.loadEpisodes(ofPodcast: id.kind == .cover ? id.row : EpisodeID.podcast(of: id.row))
    }
  }

  /// Ends when the whole file is cached: its size is exact from then on. Thumbnailers may fetch covers.
  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    if writes {
      if id.kind != .transcript { return .failure(.EROFS) }
      guard tree.owner.admits(caller) else { return .failure(.EACCES) }
      return .on(tree.loader) { try tree.transcriptDraft(at: id).open() }
    }
    if let draft = tree.state.withLock({ $0.uploads[id] }) { return .value(draft.open()) }
    let isBarred = id.kind == .cover ? !tree.owner.admits(caller) : caller.sniffs || tree.isBarred(caller)
    return sidecar.then { sidecar in
      switch sidecar.content {
      case .notes: return openNotes(sidecar)
      case .own(let own):
        return .on(tree.loader) { TextFile(try tree.ownTranscripts.read(own.key, own.ending)) }
      case .remote(let address):
        return Answer.on(tree.loader) { tree.read(sidecar) }.then { bytes, copy in
          // Its host does not have it: a stale name leads here for a moment.
          if let copy, copy.isMissing && copy.isFresh { return .failure(.EIO) }
          if let bytes, let copy, isBarred || copy.isFresh {
            // It may have come, also by another process, since the kernel was shown a size: as long as that may be kept,
            // it is read past the kernel's pages, which would be filled up to it.
            let isRecent = copy.fetched > wallClockSeconds() - 2 * Int64(NodeAttributes.lifetime)
            return .value(TextFile(bytes, isDirect: isRecent, changesAttributes: true))
          }
          return isBarred ? .failure(.EIO) : tree.fetch(sidecar, address, old: bytes)
        }
      }
    }
  }

  private func openNotes(_ sidecar: Sidecar) -> Answer<any OpenFile> {
    .on(tree.loader) {
      guard let notes = try tree.catalog.episode(sidecar.node.row)?.notes else { throw Errno.ENOENT }
      let bytes = Array((PlainText.text(notes) + "\n").utf8)
      let copy = SidecarCopy(size: Int64(bytes.count), fetched: sidecar.modified)
      tree.apply(.copy(sidecar, copy))
      return TextFile(bytes, isDirect: false, changesAttributes: true)
    }
  }
}

extension TreeState {
  func attributes(of sidecar: Sidecar) -> NodeAttributes {
    if let draft = uploads[sidecar.node] { return draft.attributes }
    let copy = copy(of: sidecar).flatMap { $0.isMissing ? nil : $0 }
    // A cover has no date of its own but that of its copy.
    let time = sidecar.node.kind == .cover ? copy?.fetched ?? sidecar.modified : sidecar.modified
    var attributes = NodeAttributes(
      node: sidecar.node, permissions: 0o644, size: copy?.size ?? sidecar.estimate, modified: FileTime(time))
    let isOwn = if case .own = sidecar.content { true } else { false }
    if !isOwn { attributes.stored = copy?.size ?? 0 }
    return attributes
  }
}

extension PodcastTree {
  fileprivate func read(_ sidecar: Sidecar) -> (bytes: [UInt8]?, copy: SidecarCopy?) {
    let bytes = sidecars.read(sidecar.key)
    let copy = bytes == nil ? nil : sidecars.look(sidecar.key)
    copyChanged(sidecar, copy)
    return (bytes, copy)
  }

  func fetch(_ sidecar: Sidecar, _ address: WebAddress, old: [UInt8]?) -> Answer<any OpenFile> {
    Answer<[UInt8]>.task { completion in
      let isTranscript = sidecar.node.kind == .transcript
      return self.fetcher.fetch(
        address, allowsPrivateHosts: sidecar.allowsPrivateHosts, acceptsPages: isTranscript
      ) { result in
        let result = result.flatMap { bytes -> Result<[UInt8], Errno> in
          guard isTranscript else { return .success(bytes) }
          if let text = TranscriptText.utf8(bytes, isPage: sidecar.name.hasSuffix(".html")) {
            return .success(text)
          }
          LogFile(self.places.logFile).write("\(address.host ?? "?") sent no transcript for \(sidecar.name)")
          return .failure(.EPROTO)
        }
        guard case .failure(let errno) = result else { return completion(result) }
        if let old, errno != .EINTR { return completion(.success(old)) }
        // 404 or 410: it is not listed until it is to be fetched again.
        completion(errno == .ENOENT ? .success([]) : result)
      }
    }.then { bytes in
      .on(self.loader) {
        self.copyChanged(sidecar, self.sidecars.store(bytes, sidecar.key), isOwn: true)
        // Never ENOENT: the name was listed.
        if bytes.isEmpty { throw Errno.EIO }
        return TextFile(bytes, isDirect: true, changesAttributes: true)
      }
    }
  }

  /// Fetches a subscription's cover, for file managers that show folders with it. On the loader's thread.
  func fetchCover(ofPodcast id: Int64) {
    guard state.withLock({ $0.followed[id] != nil }), settings.sidecars.contains(.cover),
      let podcast = try? catalog.podcast(id), let cover = Sidecar.cover(of: podcast)
    else { return }
    fetchAhead(cover)
  }

  /// Fetches what is not here though no program has opened it: one file after the other. On the loader's thread.
  func fetchAhead(_ sidecar: Sidecar) {
    loadCopies()
    let isKnown: @Sendable () -> Bool = { [state] in state.withLock { $0.copy(of: sidecar) != nil } }
    guard case .remote(let address) = sidecar.content, !isKnown() else { return }
    ahead.async { [weak self] in
      guard !isKnown(), let fetch = self?.fetch(sidecar, address, old: nil) else { return }
      let hasEnded = Monitor(false)
      fetch.run(Cancellation()) { _ in hasEnded.withLockNotifying { $0 = true } }
      _ = hasEnded.wait(until: .after(Self.longestFetch)) { $0 ? true : nil }
    }
  }

  /// Seconds: an error of this program must not keep the next one waiting for ever.
  private static let longestFetch = 600.0

  /// Drops the copy. The name stays listed, because the feed still names it; `rm` succeeds, because `rm -r` removes each
  /// name before the directory.
  func removeCopy(of sidecar: Sidecar) -> Answer<Void> {
    if case .own(let own) = sidecar.content { return removeOwnTranscript(sidecar, own) }
    if !sidecar.isRemote { return .value(()) }
    return .on(loader) {
      self.sidecars.drop(sidecar.key)
      self.copyChanged(sidecar, nil, isOwn: true)
    }
  }

  /// A copy has come or gone. Its listing changes: in `Downloaded/` while it is cached, elsewhere unless its host does
  /// not have it.
  /// - Parameter isOwn: whether this process has brought or dropped it, so that others have to be told.
  private func copyChanged(_ sidecar: Sidecar, _ copy: SidecarCopy?, isOwn: Bool = false) {
    loadCopies()
    if state.withLock({ $0.copy(of: sidecar) }) != copy { apply(.copy(sidecar, copy)) }
    if isOwn { try? catalog.noteSidecar(Int64(sidecar.node.inode)) }
    if isOwn && sidecar.node.kind == .transcript { index(transcriptOf: sidecar.node.row) }
  }

  /// Another process has brought or dropped a copy, or this one. On the loader's thread.
  func sidecarChanged(_ node: NodeID) {
    if node.ending != nil { return ownTranscriptsChanged(node) }
    guard let sidecar = state.withLock({ $0.sidecar(node) }) else {
      state.withLock { $0.copies = nil }
      return tell(Difference(attributes: [node]))
    }
    copyChanged(sidecar, sidecars.look(sidecar.key))
  }
}
