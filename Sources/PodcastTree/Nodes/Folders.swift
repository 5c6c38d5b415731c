internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import Sync
internal import TransferProtocol

/// A node that is one of its kind, and where it is.
struct FixedNode: Sendable {
  let node: NodeID
  let parent: NodeID
  let name: String
  /// What a folder of episodes selects, where its rows are in memory.
  var query: EpisodeQuery?
  /// `.podcastfs` opens by name but is not listed, so that cp -r and grep -r don't wait in it.
  var isListed: Bool { node != .control }
  static let all = [
    FixedNode(node: .discover, parent: .root, name: "Discover"),
    FixedNode(node: .downloaded, parent: .root, name: "Downloaded"),
    FixedNode(node: .downloading, parent: .root, name: "Downloading", query: .downloading),
    FixedNode(node: .paused, parent: .downloading, name: "Paused", query: .paused),
    FixedNode(node: .failed, parent: .downloading, name: "Failed", query: .failed),
    FixedNode(node: .latest, parent: .root, name: "Latest"),
    FixedNode(node: .queue, parent: .root, name: "Queue", query: .queue),
    FixedNode(node: .search, parent: .root, name: "Search"),
    FixedNode(node: .subscriptions, parent: .root, name: "Subscriptions"),
    FixedNode(node: .subscriptionList, parent: .subscriptions, name: PodcastTree.listName),
    FixedNode(node: .control, parent: .root, name: ".podcastfs"),
    FixedNode(node: .events, parent: .control, name: "events"),
    FixedNode(node: .log, parent: .control, name: "log"),
    FixedNode(node: .metrics, parent: .control, name: "metrics"),
    FixedNode(node: .status, parent: .control, name: "status.json"),
  ]
  static let queries = all.compactMap { fixed in fixed.query.map { (fixed.node, $0) } }
}

/// The mount's root, and `.podcastfs/`, which is for the owner alone.
struct FixedFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { false }

  func listing(for caller: Caller) -> Answer<Listing> {
    if id == .control && !tree.owner.admits(caller) { return .failure(.EACCES) }
    if id == .root { freshen() }
    return tree.listing(of: id) {}.map { listing in
      var listing = listing
      // Nothing tells a mount that the offline directory was installed: each listing of the root looks.
      listing.isCacheable = id != .root
      return listing
    }
  }

  /// `Discover/` is listed where the offline directory is installed.
  private func freshen() {
    let hasDirectory = tree.catalog.hasDirectory
    tree.state.withLock { state in
      if state.hasDirectory != hasDirectory { state.listings[.root] = nil }
      state.hasDirectory = hasDirectory
    }
  }

  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    let found = FixedNode.all.first { $0.parent == id && $0.name == name }?.node
    guard let found, found != .discover || tree.catalog.hasDirectory else { return .failure(.ENOENT) }
    return .value(.node(found))
  }

  func extendedAttributes() -> Answer<AttributeList> {
    var list = AttributeList()
    if id == .control { return .value(list) }
    let (cached, active, queued) = tree.state.withLock {
      ($0.cachedBytes, $0.count(of: .downloading), $0.count(of: .queued))
    }
    list.add("version", podcastfsVersion)
    list.add("cache_bytes", String(cached))
    list.add("cache_limit", String(tree.settings.cacheSize))
    list.add("active", String(active))
    list.add("queued", String(queued))
    let steering = tree.transfers.steering
    list.add("limit_rate", String(steering.limitRate ?? tree.settings.limitRate ?? 0))
    list.add("paused", steering.isPaused ? "1" : "0")
    return .on(tree.loader) { [list] in
      guard let sync = try tree.catalog.syncStatus(tree.settings.sync) else { return list }
      var list = list
      list.add("sync_last", sync.last.map { CivilTime.iso8601($0) })
      list.add("sync_error", sync.error)
      list.add("sync_pending", String(sync.pending))
      return list
    }
  }

  /// `limit_rate` and `paused` are for all background downloads of the user.
  func set(_ key: String, to value: String, for caller: Caller) -> Answer<Void> {
    guard id == .root else { return .failure(.EPERM) }
    var steering = tree.transfers.steering
    switch key {
    case "limit_rate":
      guard let rate = Settings.rate(value) else { return .failure(.EINVAL) }
      steering.limitRate = rate
    case "paused":
      guard let flag = ["0": false, "1": true][value] else { return .failure(.EINVAL) }
      steering.isPaused = flag
    default: return .failure(.EPERM)
    }
    return .on(tree.loader) { [steering] in try tree.transfers.steer(steering) }
  }
}

/// `Search/QUERY/`: the podcasts that it has found, or the episodes that it selects. `Discover/CATEGORY/` and
/// `Discover/CATEGORY/LANGUAGE/`: the best of a category.
struct SearchFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  private var view: ViewFolder? {
    tree.state.withLock { $0.views.queries[id] != nil } ? ViewFolder(tree: tree, id: id) : nil
  }

  private var isCategory: Bool {
    tree.state.withLock { state in state.searches?.first { $0.id == id.row }?.category != nil }
  }

  /// Another offline directory may be installed without notice: each listing of a category looks for it. The first listing
  /// of a chart fetches it and waits; a listing a day later fetches it in the background.
  func listing(for caller: Caller) -> Answer<Listing> {
    if let view { return view.listing(for: caller) }
    let found = isCategory ? Answer.on(tree.loader) { try tree.load(id) } : .value(())
    return found.then { readChart(for: caller) }.then { tree.listing(of: id) { try tree.load(id) } }.map {
      listing in
      var listing = listing
      listing.isCacheable = !isCategory
      return listing
    }
  }

  private func readChart(for caller: Caller) -> Answer<Void> {
    let chart = tree.state.withLock { state in state.searches?.first { $0.id == id.row && $0.isChart } }
    guard let chart, !tree.isBarred(caller) else { return .value(()) }
    return Answer.on(tree.loader) { try tree.catalog.isChartDue(id.row) }.then { isDue in
      if !isDue { return .value(()) }
      if chart.searched > 0 {
        _ = tree.catalog.readChart(id.row) { _ in }
        return .value(())
      }
      return Answer.task { tree.catalog.readChart(id.row, completion: $0) }
        .then { .on(tree.loader) { tree.takeInCommits() } }
    }
  }

  /// The folder of a language exists as soon as a program looks it up, and is listed from then on. If all languages were
  /// listed, a search through all files would read hundreds of thousands of podcasts.
  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    if let view { return view.lookup(name, for: caller) }
    return listing(for: caller).then { listing in
      if let target = listing[name] { return .value(target) }
      guard isCategory, (2...3).contains(name.utf8.count) else { return .failure(.ENOENT) }
      return Answer.on(tree.loader) {
        guard try tree.catalog.makeLanguage(name, ofCategory: id.row) else { throw Errno.ENOENT }
        tree.takeInCommits()
      }.then { tree.listing(of: id) { try tree.load(id) } }
        .then { $0[name].map { .value($0) } ?? .failure(.ENOENT) }
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    .on(tree.loader) {
      try tree.load(id)
      guard let search = try tree.catalog.search(id.row) else { throw Errno.ENOENT }
      let episodes = tree.state.withLock { $0.views[id]?.count }
      var list = AttributeList()
      if search.category == nil { list.add("query", search.name) }
      if let language = search.language { list.add(search.isChart ? "country" : "language", language) }
      list.add("result_count", String(episodes ?? search.resultCount))
      list.add("source", search.source)
      if search.searched > 0 { list.add("searched", CivilTime.iso8601(search.searched)) }
      return list.bounded()
    }
  }
}

/// A folder that lists what its rows say: `Search/`, `Discover/`, `Subscriptions/`, `Downloaded/`; or the episodes that a
/// query selects: `Latest/`, `Queue/`, `Downloading/` with its folders, each podcast's in `Downloaded/`, and searches.
struct ViewFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { id != .discover }
  private var isRead: Bool { id == .latest || id.kind == .search }

  func listing(for caller: Caller) -> Answer<Listing> {
    let isStale = isRead && tree.state.withLock { $0.views.isStale(id) ?? true }
    return (isStale ? Answer.on(tree.loader) { try tree.load(id) } : .value(())).then {
      tree.listing(of: id) { try tree.load(id) }
    }
  }

  /// What memory lists is right, though further episodes may be missing there.
  func lookup(_ name: String, for caller: Caller) -> Answer<Target> {
    if let target = tree.state.withLock({ $0.listings[id]?[name] }) { return .value(target) }
    return listing(for: caller).then { listing in
      if let target = listing[name] { return .value(target) }
      if id.kind != .downloadedPodcast { return .failure(.ENOENT) }
      return Answer.on(tree.loader) { try tree.loadEpisodes(ofPodcast: id.row) }.then { _ in
        tree.unlisted(name, ofPodcast: id.row, onlyHere: true)
      }
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    if id.kind != .downloadedPodcast { return .value(AttributeList()) }
    return .on(tree.loader) {
      guard let podcast = try tree.catalog.podcast(id.row) else { throw Errno.ENOENT }
      return tree.attributeList(of: podcast, in: id)
    }
  }
}
