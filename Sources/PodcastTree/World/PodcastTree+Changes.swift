internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Takes in commits of the catalogue: by a verb of this mount, a refresh, another mount, a command. Each case reads the
/// changed rows and makes new values of the directories that show them. On the loader's thread.
extension PodcastTree {
  func catalogChanged(_ change: CatalogChange) {
    do {
      switch change {
      case .everything: try everythingChanged()
      case .searches, .search: try searchesChanged()
      case .results(search: let id), .result(_, search: let id): try resultsChanged(id)
      case .hiddenInSearch(let result, let episode): try hiddenInSearch(result, episode)
      case .subscriptions: try subscriptionsChanged()
      case .subscription(let id, let podcast): try subscriptionChanged(id, podcast)
      case .podcast(let id): try podcastChanged(id)
      case .facts(podcast: let id): try factsChanged(id)
      case .newEpisodes(let podcast, let first, let last): try episodesCame(podcast, first...last)
      case .refreshed(let id, _):
        try podcastRefreshed(id)
        if events.hasReaders, let podcast = try catalog.podcast(id) { events.record(refreshed: podcast) }
      case .episode(let id): try episodeChanged(id)
      case .sidecar(let number): sidecarChanged(NodeID(rawValue: UInt64(number)))
      }
    } catch {
      // The catalogue can't be read at this moment: what is in memory stays until the next change.
    }
  }

  private func everythingChanged() throws {
    try searchesChanged()
    for id in world.withLock({ Array($0.results.keys) }) { try resultsChanged(id) }
    try subscriptionsChanged()
    try ownersChanged(of: world.withLock { Array($0.downloads.statuses.keys) })
    let podcasts = world.withLock { world in
      Set(world.shelves.keys).union(world.listings.keys.compactMap { world.podcast(shownBy: $0) })
        .union(world.downloads.podcasts)
    }
    for id in podcasts { try podcastChanged(id) }
  }

  // MARK: Searches

  private func searchesChanged() throws {
    readFolderTimes()
    let searches = try catalog.searches()
    let podcasts = world.withLock { world -> Set<Int64> in
      let ids = Set(searches.map(\.id))
      world.searches = searches
      var podcasts: Set<Int64> = []
      for id in world.results.keys where !ids.contains(id) {
        for folder in world.results[id] ?? [] {
          podcasts.insert(folder.podcast)
          world.forget(NodeID(.result, folder.id))
        }
        world.forgetResults(of: id)
        world.forget(NodeID(.search, id))
      }
      return podcasts
    }
    for podcast in podcasts { try appearancesChanged(of: podcast) }
    tell(remake([.search]))
  }

  private func resultsChanged(_ id: Int64) throws {
    let folders = try catalog.results(ofSearch: id).map { Folder($0) }
    let search = try catalog.search(id)
    let (podcasts, gone) = world.withLock { world -> (Set<Int64>, [NodeID]) in
      let old = world.results[id] ?? []
      let ids = Set(folders.map(\.id))
      let gone = old.filter { !ids.contains($0.id) }
      world.setResults(folders, of: id)
      if let search, let place = world.searches?.firstIndex(where: { $0.id == id }) {
        world.searches?[place] = search
      }
      // A program may still be in its directory.
      for folder in gone { world.resultByID[folder.id] = folder }
      return (Set((old + folders).map(\.podcast)), gone.map { NodeID(.result, $0.id) })
    }
    if !gone.isEmpty { forgetLater(gone, of: id) }
    for podcast in podcasts { try appearancesChanged(of: podcast) }
    var difference = remake([NodeID(.search, id)])
    difference.attributes.append(NodeID(.search, id))
    tell(difference)
  }

  /// Seconds that the directory of a result that is gone can still be used.
  private static let resultLifetime = 10.0

  private func forgetLater(_ results: [NodeID], of search: Int64) {
    loader.async(after: Self.resultLifetime) { [weak self] in
      self?.world.withLock { world in
        let shown = Set((world.results[search] ?? []).map(\.id))
        for node in results where !shown.contains(node.row) {
          world.resultByID[node.row] = nil
          world.forget(node)
        }
      }
    }
  }

  private func hiddenInSearch(_ result: Int64, _ episode: Int64) throws {
    let podcast = Self.podcast(ofEpisode: episode)
    let isOther = try resultTimeChanged(result)
    guard world.withLock({ $0.appearances[podcast]?[result] != nil }) else { return }
    let difference = world.withLock { world -> Difference in
      world.appearances[podcast]?[result]?.insert(episode)
      guard let listed = world.episode(episode) else { return Difference() }
      var difference = set(
        names(of: listed, isShown: false), in: NodeID(.result, result), &world)
      difference.attributes.append(world.node(of: listed))
      if isOther { difference.attributes.append(NodeID(.result, result)) }
      return difference
    }
    tell(difference)
  }

  /// Which results show a podcast, and what is hidden in them.
  private func appearancesChanged(of podcast: Int64) throws {
    guard let old = world.withLock({ $0.appearances[podcast] }) else { return }
    try readAppearances(of: podcast)
    let new = world.withLock { $0.appearances[podcast] ?? [:] }
    // What was hidden in a result that is gone is not known any more: its listing ends as it was.
    let difference = remake(new.keys.filter { old[$0] != new[$0] }.map { NodeID(.result, $0) })
    tell(difference)
  }

  // MARK: Subscriptions

  private func subscriptionsChanged() throws {
    let folders = try catalog.subscriptions().map { Folder($0) }
    try setSubscriptions(folders)
  }

  private func subscriptionChanged(_ id: Int64, _ podcast: Int64) throws {
    guard let known = world.withLock({ $0.subscriptions }) else { return try subscriptionsChanged() }
    let now = try catalog.subscription(id).map { Folder($0) }
    try setSubscriptions(known.filter { $0.id != id && $0.podcast != podcast } + (now.map { [$0] } ?? []))
  }

  private func setSubscriptions(_ folders: [Folder]) throws {
    readFolderTimes()
    let (gone, came) = world.withLock { world -> (Set<Int64>, Set<Int64>) in
      let old = Set((world.subscriptions ?? []).map(\.podcast))
      let new = Set(folders.map(\.podcast))
      for folder in world.subscriptions ?? [] where !new.contains(folder.podcast) {
        world.forget(NodeID(.subscription, folder.id))
      }
      world.setSubscriptions(folders)
      world.subscriptionListSize = nil
      return (old.subtracting(new), new.subtracting(old))
    }
    var difference = remake([.subscriptions])
    // Its time may have changed although it lists the same.
    difference.attributes += [.subscriptions, .subscriptionList]
    if !gone.isEmpty { difference.add(latest { $0.remove { gone.contains($0.podcast) } }) }
    if !came.isEmpty { difference.add(latest { $0.isStale = true }) }
    tell(difference)
    world.withLock { $0.forgetUnshown(gone) }
    if !came.isEmpty { fetchCovers(of: came) }
  }

  // MARK: Latest

  /// Changes the newest episodes, where they are in memory, and makes their directory anew.
  private func latest(_ change: (inout Latest) -> Void) -> Difference {
    guard var latest = world.withLock({ $0.latest }) else { return Difference() }
    change(&latest)
    let isStale = latest.isStale
    if isStale { freshenSoon() }
    var difference = show(latest)
    // The rows are read when the directory is next listed.
    if isStale { difference.listings.append(.latest) }
    return difference
  }

  /// A burst of changes costs one query. A listing before that queries at once.
  private func freshenSoon() {
    loader.async(after: 0.2) { [weak self] in try? self?.freshenLatest() }
  }

  func freshenLatest() throws {
    guard world.withLock({ $0.latest?.isStale ?? false }) else { return }
    tell(show(try readLatest()))
  }

  private func show(_ latest: Latest) -> Difference {
    world.withLock { $0.latest = latest }
    return remake([.latest])
  }

  // MARK: Podcasts and episodes

  /// Any of its episodes may be another.
  private func podcastChanged(_ id: Int64) throws {
    details.forget(podcast: id)
    let old = world.withLock { $0.shelves[id] }
    // Of one that nothing in memory shows they are read when something does.
    if old != nil || world.withLock({ $0.appearances[id] != nil }) { try readAppearances(of: id) }
    try knownChanged(of: id)
    try coverChanged(of: id)
    if try catalog.podcast(id) == nil { removeEmptyFolder(id) }
    // Of one that is gone (or is another's by now) there is nothing more to be read.
    if let old, try catalog.podcast(id) != nil {
      let new = try readShelf(id)
      let (folders, changed) = world.withLock { world -> ([NodeID], [NodeID]) in
        let changed = new.episodes.filter { episode in
          old.episode(episode.id).map { !episode.looks(like: $0) } ?? false
        }
        return (world.folders(showing: id), changed.map { world.node(of: $0) })
      }
      var difference = remake(folders.filter { $0.kind != .downloadedPodcast })
      if new.episodes.count > 1000 { SpareMemory.giveBackSoon(on: loader) }
      difference.attributes += changed + folders
      tell(difference)
      recordNew(new.episodes.map(\.id).filter { old.episode($0) == nil }, of: id)
    }
    tell(try timesChanged(of: id))
    if world.withLock({ $0.subscriptionOfPodcast[id] != nil }) { tell(latest { $0.isStale = true }) }
    fetchCoverOfSubscription(id)
  }

  /// Its title, cover, address.
  private func factsChanged(_ id: Int64) throws {
    details.forget(podcast: id)
    try coverChanged(of: id)
    guard let podcast = try catalog.podcast(id) else { return }
    let (cover, isKnown) = world.withLock { world -> (ListedSidecar?, Bool) in
      (world.shelves[id]?.cover, world.shelves[id] != nil)
    }
    let new = Shelf(podcast, [], settings.sidecars)
    if isKnown, cover?.key != new.cover?.key || cover?.name != new.cover?.name {
      return try podcastChanged(id)
    }
    try podcastRefreshed(id)
    var difference = Difference()
    difference.attributes = world.withLock { $0.folders(showing: id) }
    tell(difference)
    fetchCoverOfSubscription(id)
  }

  /// Costs as much as there are new ones.
  private func episodesCame(_ podcast: Int64, _ ids: ClosedRange<Int64>) throws {
    try podcastRefreshed(podcast)
    // Somebody may watch a folder that is not in memory.
    if let record = try catalog.podcast(podcast) {
      let listed = try catalog.episodes(Array(ids)).map {
        ListedEpisode($0.summary, of: record, settings.sidecars)
      }
      let names = listed.flatMap { self.names(of: $0, isShown: true) }
      let difference = world.withLock { world -> Difference in
        var difference = Difference()
        for episode in listed { world.shelves[podcast]?.replace(episode) }
        for folder in world.folders(showing: podcast) where folder.kind != .downloadedPodcast {
          difference.add(set(names, areNew: true, in: folder, &world))
        }
        return difference
      }
      tell(difference)
    }
    recordNew(Array(ids), of: podcast)
    if world.withLock({ $0.subscriptionOfPodcast[podcast] != nil }) { tell(latest { $0.isStale = true }) }
  }

  /// Records new episodes of a subscription for readers of the events.
  private func recordNew(_ ids: [Int64], of podcast: Int64) {
    let isSubscribed = world.withLock { $0.subscriptionOfPodcast[podcast] != nil }
    guard isSubscribed, events.hasReaders, let record = try? catalog.podcast(podcast),
      let new = try? catalog.episodes(ids)
    else { return }
    events.record(new: new, of: record)
  }

  /// The episodes of a podcast that have a download.
  private func knownChanged(of podcast: Int64) throws {
    let keys = world.withLock { world in
      world.downloads.downloaded[podcast]?.episodes.values.map(\.mediaKey) ?? []
    }
    try ownersChanged(of: keys)
  }

  /// A download may belong to another episode after two podcasts were merged: that episode takes its place in the views. A
  /// download without an episode is in no view.
  private func ownersChanged(of keys: [MediaKey]) throws {
    if keys.isEmpty { return }
    let entries = try catalog.entries(forKeys: keys)
    for key in keys {
      let known = entries[key].map { KnownEpisode($0, settings.sidecars) }
      if let podcast = entries[key]?.podcast {
        try loadAppearances(of: [podcast.id])
        loadCovers(of: [podcast])
      }
      let former = world.withLock { $0.downloads.known[key] }
      let difference = world.withLock { world -> Difference in
        var difference = Difference()
        let view = Downloads.view(world.downloads.status(key))
        let old = former
        let isSame = old?.episode.id == known?.episode.id
        if let old, !isSame, world.downloads.key(of: old.episode.id) == key {
          difference.add(place(old, .none, at: .now, &world))
        }
        guard let known else {
          world.downloads.forget(key)
          return difference
        }
        world.downloads.know(key, known)
        if !isSame, view != .none {
          difference.add(place(known, view, at: world.downloads.status(key)?.time ?? .now, &world))
          difference.attributes.append(world.node(of: known.episode))
        }
        return difference
      }
      tell(difference)
      if let old = former, old.episode.id != known?.episode.id { removeEmptyFolder(old.episode.podcast) }
    }
  }

  private func podcastRefreshed(_ id: Int64) throws {
    guard let podcast = try catalog.podcast(id) else { return }
    let isFirst = world.withLock { world -> Bool in
      guard var shelf = world.shelves[id] else { return false }
      let isFirst = !shelf.isFetched && podcast.isFetched
      shelf.nextRefresh = podcast.nextRefresh
      world.shelves[id] = shelf
      return isFirst
    }
    if isFirst { try podcastChanged(id) }
    tell(try timesChanged(of: id))
    try keepEpisodes(ofPodcast: id)
  }

  /// One episode's marks, or what its feed says of it. Costs the same however many the podcast has.
  private func episodeChanged(_ id: Int64) throws {
    details.forget(id)
    guard let episode = try catalog.episode(id), let podcast = try catalog.podcast(episode.podcastID) else {
      return
    }
    let known = KnownEpisode(EpisodeEntry(episode: episode, podcast: podcast), settings.sidecars)
    let new = known.episode
    let (difference, changesLatest) = world.withLock { world -> (Difference, Bool) in
      var difference = Difference()
      let old = world.episode(id)
      if world.shelves[podcast.id] != nil { world.shelves[podcast.id]?.replace(new) }
      if world.downloads.known[new.mediaKey]?.episode.id == id { world.downloads.know(new.mediaKey, known) }
      difference.attributes.append(world.node(of: new))
      let isSame = old.map { $0.looks(like: new) } ?? false
      if !isSame {
        for folder in world.folders(showing: podcast.id) where folder.kind != .downloadedPodcast {
          difference.add(set(names(of: new, isShown: world.shows(new, in: folder)), in: folder, &world))
        }
      }
      let isLatest = world.latest?.view.contains(id) ?? false
      return (difference, new.isHidden ? isLatest : !isSame)
    }
    tell(difference)
    tell(try timesChanged(of: podcast.id))
    if changesLatest, world.withLock({ $0.subscriptionOfPodcast[podcast.id] != nil }) {
      tell(
        latest { latest in if new.isHidden { latest.remove { $0.id == id } } else { latest.isStale = true } })
    }
  }

  /// An episode's own name, and those beside it.
  private func names(of episode: ListedEpisode, isShown: Bool) -> [(name: String, target: Target?)] {
    [(episode.name, isShown ? .episode(episode) : nil)]
      + episode.sidecars.map { ($0.name, isShown && isListed($0) ? .sidecar($0) : nil) }
  }

  /// Fetches the covers of new subscriptions, for file managers that show folders with them.
  private func fetchCovers(of podcasts: Set<Int64>) {
    // Not all of a long list at once: the others come when they are opened.
    for podcast in podcasts.prefix(Self.coversAtOnce) { fetchCover(ofPodcast: podcast) }
  }

  /// A feed has come for the first time, or names another cover.
  private func fetchCoverOfSubscription(_ podcast: Int64) {
    if world.withLock({ $0.subscriptionOfPodcast[podcast] != nil }) { fetchCover(ofPodcast: podcast) }
  }
}
