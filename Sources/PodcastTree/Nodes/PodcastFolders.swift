internal import Catalog
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// A podcast's directory in a search or among the subscriptions: all of its episodes, but for those hidden there.
protocol PodcastFolder: FolderNode {}

extension PodcastFolder {
  func exists(_ world: World) -> Bool? { world.podcast(shownBy: id) == nil ? nil : true }

  func load() throws {
    try tree.loadRow(of: id)
    guard let podcast = tree.world.withLock({ $0.podcast(shownBy: id) }) else { throw Errno.ENOENT }
    try tree.loadShelf(podcast)
  }

  func attributes() -> Answer<NodeAttributes> {
    .inMemory(or: tree.loader) {
      tree.world.withLock { world in
        world.podcast(shownBy: id).map { _ in tree.directory(id, modified(world), world) }
      }
    } load: {
      try tree.loadRow(of: id)
    }
  }

  func modified(_ world: World) -> FileTime {
    if id.kind == .result { return world.resultByID[id.row]?.changed ?? tree.started }
    // Shows sort by news.
    let folder = world.subscriptionByID[id.row]
    return folder?.newest ?? folder?.changed ?? tree.started
  }

  func items(_ world: World) -> [Listing.Item]? {
    guard let podcast = world.podcast(shownBy: id), let shelf = world.shelves[podcast], shelf.isFetched else {
      return nil
    }
    let episodes = shelf.episodes.filter { world.shows($0, in: id) }
    return tree.items(episodes, sidecars: episodes.flatMap(\.sidecars), cover: shelf.cover)
  }

  /// Fetches the feed where that never happened, unless the caller may start nothing. Otherwise lists what is known at once
  /// and refreshes in the background where that is due.
  func listing(for caller: Caller) -> Answer<Listing> {
    let (found, due) = tree.world.withLock { world -> (Listing?, Int64?) in
      guard let listing = world.listings[id] else { return (nil, nil) }
      world.touch(id)
      return (listing, world.podcast(shownBy: id).flatMap { world.shelves[$0]?.nextRefresh })
    }
    if let found {
      refreshIfDue(due, caller)
      return .value(found)
    }
    return Answer<Shelf>.on(tree.loader) {
      try tree.loadRow(of: id)
      guard let podcast = tree.world.withLock({ $0.podcast(shownBy: id) }) else { throw Errno.ENOENT }
      return try tree.loadShelf(podcast)
    }.then { shelf in
      if shelf.isFetched {
        refreshIfDue(shelf.nextRefresh, caller)
        return made()
      }
      if tree.isBarred(caller) {
        var empty = Listing([])
        empty.isCacheable = false
        return .value(empty)
      }
      return firstLook(shelf.podcast).then { made() }
    }
  }

  private func made() -> Answer<Listing> {
    .on(tree.loader) {
      try load()
      return try tree.makeListing(self)
    }
  }

  private func firstLook(_ podcast: Int64) -> Answer<Void> {
    .pending { completion in
      // People take longer from one folder to the next.
      let last = tree.world.withLock { $0.firstLookEnded }
      let isWalk = last.map { MonotonicTime.now.seconds(since: $0) < 0.5 } ?? false
      let task = tree.catalog.refresh(podcast: podcast, cause: .firstLook) { result in
        tree.world.withLock { $0.firstLookEnded = .now }
        completion(result.map { _ in }.mapError(\.errnoOfFolder))
      }
      if isWalk && id.kind == .result { tree.loader.async { try? fetchNext() } }
      return { task.cancel() }
    }
  }

  /// A program that looks into one result after the other (a file manager that counts what is in each) waits for one
  /// feed after the other: those of the next four results are fetched meanwhile.
  private func fetchNext() throws {
    let next = tree.world.withLock { world -> ArraySlice<Folder> in
      let results = world.results.values.first { $0.contains { $0.id == id.row } }
      guard let results, let place = results.firstIndex(where: { $0.id == id.row }) else { return [] }
      return results[(place + 1)...].prefix(4)
    }
    for folder in next {
      guard let podcast = try tree.catalog.podcast(folder.podcast), !podcast.isFetched, podcast.error == nil
      else { continue }
      _ = tree.catalog.refresh(podcast: podcast.id, cause: .ahead) { _ in }
    }
  }

  private func refreshIfDue(_ due: Int64?, _ caller: Caller) {
    guard let due, due <= wallClockSeconds(), !tree.isBarred(caller) else { return }
    guard let podcast = tree.world.withLock({ $0.podcast(shownBy: id) }) else { return }
    _ = tree.catalog.refresh(podcast: podcast, cause: .due) { _ in }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    // No name of ours begins with a dot. File managers look for such files everywhere, which must not fetch a feed.
    if name == FolderIcon.name {
      return Answer.on(tree.loader) {
        try tree.loadRow(of: id)
        guard let podcast = tree.world.withLock({ $0.podcast(shownBy: id) }) else { throw Errno.ENOENT }
        return podcast
      }.then { FolderIcon.target(of: $0, in: tree) }
    }
    if name.hasPrefix(".") { return .failure(.ENOENT) }
    return listing(for: caller).then { listing in
      (listing[name] ?? besideHidden(name)).map { .value($0) } ?? .failure(.ENOENT)
    }
  }

  /// A sidecar of a hidden episode is not listed but can be removed: `rm -r` has listed it before it removed the episode.
  private func besideHidden(_ name: String) -> Target? {
    tree.world.withLock { world in
      guard let podcast = world.podcast(shownBy: id), let shelf = world.shelves[podcast] else { return nil }
      for episode in shelf.episodes where !episode.sidecars.isEmpty && !world.shows(episode, in: id) {
        if let found = episode.sidecars.first(where: { $0.name == name }) { return .sidecar(found) }
      }
      return nil
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    .on(tree.loader) {
      try tree.loadRow(of: id)
      let podcast = tree.world.withLock { $0.podcast(shownBy: id) }
      guard let podcast, let facts = try tree.catalog.podcast(podcast) else { throw Errno.ENOENT }
      return tree.attributeList(of: facts, in: id)
    }
  }
}

/// `Search/QUERY/PODCAST/`.
struct ResultFolder: PodcastFolder {
  let tree: PodcastTree
  let id: NodeID

  /// Hides the episode from this search; its download stays.
  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    switch target {
    case .episode(let episode):
      tree.commit { try tree.catalog.hideInSearch(result: id.row, episode: episode.id) }
    case .sidecar(let sidecar): tree.removeCopy(of: sidecar, podcast: nil, from: id)
    case .node: .failure(.EPERM)
    }
  }
}

/// `Subscriptions/PODCAST/`.
struct SubscriptionFolder: PodcastFolder {
  let tree: PodcastTree
  let id: NodeID

  /// Hides the episode until it is restored, and drops its download.
  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    switch target {
    case .episode(let episode): tree.hideAndDrop(episode)
    case .sidecar(let sidecar): tree.removeCopy(of: sidecar, podcast: nil, from: id)
    case .node: .failure(.EPERM)
    }
  }

  /// `hidden` set to 0 shows all hidden episodes again; `feed_url` is another address of the same show.
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> {
    if key == "feed_url" {
      return tree.commit { [row = id.row] in try tree.catalog.setFeedURL(value, ofSubscription: row) }
    }
    guard key == "hidden" else { return .failure(.EPERM) }
    guard value == "0" else { return .failure(.EINVAL) }
    return tree.commit {
      try tree.loadRow(of: id)
      guard let podcast = tree.world.withLock({ $0.podcast(shownBy: id) }) else { throw Errno.ENOENT }
      try tree.catalog.restoreHidden(podcast: podcast)
    }
  }
}

extension PodcastTree {
  /// Episodes and what lies beside them, without names that belong to another and without sidecars that their hosts do
  /// not have.
  func items(
    _ episodes: [ListedEpisode], sidecars: [ListedSidecar], cover: ListedSidecar?
  ) -> [Listing.Item] {
    var items = episodes.map { Listing.Item(name: $0.name, target: .episode($0)) }
    if !sidecars.isEmpty {
      let stems = Dictionary(episodes.map { ($0.stem, $0.id) }, uniquingKeysWith: { first, _ in first })
      items += sidecars.compactMap { sidecar in
        // "X.de.vtt" belongs to an episode "X.de" before it does to one "X".
        let base = String(decoding: sidecar.name.utf8.dropLast(4), as: UTF8.self)
        if sidecar.node.kind == .transcript, let other = stems[base], other != sidecar.node.row { return nil }
        return isListed(sidecar) ? Listing.Item(name: sidecar.name, target: .sidecar(sidecar)) : nil
      }
    }
    if let cover, isListed(cover) { items.append(Listing.Item(name: cover.name, target: .sidecar(cover))) }
    return items
  }

  /// Hides an episode of the subscriptions, then stops or drops its download. Where the download stays, the episode is
  /// shown again. On a full disk the drop comes first: it makes the room that the catalogue needs.
  func hideAndDrop(_ episode: ListedEpisode) -> Answer<Void> {
    let mark: @Sendable (Bool) -> Answer<Void> = { isHidden in
      self.commit { try self.catalog.setHidden(isHidden, episode: episode.id) }
    }
    return mark(true).recover { errno in
      errno == .ENOSPC ? self.dropDownload(of: episode).then { mark(true) } : .failure(errno)
    }.then {
      self.dropDownload(of: episode).recover { errno in mark(false).then { .failure(errno) } }
    }
  }

  /// Stops or drops a download: now, or when the last reader closes it.
  func dropDownload(of episode: ListedEpisode) -> Answer<Void> {
    let key = episode.mediaKey
    enum Way { case nothing, now, later }
    let way = world.withLock { world -> Way in
      if Downloads.view(world.downloads.status(key)) == .none { return .nothing }
      guard world.open.isOpen(episode.id) else { return .now }
      world.open.dropsAtClose.insert(episode.id)
      return .later
    }
    switch way {
    case .nothing: return .value(())
    case .now: return order(of: key) { self.transfers.drop(key, completion: $0) }
    // It leaves the views at once.
    case .later: return .on(loader) { self.transferChanged(key) }
    }
  }
}
