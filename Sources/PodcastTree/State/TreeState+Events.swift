internal import Catalog
internal import PodcastModel
internal import TransferProtocol

/// A change of the catalogue, the transfers or the cache, with the rows as they are now.
enum TreeEvent: Sendable {
  case searches([Search], FolderTimes)
  /// - Parameter shown: of podcasts that are in memory: the results that show them, with what is hidden there.
  case results(search: Int64, Search?, [Folder], shown: [Int64: [Int64: Set<Int64>]])
  case hiddenInSearch(episode: Int64, result: Int64)
  case subscriptions([Folder], FolderTimes)
  /// The row of a result or a subscription: when its podcast last listed something else.
  case folder(NodeID, Folder)
  /// A podcast of which any fact or episode may have changed; nil where it is gone.
  case podcast(Int64, PodcastEntry?)
  case refreshed(podcast: Int64, next: Int64?)
  case episodes([ListedEpisode])
  case view(NodeID, [ListedEpisode], EpisodeQuery)
  case queue([QueueEntry], episodes: [ListedEpisode])
  case transfer(MediaKey, TransferStatus?, ListedEpisode?)
  case emptied(NodeID)
  case copy(Sidecar, SidecarCopy?)
}

extension TreeState {
  /// - Returns: what has become another in the directories.
  mutating func apply(_ event: TreeEvent) -> Difference {
    switch event {
    case .searches(let searches, let times): return apply(searches, times)
    case .results(let id, let search, let folders, let shown): return apply(id, search, folders, shown)
    case .hiddenInSearch(let episode, let result):
      return changing([episode]) {
        _ = $0.podcasts[EpisodeID.podcast(of: episode)]?.results[result]?.insert(episode)
      }
    case .subscriptions(let list, let times): return apply(list, times)
    case .folder(let node, let folder):
      let old = folders.updateValue(folder, forKey: node)
      if old == nil || old == folder { return Difference() }
      if let place = subscriptions?.firstIndex(where: { $0.id == folder.id }), node.kind == .subscription {
        subscriptions?[place] = folder
      }
      return Difference(attributes: [node])
    case .podcast(let id, let entry): return apply(id, entry)
    case .refreshed(let podcast, let next):
      podcasts[podcast]?.nextRefresh = next
      return Difference()
    case .episodes(let episodes): return apply(episodes)
    case .view(let view, let episodes, let query): return apply(view, episodes, query)
    case .queue(let entries, let episodes): return apply(entries, episodes)
    case .transfer(let key, let status, let episode): return apply(key, status, episode)
    case .emptied(let folder):
      guard let name = views[folder]?.name, views[folder]?.count == 0 else { return Difference() }
      views.remove(folder)
      listings[folder] = nil
      var names = Names()
      names.add(name, in: .downloaded, Shown(target: .node(folder), node: folder))
      return show(from: names, to: Names(), at: .now)
    case .copy(let sidecar, let copy):
      var difference = changing(sidecar.node.kind == .cover ? [] : [sidecar.node.row], cover: sidecar.podcast)
      { $0.copies?[sidecar.key] = copy }
      difference.attributes.append(sidecar.node)
      return difference
    }
  }

  private mutating func apply(_ searches: [Search], _ times: FolderTimes) -> Difference {
    let isFirst = self.searches == nil
    let old = self.searches ?? []
    listTimes = times
    self.searches = searches
    views.note(searches)
    let (ids, oldIDs) = (Set(searches.map(\.id)), Set(old.map(\.id)))
    for id in oldIDs.subtracting(ids) { listings[NodeID(.search, id)] = nil }
    let languages = old.filter { !ids.contains($0.id) } + searches.filter { !oldIDs.contains($0.id) }
    for id in results.keys where !ids.contains(id) {
      for folder in results.removeValue(forKey: id) ?? [] {
        podcasts[folder.podcast]?.results[folder.id] = nil
        folders[NodeID(.result, folder.id)] = nil
        listings[NodeID(.result, folder.id)] = nil
      }
      listings[NodeID(.search, id)] = nil
    }
    if isFirst { return Difference() }
    defer { forgetUnshown() }
    return remake([.search] + Set(languages.filter { $0.language != nil }.compactMap { category(of: $0) }))
  }

  private mutating func apply(
    _ id: Int64, _ search: Search?, _ new: [Folder], _ shown: [Int64: [Int64: Set<Int64>]]
  ) -> Difference {
    let old = results.updateValue(new, forKey: id)
    for gone in Set((old ?? []).map(\.id)).subtracting(new.map(\.id)) {
      folders[NodeID(.result, gone)] = nil
      listings[NodeID(.result, gone)] = nil
    }
    for folder in new { folders[NodeID(.result, folder.id)] = folder }
    if let search, let place = searches?.firstIndex(where: { $0.id == id }) { searches?[place] = search }
    var changed: [NodeID] = []
    for (podcast, now) in shown {
      let before = podcasts[podcast]?.results ?? [:]
      changed += now.keys.filter { before[$0] != now[$0] }.map { NodeID(.result, $0) }
      podcasts[podcast]?.results = now
    }
    let node = NodeID(.search, id)
    if old == nil && listings[node] == nil { return remake(changed) }
    // The folder of a search for episodes is made when its rows have been read.
    var difference = remake((views.queries[node] == nil ? [node] : []) + changed)
    difference.attributes.append(node)
    return difference
  }

  private mutating func apply(_ list: [Folder], _ times: FolderTimes) -> Difference {
    listTimes = times
    let isFirst = subscriptions == nil
    let gone = followed
    let old = gone.mapValues { folders[$0]?.name }
    for node in gone.values { folders[node] = nil }
    subscriptions = list.sorted { $0.name < $1.name }
    followed = [:]
    for folder in list {
      followed[folder.podcast] = NodeID(.subscription, folder.id)
      folders[NodeID(.subscription, folder.id)] = folder
    }
    for (podcast, node) in gone where followed[podcast] == nil { listings[node] = nil }
    subscriptionListSize = nil
    if isFirst { return Difference() }
    var difference = remake([.subscriptions])
    // Its time may have changed although it lists the same.
    difference.attributes += [.subscriptions, .subscriptionList]
    let new = followed.mapValues { folders[$0]?.name }
    if old == new { return difference }
    views.outdate { $0.concerns(.followed) || !$0.shows.isEmpty }
    // What is no longer followed leaves at once.
    for podcast in gone.keys where followed[podcast] == nil {
      let shown = Set(views.mixed.flatMap { views[$0]?.episodes(ofPodcast: podcast) ?? [] })
      difference.add(changing(shown.sorted()) { _ in })
    }
    forgetUnshown()
    return difference
  }

  private mutating func apply(_ id: Int64, _ entry: PodcastEntry?) -> Difference {
    let old = podcasts[id]
    let changed = entry?.episodes?.filter { episode in
      old?.episode(episode.id).map { !episode.looks(like: $0) } ?? false
    }
    var difference = changing([], cover: id) { $0.podcasts[id] = entry }
    let folders = folders(showing: id)
    if old?.episodes != nil { difference.add(remake(folders)) }
    difference.attributes += folders + (changed ?? []).map { node(of: $0) }
    noteChanged(podcast: id)
    return difference
  }

  /// The views that may show its episodes are to be read again, also where the podcast itself is not in memory.
  mutating func noteChanged(podcast id: Int64) {
    let isFollowed = followed[id] != nil
    views.outdate { isFollowed || !$0.states.contains(.followed) }
  }

  private mutating func apply(_ episodes: [ListedEpisode]) -> Difference {
    // Also what listings do not hold, such as the position, has changed.
    let known = episodes.filter { episode($0.id) != nil }
    var difference = changing(episodes.map(\.id), to: episodes) { state in
      for episode in episodes {
        state.podcasts[episode.podcast]?.put(episode)
        if state.downloads[episode.id]?.mediaKey == episode.mediaKey { state.downloads[episode.id] = episode }
      }
    }
    difference.news = known.flatMap { names(of: $0).episodes }
    return difference
  }

  private mutating func apply(
    _ key: MediaKey, _ status: TransferStatus?, _ episode: ListedEpisode?
  ) -> Difference {
    let old = statuses[key]
    let former = downloadOfKey[key]
    let ids = Set([former, episode?.id].compactMap(\.self))
    var difference = changing(Array(ids), at: status?.time ?? .now) { state in
      state.statuses[key] = status
      if let former, former != episode?.id { state.downloads[former] = nil }
      state.downloadOfKey[key] = status == nil ? nil : episode?.id
      if let episode { state.downloads[episode.id] = status == nil ? nil : episode }
    }
    guard let episode else { return difference }
    // The daemon does not report each state: the file may have been damaged meanwhile. All bytes are in the cache, so the
    // kernel drops its pages without waiting.
    if status?.state == .cached { difference.bytes.append(episode.node(status)) }
    if old?.state != status?.state { difference.news = names(of: episode).episodes }
    return difference
  }
}

extension TransferStatus {
  /// When it came to the stage at which it is.
  var time: FileTime { changed > 0 ? FileTime(sinceEpoch: changed) : .now }
}
