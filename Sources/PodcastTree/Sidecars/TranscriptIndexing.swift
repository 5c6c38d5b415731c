internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Transcripts
internal import TransferProtocol

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
      guard let isChanged = try? catalog.transcripts.index()?.agree(with: files) else { return }
      if isChanged { loader.async { self.transcriptsChanged() } }
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
          try? catalog.transcripts.index()?.add(file)
        } else {
          try? catalog.transcripts.index()?.remove(key)
        }
      if isChanged == true { loader.async { self.transcriptsChanged() } }
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
    guard let wanted, case .remote(let address) = wanted.content else { return }
    transcriptFetches.async { [weak self] in
      guard case .pending(let start)? = self?.fetch(wanted, address, old: nil) else { return }
      let hasEnded = Monitor(false)
      _ = start { _ in hasEnded.withLockNotifying { $0 = true } }
      _ = hasEnded.wait(until: .after(Self.longestFetch)) { $0 ? true : nil }
    }
  }

  /// Seconds: an error of this program must not keep the next one waiting for ever.
  private static let longestFetch = 600.0

  /// Folders of queries with `transcript:` may list other episodes now. On the loader's thread.
  func transcriptsChanged() {
    state.withLock { state in
      state.staleViews.formUnion(
        state.indexedViews.filter { state.query(of: $0)?.transcript.isEmpty == false })
    }
    freshenViewsSoon()
  }

  /// The places in an episode's transcript that match the newest `transcript:` search which shows it; nil without one.
  func hits(of episode: Int64, _ key: MediaKey) -> [TranscriptHit]? {
    let query = state.withLock { state -> EpisodeQuery? in
      let showing = state.readQueries.filter {
        !$0.value.transcript.isEmpty && state.views[$0.key]?.name(of: episode) != nil
      }
      return showing.max { $0.key.row < $1.key.row }?.value
    }
    guard let query, let words = TranscriptQuery(query.transcript) else { return nil }
    return try? catalog.transcripts.index()?.hits(of: key, words)
  }
}
