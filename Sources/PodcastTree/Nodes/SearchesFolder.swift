internal import Catalog
internal import PodcastModel
internal import PosixKit

/// `Search/`: a directory for each search.
struct SearchesFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .search }

  func load() throws { try tree.loadSearches() }

  func makeDirectory(_ name: String) -> Answer<NodeAttributes> {
    if let errno = tree.refusal(ofName: name) { return .failure(errno) }
    return search(name, replacing: nil).then { search in
      SearchFolder(tree: tree, id: NodeID(.search, search.id)).attributes()
    }
  }

  private func search(_ name: String, replacing old: Int64?) -> Answer<Search> {
    Answer.task { tree.catalog.search(name, replacing: old, completion: $0) }.then { search in
      // It can be listed when the call returns.
      .on(tree.loader) {
        tree.takeInCommits()
        try tree.loadResults(ofSearch: search.id)
        return search
      }
    }
  }

  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> {
    let row = target.identity.row
    return tree.commit { try tree.catalog.forgetSearch(row) }
  }

  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void> {
    guard parent == .search, target.identity.kind == .search else { return .failure(.EPERM) }
    if let errno = tree.refusal(ofName: newName) { return .failure(errno) }
    return listing(for: .owner(tree.owner)).then { listing in
      if listing[newName] != nil { return .failure(.EEXIST) }
      return search(newName, replacing: target.identity.row).map { _ in }
    }
  }
}

/// `Discover/`: a directory for each category of the offline directory.
struct DiscoverFolder: FolderNode {
  let tree: PodcastTree
  var id: NodeID { .discover }
  var hasVerbs: Bool { false }

  func load() throws {
    try tree.catalog.makeCategories()
    try tree.readSearches()
  }
}

/// `Search/QUERY/`: the podcasts that it has found, or the episodes that it selects. `Discover/CATEGORY/` and
/// `Discover/CATEGORY/LANGUAGE/`: the best of a category.
struct SearchFolder: FolderNode {
  let tree: PodcastTree
  let id: NodeID

  private var view: ViewFolder? {
    tree.state.withLock { $0.readQueries[id] != nil } ? ViewFolder(tree: tree, id: id) : nil
  }

  func load() throws {
    try tree.loadSearches()
    if let view { return try view.load() }
    if try tree.catalog.fillCategory(id.row) { tree.takeInCommits() }
    try tree.loadResults(ofSearch: id.row)
  }

  private var isCategory: Bool {
    tree.state.withLock { state in state.searches?.first { $0.id == id.row }?.category != nil }
  }

  /// Another offline directory may be installed without notice: each listing of a category looks for it. The first listing
  /// of a chart fetches it and waits; a listing a day later fetches it in the background.
  func listing(for caller: Caller) -> Answer<Listing> {
    if let view { return view.listing(for: caller) }
    let found = isCategory ? Answer.on(tree.loader) { try load() } : .value(())
    return found.then { readChart(for: caller) }.then { tree.listing(of: id) { try load() } }.map { listing in
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
    listing(for: caller).then { listing in
      if let target = listing[name] { return .value(target) }
      guard isCategory, (2...3).contains(name.utf8.count) else { return .failure(.ENOENT) }
      return Answer.on(tree.loader) {
        guard try tree.catalog.makeLanguage(name, ofCategory: id.row) else { throw Errno.ENOENT }
        tree.takeInCommits()
      }.then { tree.listing(of: id) { try load() } }
        .then { $0[name].map { .value($0) } ?? .failure(.ENOENT) }
    }
  }

  func extendedAttributes() -> Answer<AttributeList> {
    .on(tree.loader) {
      try load()
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

  func remove(_ name: String, _ target: Target) -> Answer<Void> {
    view?.remove(name, target) ?? .failure(.EPERM)
  }

  /// Hides a result. Takes a language's folder from the listing until a program looks it up again.
  func removeDirectory(_ name: String, _ target: Target) -> Answer<Void> {
    let row = target.identity.row
    let isLanguage = target.identity.kind == .search
    return tree.commit {
      if isLanguage { try tree.catalog.forgetSearch(row) } else { try tree.catalog.hideResult(row) }
    }
  }

  /// Subscribes; where the podcast is followed already, under any name, nothing changes.
  func move(_ name: String, _ target: Target, to newName: String, in parent: NodeID) -> Answer<Void> {
    guard parent == .subscriptions, target.identity.kind == .result else { return .failure(.EPERM) }
    if let errno = tree.refusal(ofSubscription: newName) { return .failure(errno) }
    let row = target.identity.row
    return isFollowed(row).then { isFollowed in
      if isFollowed { return stay(name, target, newName) }
      return SubscriptionsFolder(tree: tree).isFree(newName).then {
        tree.commit {
          let listed = try tree.catalog.subscribe(result: row, name: newName)
          tree.moved(NodeID(.result, row), to: NodeID(.subscription, listed.id))
        }
      }
    }
  }

  private func isFollowed(_ result: Int64) -> Answer<Bool> {
    .on(tree.loader) {
      try tree.loadSubscriptions()
      return tree.state.withLock { state in
        state.folders[NodeID(.result, result)].map { state.followed[$0.podcast] != nil } ?? false
      }
    }
  }

  /// The kernel moves the directory in its cache when rename(2) succeeds: it has to look up both names again. It does so
  /// when it unlocks the two directories.
  private func stay(_ name: String, _ target: Target, _ newName: String) -> Answer<Void> {
    .on(tree.loader) {
      tree.stayed(target.identity)
      tree.tell(
        [(id, name, .replaced), (.subscriptions, newName, .replaced)], of: target.identity)
    }
  }
}
