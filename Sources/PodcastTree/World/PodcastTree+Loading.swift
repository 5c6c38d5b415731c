internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Reads rows and states of downloads into memory. On the loader's thread.
extension PodcastTree {
  @discardableResult
  func loadSearches() throws -> [Search] {
    if let searches = world.withLock({ $0.searches }) { return searches }
    let searches = try catalog.searches()
    world.withLock { $0.searches = searches }
    return searches
  }

  @discardableResult
  func loadSubscriptions() throws -> [Folder] {
    if let folders = world.withLock({ $0.subscriptions }) { return folders }
    let folders = try catalog.subscriptions().map { Folder($0) }
    world.withLock { $0.setSubscriptions(folders) }
    return folders
  }

  @discardableResult
  func loadResults(ofSearch id: Int64) throws -> [Folder] {
    if let folders = world.withLock({ $0.results[id] }) { return folders }
    let folders = try catalog.results(ofSearch: id).map { Folder($0) }
    world.withLock { $0.setResults(folders, of: id) }
    return folders
  }

  /// The rows that say which podcast a directory shows.
  func loadRow(of node: NodeID) throws {
    switch node.kind {
    case .subscription: try loadSubscriptions()
    case .result where world.withLock({ $0.resultByID[node.row] == nil }):
      // A handle of an earlier mount.
      guard let listed = try catalog.result(node.row) else { throw Errno.ENOENT }
      world.withLock { $0.resultByID[node.row] = Folder(listed) }
    default: break
    }
  }

  @discardableResult
  func loadShelf(_ podcast: Int64) throws -> Shelf {
    if let shelf = world.withLock({ $0.shelves[podcast] }), shelf.isFetched { return shelf }
    return try readShelf(podcast)
  }

  /// Reads it even where it is in memory.
  func readShelf(_ podcast: Int64) throws -> Shelf {
    guard let record = try catalog.podcast(podcast) else { throw Errno.ENOENT }
    let kinds = settings.sidecars
    sidecars.load()
    let episodes = try catalog.summaries(ofPodcast: podcast) { ListedEpisode($0, of: record, kinds) }
    let shelf = Shelf(record, episodes, kinds)
    try loadAppearances(of: [podcast])
    world.withLock { $0.shelves[podcast] = shelf }
    return shelf
  }

  func readAppearances(of podcast: Int64) throws {
    var hidden: [Int64: Set<Int64>] = [:]
    for result in try catalog.results(showing: podcast) {
      hidden[result] = try catalog.hiddenEpisodes(ofSearchResult: result)
    }
    world.withLock { [hidden] in $0.appearances[podcast] = hidden }
  }

  func loadAppearances(of podcasts: some Sequence<Int64>) throws {
    let missing = world.withLock { world in Set(podcasts).filter { world.appearances[$0] == nil } }
    for podcast in missing { try readAppearances(of: podcast) }
  }

  func readLatest() throws -> Latest {
    let entries = try catalog.latest(limit: Latest.wanted(settings.latest))
    try loadAppearances(of: entries.map(\.podcast.id))
    return Latest(entries.map { KnownEpisode($0, settings.sidecars) }, limit: settings.latest)
  }

  func loadLatest() throws {
    if world.withLock({ $0.latest != nil }) { return }
    try loadSubscriptions()
    let latest = try readLatest()
    world.withLock { $0.latest = latest }
  }

  /// Reads the episodes of these downloads.
  func loadKnown(_ keys: [MediaKey]) throws {
    let missing = world.withLock { world in keys.filter { world.downloads.known[$0] == nil } }
    if missing.isEmpty { return }
    let entries = try catalog.entries(forKeys: missing)
    sidecars.load()
    try loadAppearances(of: entries.values.map(\.podcast.id))
    let known = entries.mapValues { KnownEpisode($0, settings.sidecars) }
    world.withLock { world in for (key, episode) in known { world.downloads.know(key, episode) } }
    loadCovers(of: entries.values.map(\.podcast))
  }

  /// Notes the covers that `Downloaded/` lists.
  func loadCovers(of podcasts: [Podcast]) {
    world.withLock { world in
      for podcast in podcasts where !world.downloads.knowsCover(of: podcast.id) {
        world.downloads.setCover(ListedSidecar.cover(of: podcast, settings.sidecars), of: podcast.id)
      }
    }
  }

  /// Reads the states of all downloads, once, before anything is listed.
  func loadDownloads() {
    let statuses = transfers.allStatuses()
    try? loadKnown(statuses.map(\.key))
    world.withLock { world in
      for status in statuses { _ = world.downloads.set(status, for: status.key) }
      // Episodes are named in the order of their numbers, so that a remount gives the same names.
      let known = world.downloads.known.sorted { $0.value.episode.id < $1.value.episode.id }
      for (key, episode) in known {
        guard let status = world.downloads.status(key) else { continue }
        world.downloads.place(episode, Downloads.view(status), at: status.time)
      }
    }
    readFolderTimes()
  }

  // MARK: Answers from memory, else from the catalogue

  /// What a listing shows of an episode.
  func listed(_ id: Int64) -> Answer<ListedEpisode> {
    if let found = world.withLock({ $0.episode(id) }) { return .value(found) }
    return detail(id).map {
      ListedEpisode($0.entry.episode.summary, of: $0.entry.podcast, self.settings.sidecars)
    }
  }

  /// An episode with all that is known of it.
  func detail(_ id: Int64) -> Answer<EpisodeDetails.Detail> {
    if let found = details.find(id) { return .value(found) }
    return .on(loader) {
      let (from, count) = self.details.toRead(with: id)
      let episodes = try self.catalog.episodes(from: from, count: count)
      guard let place = episodes.firstIndex(where: { $0.id == id }),
        let podcast = try self.catalog.podcast(episodes[place].podcastID)
      else { throw Errno.ENOENT }
      self.sidecars.load()
      try self.loadAppearances(of: [podcast.id])
      let details = episodes.map { EpisodeDetails.detail(EpisodeEntry(episode: $0, podcast: podcast)) }
      for detail in details { self.details.store(detail) }
      return details[place]
    }
  }

  func entry(ofEpisode id: Int64) -> Answer<EpisodeEntry> { detail(id).map(\.entry) }

  /// The facts of a podcast: not kept, because they are asked for seldom and may be long.
  func podcast(_ id: Int64) -> Answer<Podcast> {
    .on(loader) {
      guard let podcast = try self.catalog.podcast(id) else { throw Errno.ENOENT }
      self.sidecars.load()
      return podcast
    }
  }
}
