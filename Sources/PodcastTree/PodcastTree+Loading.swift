internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// From the catalogue into memory. All of these run on the loader's thread, or before anything else does.
extension PodcastTree {
  func loadSearches() throws {
    let searches = try catalog.searches()
    state.withLock { $0.searches = searches }
  }

  func loadSubscriptions() throws {
    let subscriptions = try catalog.subscriptions()
    let size = Int64(try catalog.exportOPML().count)
    state.withLock { state in
      state.subscriptions = subscriptions
      state.subscriptionListSize = size
      for entry in subscriptions { state.podcastOfSubscription[entry.id] = entry.podcast.id }
    }
  }

  @discardableResult
  func loadResults(ofSearch id: Int64) throws -> [ListedPodcast] {
    let results = try catalog.results(ofSearch: id)
    state.withLock { state in
      state.results[id] = results
      for entry in results { state.podcastOfResult[entry.id] = entry.podcast.id }
    }
    return results
  }

  @discardableResult
  func loadShelf(_ podcast: Int64) throws -> Shelf {
    guard let record = try catalog.podcast(podcast) else { throw Errno.ENOENT }
    let shelf = Shelf(podcast: record, episodes: try catalog.episodes(ofPodcast: podcast))
    try loadAppearances(ofPodcast: podcast)
    state.withLock { $0.keep(shelf) }
    return shelf
  }

  func loadAppearances(ofPodcast id: Int64) throws {
    var appearances = Appearances()
    for result in try catalog.results(showing: id) {
      appearances.hidden[result] = try catalog.hiddenEpisodes(ofSearchResult: result)
    }
    state.withLock { [appearances] state in state.appearances[id] = appearances }
  }

  func loadLatest() throws {
    let entries = try catalog.latest(limit: settings.latest)
    try loadMissingAppearances(of: entries)
    state.withLock { state in
      state.latest = ViewListing(entries)
      for entry in entries { state.loose[entry.episode.id] = entry }
    }
  }

  func loadKnown(_ keys: [MediaKey]) throws {
    let entries = try catalog.entries(forKeys: keys)
    try loadMissingAppearances(of: entries.values)
    state.withLock { state in
      for (key, entry) in entries {
        state.known[key] = entry
        state.loose[entry.episode.id] = entry
      }
    }
  }

  private func loadMissingAppearances(of entries: some Sequence<EpisodeEntry>) throws {
    let podcasts = Set(entries.map(\.podcast.id))
    let missing = state.withLock { state in podcasts.filter { state.appearances[$0] == nil } }
    for podcast in missing { try loadAppearances(ofPodcast: podcast) }
  }

  // MARK: Answers from memory, else from the catalogue

  func results(ofSearch id: Int64) -> Answer<[ListedPodcast]> {
    if let results = state.withLock({ $0.results[id] }) { return .value(results) }
    return .on(loader) { try self.loadResults(ofSearch: id) }
  }

  func entry(ofEpisode id: Int64) -> Answer<EpisodeEntry> {
    let found = state.withLock { state -> EpisodeEntry? in
      if let podcast = state.podcastOfEpisode[id], let shelf = state.shelves[podcast],
        let episode = shelf.episode(id)
      {
        return shelf.entry(episode)
      }
      return state.loose[id]
    }
    if let found { return .value(found) }
    return .on(loader) {
      guard let episode = try self.catalog.episode(id),
        let podcast = try self.catalog.podcast(episode.podcastID)
      else { throw Errno.ENOENT }
      let entry = EpisodeEntry(episode: episode, podcast: podcast)
      try self.loadMissingAppearances(of: [entry])
      self.state.withLock { $0.loose[id] = entry }
      return entry
    }
  }

  /// A podcast's episodes; its feed is fetched where it never was, unless the caller may start nothing: then
  /// nil.
  func shelf(_ podcast: Int64, for caller: Caller) -> Answer<Shelf?> {
    let found = state.withLock { state -> Shelf? in
      guard let shelf = state.shelves[podcast], shelf.podcast.isFetched else { return nil }
      state.touch(podcast)
      return shelf
    }
    if let found { return .value(found) }
    return Answer<Shelf>.on(loader) { try self.loadShelf(podcast) }.then { shelf in
      if shelf.podcast.isFetched { return .value(shelf) }
      if self.isBarred(caller) { return .value(nil) }
      return self.firstLook(podcast)
    }
  }

  private func firstLook(_ podcast: Int64) -> Answer<Shelf?> {
    Answer<RefreshOutcome>.pending { completion in
      let task = self.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
        completion(result.mapError(\.errnoForReader))
      }
      return { task.cancel() }
    }.then { _ in .on(self.loader) { try self.loadShelf(podcast) } }
  }
}
