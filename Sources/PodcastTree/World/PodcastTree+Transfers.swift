internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// What follows when the transfers say something else of an episode. On the loader's thread.
extension PodcastTree {
  func transferChanged(_ key: MediaKey) {
    let status = transfers.status(of: key)
    if status != nil { try? loadKnown([key]) }
    let change = world.withLock { world -> (KnownEpisode, TransferStatus?, Difference, isMoved: Bool)? in
      let old = world.downloads.set(status, for: key)
      guard let known = world.downloads.known[key] else { return nil }
      var difference = Difference()
      let (before, after) = (known.episode.node(old), known.episode.node(status))
      difference.attributes.append(after)
      // It may have been whole before, and damaged: nobody tells each of the states that it has gone through. No page of it
      // is waited for, as all bytes are here.
      if status?.state == .cached { difference.bytes.append(after) }
      if before != after {
        difference.attributes.append(before)
        difference.add(names(of: known.episode, .replaced, world))
      }
      let view = world.open.dropsAtClose.contains(known.episode.id) ? .none : Downloads.view(status)
      let isMoved = view != Downloads.view(old) || (view == .none) == world.downloads.shows(known.episode.id)
      if isMoved { difference.add(place(known, view, &world)) }
      if old?.state != status?.state { difference.states += names(of: known.episode, .replaced, world).names }
      if status == nil { world.downloads.forget(key) }
      return (known, old, difference, isMoved)
    }
    guard let (known, old, difference, isMoved) = change else { return }
    let moment = isMoved ? status.flatMap { $0.moment > 0 ? FileTime(sinceEpoch: $0.moment) : nil } : nil
    viewsMayHaveChanged(
      [.downloading, .downloaded, NodeID(.downloadedPodcast, known.episode.podcast)], at: moment)
    tell(difference)
    if let status {
      report(status, before: old, known.episode)
      if old?.state != status.state || old?.changed != status.changed { events.note(status) }
    }
  }

  /// Puts an episode into the view where it belongs, and its name into that view's listing.
  func place(
    _ known: KnownEpisode, _ view: Downloads.View, _ world: inout World
  ) -> Difference {
    let episode = known.episode
    let folder = NodeID(.downloadedPodcast, episode.podcast)
    var before = world.downloads.downloading.names(with: episode.id)
    let wasDownloaded = world.downloads.downloaded[episode.podcast]?.episodes[episode.id] != nil
    let hadFolder = world.downloads.downloaded[episode.podcast] != nil
    world.downloads.place(known, view)
    var difference = Difference()
    let after = world.downloads.downloading.names(with: episode.id)
    before.removeAll { old in after.contains { $0.name == old.name } }
    // Those of the same name may have got its number.
    let others = before.compactMap { old -> (name: String, target: Target?)? in
      let name = world.downloads.downloading.name(of: old.episode.id)
      return name.map { ($0, .episode(old.episode)) }
    }
    let names = before.map { (name: $0.name, target: Target?.none) } + others
    let set = names + after.map { (name: $0.name, target: Target?.some(.episode($0.episode))) }
    if !set.isEmpty { difference.add(self.set(set, areNew: true, in: .downloading, &world)) }

    let isDownloaded = view == .downloaded
    if wasDownloaded != isDownloaded {
      var names = [(name: episode.name, target: isDownloaded ? Target?.some(.episode(episode)) : nil)]
      let hasFolder = world.downloads.downloaded[episode.podcast] != nil
      let cover = hadFolder == hasFolder ? nil : world.downloads.cover(of: episode.podcast)
      let here = (episode.sidecars + [cover].compactMap(\.self)).filter { !isDownloaded || isHere($0) }
      names += here.map { (name: $0.name, target: isDownloaded ? Target?.some(.sidecar($0)) : nil) }
      difference.add(self.set(names, areNew: true, in: folder, &world))
      if hadFolder != hasFolder {
        let target = Target.node(folder)
        difference.add(
          self.set([(known.podcastName, hasFolder ? target : nil)], areNew: true, in: .downloaded, &world))
        if !hasFolder, world.listings[.downloaded] == nil {
          // Also where nobody has listed the parent: `rm -r` removes the folder that it was given.
          depart(known.podcastName, target, in: .downloaded, &world)
        }
      } else {
        difference.attributes.append(folder)
      }
    }
    return difference
  }

  /// Every name under which the views show an episode.
  func names(of episode: ListedEpisode, _ event: Difference.Event, _ world: World) -> Difference {
    var difference = Difference()
    func add(_ name: String, _ directory: NodeID) {
      difference.listings.append(directory)
      difference.names.append(
        Difference.Name(
          name: name, directory: directory, event: event, isDirectory: false,
          node: NodeID(.episode, episode.id)))
    }
    for folder in world.folders(showing: episode.podcast) {
      if folder.kind == .downloadedPodcast,
        world.downloads.downloaded[episode.podcast]?.episodes[episode.id] == nil
      {
        continue
      }
      add(episode.name, folder)
    }
    if let name = world.latest?.view.name(of: episode.id) { add(name, .latest) }
    if let name = world.downloads.downloading.name(of: episode.id) { add(name, .downloading) }
    return difference
  }

  /// To who reads the events, and who waits for completions.
  private func report(_ status: TransferStatus, before old: TransferStatus?, _ episode: ListedEpisode) {
    let isChange = old?.state != status.state && !(old == nil && status.state == .remote)
    // What is first heard of when it is complete may have been so for long.
    let isCompletion =
      status.state == .cached && old?.state != .cached && (old != nil || status.changed >= started.seconds)
      || status.state == .cached && old?.state == .cached && old?.generation != status.generation
    report(status, episode, isChange: isChange, isCompletion: isCompletion)
  }

  private func report(
    _ status: TransferStatus, _ episode: ListedEpisode, isChange: Bool, isCompletion: Bool
  ) {
    guard isChange && events.hasReaders || isCompletion && tellsCompletions else { return }
    guard let entry = try? catalog.entries(forKeys: [status.key])[status.key] else { return }
    if isChange { events.record(status, of: entry) }
    if isCompletion { tellCompletion(entry, status) }
  }

  /// What has changed while no process served the mount, as far as that is not told.
  package func tellWhatWasMissed() {
    loader.async { [self] in
      guard let since = events.missedSince else { return }
      let missed = transfers.allStatuses().filter { $0.changed >= since && !events.hasTold($0) }
      for status in missed.sorted(by: { $0.changed < $1.changed }) {
        guard let known = world.withLock({ $0.downloads.known[status.key] }) else { continue }
        let came = status.moment > 0 ? status.moment / 1_000_000_000 : status.changed
        report(
          status, known.episode, isChange: true, isCompletion: status.state == .cached && came >= since)
        events.note(status)
      }
    }
  }
}
