internal import Catalog
internal import PodcastModel

extension TreeState {
  /// What a directory lists; nil where its rows are not in memory.
  func items(of folder: NodeID) -> [Listing.Item]? {
    let fixed = FixedNode.all.filter {
      $0.parent == folder && $0.isListed && ($0.node != .discover || hasDirectory)
    }.map { Listing.Item($0.name, .node($0.node)) }
    switch (folder, folder.kind) {
    case (.root, _), (.control, _): return fixed
    case (.search, _):
      return searches?.filter { $0.category == nil }
        .map { Listing.Item($0.name, .node(NodeID(.search, $0.id))) }
    case (.discover, _):
      return searches?.filter { $0.language == nil }.compactMap { search in
        search.category.map { Listing.Item($0, .node(NodeID(.search, search.id))) }
      }
    case (.subscriptions, _):
      let files = uploads.values.compactMap { upload in
        upload.name.map { Listing.Item($0, .node(upload.node)) }
      }
      return subscriptions.map { folders in
        fixed + folders.map { Listing.Item($0.name, .node(NodeID(.subscription, $0.id))) } + files
      }
    case (.downloaded, _):
      return views.results.filter { $0.key.kind == .downloadedPodcast }.map {
        Listing.Item($1.name, .node($0))
      }
    case (_, .search):
      if views.queries[folder] != nil { return views[folder].map { items(of: $0) } }
      let languages = (searches ?? []).filter { $0.language != nil && category(of: $0) == folder }
      return results[folder.row].map { results in
        results.map { Listing.Item($0.name, .node(NodeID(.result, $0.id))) }
          + languages.map { Listing.Item($0.language ?? "", .node(NodeID(.search, $0.id))) }
      }
    case (_, .result), (_, .subscription):
      guard let podcast = folders[folder].flatMap({ podcasts[$0.podcast] }), podcast.isFetched,
        let episodes = podcast.episodes
      else { return nil }
      return items(of: episodes.filter { shows($0, in: folder) }, podcast) { isListed($0) }
    case (_, .downloadedPodcast):
      guard let view = views[folder], let podcast = podcasts[folder.row] else { return [] }
      return items(of: view.shown.map(\.episode), podcast) { isHere($0) }
    default: return views[folder].map { items(of: $0) + fixed }
    }
  }

  private func items(of view: QueryResult) -> [Listing.Item] {
    view.shown.compactMap { row in
      view.name(of: row.episode.id).map { Listing.Item($0, .episode(row.episode)) }
    }
  }

  private func items(
    of episodes: [ListedEpisode], _ podcast: PodcastEntry, where isShown: (Sidecar) -> Bool
  ) -> [Listing.Item] {
    let items = episodes.map { Listing.Item($0.name, .episode($0)) }
    let sidecars = episodes.flatMap(\.sidecars) + [podcast.cover].compactMap(\.self)
    return items + sidecars.filter(isShown).map { Listing.Item($0.name, .sidecar($0)) }
  }

  /// The listing of a directory, made where it is not in memory; nil where its rows are not.
  mutating func listing(of folder: NodeID) -> Listing? {
    if let listing = listings[folder] { return listing }
    guard let items = items(of: folder) else { return nil }
    let listing = Listing(items)
    listings[folder] = listing
    // A view's listing is no more than the view, which stays.
    if listings.values.reduce(0, { $0 + $1.items.count }) > Self.namesInMemory {
      listings = listings.filter { $0.key == folder || $0.key.kind == .fixed }
    }
    forgetUnshown()
    return listing
  }

  mutating func forgetUnshown() {
    let listed = Set(listings.keys.compactMap { podcast(shownBy: $0) })
    let needed = Set(downloads.values.map(\.podcast)).union(views.mixed.flatMap { views[$0]?.podcasts ?? [] })
      .union(listed)
    for id in podcasts.keys {
      if !needed.contains(id) {
        podcasts[id] = nil
      } else if !listed.contains(id) {
        podcasts[id]?.episodes = nil
      }
    }
  }
}
