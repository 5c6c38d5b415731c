internal import PodcastModel

/// Changes rows, and makes new values of the listings that show them. The one place where differences are made.
extension TreeState {
  /// Changes the rows of some episodes. Costs what changes, however many there are beside them.
  /// - Parameters:
  ///   - podcast: whose cover may change, too.
  ///   - new: the episodes as they are from now on, where memory may not hold them.
  ///   - time: when it happened.
  mutating func changing(
    _ ids: [Int64], cover podcast: Int64? = nil, to new: [ListedEpisode] = [], at time: FileTime = .now,
    _ change: (inout TreeState) -> Void
  ) -> Difference {
    var (before, after) = (Names(), Names())
    var rows: [Int64: QueryResult.Row] = [:]
    var touched: Set<NodeID> = []
    var outdated: Set<NodeID> = []
    for id in ids {
      guard let episode = episode(id) else { continue }
      before.add(names(of: episode))
      rows[id] = row(of: episode)
      touched.insert(node(of: episode))
    }
    if let podcast { before.add(names(ofCover: podcast)) }
    change(&self)
    let given = Dictionary(new.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let now = FileTime.now.seconds
    for id in ids {
      let episode = given[id] ?? self.episode(id)
      let row = episode.flatMap { self.row(of: $0) }
      makeDownloadedFolder(row, &after)
      for view in views.all(ofEpisode: id) {
        views[view]?.update(id, from: rows[id], to: row, now: now)
        if views[view]?.isOutdated ?? false { outdated.insert(view) }
      }
      guard let episode else { continue }
      after.add(names(of: episode))
      touched.insert(node(of: episode))
    }
    if let podcast { after.add(names(ofCover: podcast)) }
    var difference = show(from: before, to: after, at: time)
    difference.attributes += touched
    difference.listings += outdated
    return difference
  }

  /// `Downloaded/` has a directory for each podcast of which something is wholly here.
  private mutating func makeDownloadedFolder(_ row: QueryResult.Row?, _ names: inout Names) {
    guard let row, row.facts.download == .complete else { return }
    let folder = NodeID(.downloadedPodcast, row.episode.podcast)
    if views[folder] != nil { return }
    views[folder] = QueryResult(.downloaded, name: row.podcastName)
    names.add(row.podcastName, in: .downloaded, Shown(target: .node(folder), node: folder))
    names.add(self.names(ofCover: row.episode.podcast))
  }

  func names(of episode: ListedEpisode) -> Names {
    var names = Names()
    func add(_ name: String, in folder: NodeID, sidecars: (Sidecar) -> Bool) {
      names.add(name, in: folder, Shown(target: .episode(episode), node: node(of: episode)))
      for sidecar in episode.sidecars where sidecars(sidecar) {
        names.add(sidecar.name, in: folder, Shown(target: .sidecar(sidecar), node: sidecar.node))
      }
    }
    for folder in folders(showing: episode.podcast) where shows(episode, in: folder) {
      add(episode.name, in: folder) { isListed($0) }
    }
    for view in views.all(ofEpisode: episode.id) {
      guard let name = views[view]?.name(of: episode.id) else { continue }
      add(name, in: view) { view.kind == .downloadedPodcast && isHere($0) }
    }
    return names
  }

  private func names(ofCover podcast: Int64) -> Names {
    var names = Names()
    guard let cover = podcasts[podcast]?.cover else { return names }
    let downloaded = NodeID(.downloadedPodcast, podcast)
    let folders = isListed(cover) ? folders(showing: podcast) : []
    for folder in folders + (isHere(cover) && views[downloaded] != nil ? [downloaded] : []) {
      names.add(cover.name, in: folder, Shown(target: .sidecar(cover), node: cover.node))
    }
    return names
  }

  mutating func show(from before: Names, to after: Names, at time: FileTime) -> Difference {
    var difference = Difference()
    for folder in Set(before.byFolder.keys).union(after.byFolder.keys) {
      let (old, new) = (before.byFolder[folder] ?? [:], after.byFolder[folder] ?? [:])
      var listing = listings.removeValue(forKey: folder)
      var change = Difference()
      for name in Set(old.keys).union(new.keys) {
        // The directory may show something else under the name.
        if let listed = listing?[name]?.identity, listed != old[name]?.target.identity,
          listed != new[name]?.target.identity
        {
          continue
        }
        change.add(name, in: folder, from: old[name], to: new[name])
        if let target = new[name]?.target { listing?.set(name, target) } else { listing?.remove(name) }
      }
      if !change.isEmpty {
        change.listings = [folder]
        listing?.version += 1
      }
      listings[folder] = listing
      if change.names.contains(where: { $0.event != .replaced }) { views.noteTime(time, of: folder) }
      difference.add(change)
    }
    return difference
  }

  mutating func remake(_ folders: [NodeID]) -> Difference {
    var difference = Difference()
    for folder in folders {
      guard let old = listings[folder] else {
        // Nobody has listed it lately, but its time may have been looked at.
        difference.listings.append(folder)
        continue
      }
      guard let items = items(of: folder) else {
        listings[folder] = nil
        continue
      }
      var new = Listing(items)
      new.version = old.version + 1
      var change = Difference()
      Listing.forEachName(old, new) { name, old, new in
        change.add(name, in: folder, from: old.map { shown($0) }, to: new.map { shown($0) })
      }
      if change.isEmpty { continue }
      change.listings = [folder]
      listings[folder] = new
      difference.add(change)
    }
    return difference
  }

  private func shown(_ target: Target) -> Shown {
    if case .episode(let episode) = target { return Shown(target: target, node: node(of: episode)) }
    return Shown(target: target, node: target.identity)
  }
}
