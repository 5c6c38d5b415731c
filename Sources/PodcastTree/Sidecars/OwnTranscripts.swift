internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

extension NodeID {
  /// Behind the transcripts that a feed may name, one for each ending.
  static func ownTranscript(episode: Int64, _ ending: OwnTranscript.Ending) -> NodeID {
    let place = OwnTranscript.Ending.allCases.firstIndex(of: ending) ?? 0
    return .transcript(episode: episode, index: transcriptLimit + place)
  }

  var ending: OwnTranscript.Ending? {
    guard kind == .transcript else { return nil }
    let index = Int(rawValue >> 48 & 0x1f) - Int(Kind.transcript.rawValue) - Self.transcriptLimit
    return OwnTranscript.Ending.allCases.indices.contains(index) ? OwnTranscript.Ending.allCases[index] : nil
  }
}

extension PodcastTree {
  func createTranscript(_ name: String, in folder: NodeID) -> Answer<CreatedFile> {
    .on(loader) {
      try self.load(folder)
      guard let podcast = self.state.withLock({ $0.podcast(shownBy: folder) }) else { throw Errno.ENOENT }
      let episodes = try self.loadEpisodes(ofPodcast: podcast).episodes ?? []
      guard let ending = OwnTranscript.Ending.allCases.first(where: { name.hasSuffix($0.rawValue) }),
        let episode = episodes.first(where: { $0.stem + ending.rawValue == name })
      else { throw Errno.EROFS }
      let upload = try self.transcriptDraft(of: episode, ending)
      return (upload.attributes, upload.open())
    }
  }

  /// A transcript that is written to: the user's own one takes the place of the feed's. On the loader's thread.
  func transcriptDraft(at node: NodeID) throws -> Upload {
    _ = try loadEpisodes(ofPodcast: EpisodeID.podcast(of: node.row))
    let (found, shown) = state.withLock { ($0.episode(node.row), $0.sidecar(node)) }
    guard let episode = found, let sidecar = shown,
      let ending = OwnTranscript.Ending.allCases.first(where: { episode.stem + $0.rawValue == sidecar.name })
    else { throw Errno.EROFS }
    if case .own(let own) = sidecar.content {
      return try transcriptDraft(of: episode, ending, (try? ownTranscripts.read(own.key, own.ending)) ?? [])
    }
    return try transcriptDraft(of: episode, ending, sidecars.read(sidecar.key) ?? [])
  }

  private func transcriptDraft(
    of episode: ListedEpisode, _ ending: OwnTranscript.Ending, _ bytes: [UInt8]? = nil
  ) throws -> Upload {
    let node = NodeID.ownTranscript(episode: episode.id, ending)
    let empty = OwnTranscript(
      key: episode.mediaKey, ending: ending, size: 0, changed: FileTime.now.sinceEpoch)
    return try state.withLock { state in
      if let known = state.uploads[node] { return known }
      let upload = try Upload(
        node: node, name: nil, bytes: bytes, sidecar: Sidecar(own: empty, of: episode.id, stem: episode.stem),
        limit: OwnTranscripts.longest
      ) { [weak self] bytes in
        self?.keepTranscript(bytes, of: episode, ending) ?? .failure(.EIO)
      } onIdle: { [weak self] upload in
        guard let self else { return }
        loader.async {
          if upload.isOpen { return }
          self.state.withLock { $0.uploads[node] = nil }
          self.ownTranscriptsChanged(node)
        }
      }
      state.uploads[node] = upload
      return upload
    }
  }

  private func keepTranscript(
    _ bytes: [UInt8], of episode: ListedEpisode, _ ending: OwnTranscript.Ending
  ) -> Answer<Void> {
    guard !bytes.isEmpty, String(validating: bytes, as: UTF8.self) != nil else {
      let why = bytes.isEmpty ? "the file is empty" : "a transcript must be UTF-8"
      LogFile(places.logFile).write("\(episode.stem)\(ending.rawValue): \(why)")
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
  func draft(_ name: String, ofPodcast podcast: Int64) -> Sidecar? {
    uploads.values.lazy.compactMap(\.sidecar).first { $0.podcast == podcast && $0.name == name }
  }
}

extension PodcastTree {
  /// Indexes what has come while no mount was there, and takes out what is gone.
  package func indexTranscripts() {
    loader.async { [self] in
      let cached = state.withLock { state in
        state.downloads.values.filter { state.status(of: $0)?.state == .cached }
      }
      for episode in cached { fetchTranscript(of: episode) }
    }
    transcriptThread.async { [self] in
      var files = ownTranscripts.all().map(\.file)
      let copies = sidecars.copies().filter { !$0.value.isMissing }.keys.filter {
        $0.node.kind == .transcript
      }
      let ids = Array(Set(copies.map(\.node.row)))
      for start in stride(from: 0, to: ids.count, by: 500) {
        let part = ids[start..<min(start + 500, ids.count)]
        let keys = Dictionary(
          ((try? catalog.episodes(Array(part))) ?? []).map { ($0.id, $0.mediaKey) },
          uniquingKeysWith: { first, _ in first })
        files += copies.compactMap { copy in
          keys[copy.node.row].map { TranscriptFile(key: $0, name: copy.fileName, isOwn: false) }
        }
      }
      guard let isChanged = try? catalog.transcripts.index().agree(with: files) else { return }
      if isChanged { transcriptsChanged() }
    }
  }

  /// Indexes the transcript that an episode has in the cache: the user's own one, else a copy of the feed's.
  func index(transcriptOf episode: Int64) {
    loadCopies()
    let listed = state.withLock { $0.episode(episode)?.mediaKey }
    guard let key = listed ?? (try? catalog.episodes([episode]))?.first?.mediaKey else { return }
    let copy = state.withLock { state in
      state.episode(episode)?.sidecars.first {
        $0.node.kind == .transcript && $0.isRemote && state.isHere($0)
      }.map { TranscriptFile(key: key, name: $0.key.fileName, isOwn: false) }
    }
    let own = state.withLock { $0.own?[key]?.first?.file }
    transcriptThread.async { [self] in
      let isChanged =
        if let file = own ?? copy {
          try? catalog.transcripts.index().add(file)
        } else {
          try? catalog.transcripts.index().remove(key)
        }
      if isChanged == true { transcriptsChanged() }
    }
  }

  /// All mounts share the index: the one that has changed it tells the others.
  private func transcriptsChanged() {
    loader.async { [self] in
      try? catalog.noteTranscripts()
      takeInCommits()
    }
  }

  /// Fetches the transcript of a downloaded episode, where the settings want that: one after the other. On the loader's
  /// thread.
  func fetchTranscript(of episode: ListedEpisode) {
    guard settings.transcripts == .followed else { return }
    loadCopies()
    _ = try? loadSubscriptions()
    let wanted = state.withLock { state in
      guard state.followed[episode.podcast] != nil else { return Sidecar?.none }
      let sidecars = episode.sidecars.filter { $0.node.kind == .transcript }
      return sidecars.contains { state.copy(of: $0) != nil || !$0.isRemote } ? nil : sidecars.first
    }
    if let wanted { fetchAhead(wanted) }
  }

  /// The places in an episode's transcript that match the newest `transcript:` search which shows it; nil without one.
  func hits(of episode: Int64, _ key: MediaKey) -> [TranscriptHit]? {
    let query = state.withLock { state -> EpisodeQuery? in
      let showing = state.views.queries.filter {
        !$0.value.transcript.isEmpty && state.views[$0.key]?.name(of: episode) != nil
      }
      return showing.max { $0.key.row < $1.key.row }?.value
    }
    guard let query, let words = TranscriptQuery(query.transcript) else { return nil }
    return try? catalog.transcripts.index().hits(of: key, words)
  }
}
