internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts

// The user's own transcripts: what is copied beside an episode under its name.

extension NodeID {
  /// Behind the transcripts that a feed may name, one for each ending.
  static func ownTranscript(episode: Int64, _ ending: OwnTranscript.Ending) -> NodeID {
    let place = OwnTranscript.Ending.allCases.firstIndex(of: ending) ?? 0
    return .transcript(episode: episode, index: transcriptLimit + place)
  }

  /// Nil for all other nodes.
  var ending: OwnTranscript.Ending? {
    guard kind == .transcript else { return nil }
    let index = Int(rawValue >> 48 & 0x1f) - Int(Kind.transcript.rawValue) - Self.transcriptLimit
    return OwnTranscript.Ending.allCases.indices.contains(index) ? OwnTranscript.Ending.allCases[index] : nil
  }
}

extension PodcastTree {
  /// Begins a transcript beside an episode.
  /// - Parameter podcast: whose directory it is.
  func createTranscript(_ name: String, ofPodcast podcast: Int64) -> Answer<CreatedFile> {
    .on(loader) {
      let episodes = try self.loadEpisodes(ofPodcast: podcast).episodes ?? []
      guard let ending = OwnTranscript.Ending.allCases.first(where: { name.hasSuffix($0.rawValue) }),
        let episode = episodes.first(where: { $0.stem + ending.rawValue == name })
      else { throw Errno.EROFS }
      let upload = self.transcriptDraft(of: episode, ending)
      return (upload.attributes, upload.open())
    }
  }

  /// truncate(2), which also comes before an open that empties the file.
  func truncateTranscript(_ node: NodeID, to size: Int64) -> Answer<NodeAttributes> {
    .on(loader) {
      let draft = try self.transcriptDraft(at: node)
      if let errno = draft.truncate(to: size) { throw errno }
      // Where no open follows, nothing has happened.
      self.loader.async(after: Self.patienceOfDrafts) { [weak self] in self?.endDraft(draft) }
      var attributes = draft.attributes
      attributes.node = node
      return attributes
    }
  }

  /// Seconds.
  private static let patienceOfDrafts = 2.0

  /// A transcript that is written to: the user's own one takes the place of the feed's. On the loader's thread.
  func transcriptDraft(at node: NodeID) throws -> Upload {
    _ = try loadEpisodes(ofPodcast: EpisodeID.podcast(of: node.row))
    let (found, shown) = state.withLock { ($0.episode(node.row), $0.sidecar(node)) }
    guard let episode = found, let sidecar = shown,
      let ending = OwnTranscript.Ending.allCases.first(where: { episode.stem + $0.rawValue == sidecar.name })
    else { throw Errno.EROFS }
    if case .own(let own) = sidecar.content {
      return transcriptDraft(of: episode, ending, (try? ownTranscripts.read(own.key, own.ending)) ?? [])
    }
    return transcriptDraft(of: episode, ending, sidecars.read(sidecar.key) ?? [])
  }

  private func transcriptDraft(
    of episode: ListedEpisode, _ ending: OwnTranscript.Ending, _ bytes: [UInt8] = []
  ) -> Upload {
    let node = NodeID.ownTranscript(episode: episode.id, ending)
    let empty = OwnTranscript(
      key: episode.mediaKey, ending: ending, size: 0, changed: FileTime.now.sinceEpoch)
    return state.withLock { state in
      if let known = state.uploads[node] { return known }
      let upload = Upload(
        node: node, name: nil, bytes: bytes, sidecar: Sidecar(own: empty, of: episode.id, stem: episode.stem),
        limit: OwnTranscripts.longest
      ) { [weak self] bytes in
        self?.keepTranscript(bytes, of: episode, ending) ?? .failure(.EIO)
      } onIdle: { [weak self] upload in
        guard let self else { return }
        loader.async { self.endDraft(upload) }
      }
      state.uploads[node] = upload
      return upload
    }
  }

  private func endDraft(_ upload: Upload) {
    if upload.isOpen { return }
    state.withLock { $0.uploads[upload.node] = nil }
    ownTranscriptsChanged(upload.node)
  }

  private func keepTranscript(
    _ bytes: [UInt8], of episode: ListedEpisode, _ ending: OwnTranscript.Ending
  ) -> Answer<Void> {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      LogFile(places.logFile).write("\(episode.stem)\(ending.rawValue): a transcript must be UTF-8")
      return .failure(.EINVAL)
    }
    return .on(loader) {
      try self.ownTranscripts.store(bytes, episode.mediaKey, ending)
      try self.tellOwnTranscript(.ownTranscript(episode: episode.id, ending))
    }
  }

  func removeOwnTranscript(_ sidecar: Sidecar, _ own: OwnTranscript) -> Answer<Void> {
    .on(loader) {
      try self.ownTranscripts.remove(own.key, own.ending)
      try self.tellOwnTranscript(sidecar.node)
    }
  }

  /// Other mounts hear of it by the catalogue.
  private func tellOwnTranscript(_ node: NodeID) throws {
    try catalog.noteSidecar(Int64(node.inode))
    takeInCommits()
  }

  /// This process, or another one, has stored or removed a transcript of the user's. On the loader's thread.
  func ownTranscriptsChanged(_ node: NodeID) {
    guard let episode = (try? catalog.episodes([node.row]))?.first else { return }
    let found = ownTranscripts.all(of: episode.mediaKey)
    loadCopies()
    state.withLock { $0.own?[episode.mediaKey] = found }
    try? readEpisodes([episode.id])
    var difference = Difference(attributes: [node])
    difference.bytes = [node]
    tell(difference)
    index(transcriptOf: episode.id)
  }
}

extension TreeState {
  /// A transcript that is being copied to a directory of its podcast.
  func draft(_ name: String, ofPodcast podcast: Int64) -> Sidecar? {
    uploads.values.lazy.compactMap(\.sidecar).first { $0.podcast == podcast && $0.name == name }
  }
}
