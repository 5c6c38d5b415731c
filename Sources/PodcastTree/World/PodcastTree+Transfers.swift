internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Takes in states of downloads. On the loader's thread.
extension PodcastTree {
  func transferChanged(_ key: MediaKey) {
    let status = transfers.status(of: key)
    if status != nil { try? loadKnown([key]) }
    let change = world.withLock { world -> (KnownEpisode, TransferStatus?, Difference)? in
      let old = world.downloads.set(status, for: key)
      guard let known = world.downloads.known[key] else { return nil }
      var difference = Difference()
      let (before, after) = (known.episode.node(old), known.episode.node(status))
      difference.attributes.append(after)
      // It may have been damaged meanwhile: not each state is reported. Dropping its pages cannot block, because all bytes
      // are here.
      if status?.state == .cached { difference.bytes.append(after) }
      if before != after {
        difference.attributes.append(before)
        difference.add(names(of: known.episode, .replaced, world))
      }
      let isDropped = world.open.dropsAtClose.contains(known.episode.id)
      let view = isDropped ? .none : Downloads.view(status)
      let isMoved = view != Downloads.view(old) || (view == .none) == world.downloads.shows(known.episode.id)
      if isMoved { difference.add(place(known, view, at: isDropped ? .now : status?.time ?? .now, &world)) }
      if old?.state != status?.state { difference.states += names(of: known.episode, .replaced, world).names }
      if status == nil { world.downloads.forget(key) }
      return (known, old, difference)
    }
    guard let (known, old, difference) = change else { return }
    tell(difference)
    if let status { report(status, before: old, known.episode) }
  }

  /// Puts an episode into the view where it belongs, and its name into that view's listing.
  /// - Parameter time: when that happened.
  func place(
    _ known: KnownEpisode, _ view: Downloads.View, at time: FileTime, _ world: inout World
  ) -> Difference {
    let episode = known.episode
    let folder = NodeID(.downloadedPodcast, episode.podcast)
    let before = world.downloads.downloading.name(of: episode.id)
    let wasDownloaded = world.downloads.downloaded[episode.podcast]?.episodes[episode.id] != nil
    let hadFolder = world.downloads.downloaded[episode.podcast] != nil
    world.downloads.place(known, view, at: time)
    var difference = Difference()
    let after = world.downloads.downloading.name(of: episode.id)
    var names = [before, after].compactMap(\.self).map { (name: $0, target: Target?.none) }
    if let after { names[names.count - 1] = (after, .episode(episode)) }
    if before != after { difference.add(set(names, areNew: true, in: .downloading, &world)) }

    let isDownloaded = view == .downloaded
    if wasDownloaded == isDownloaded { return difference }
    names = [(name: episode.name, target: isDownloaded ? .episode(episode) : nil)]
    let cover = hadFolder ? nil : world.downloads.cover(of: episode.podcast)
    let here = (episode.sidecars + [cover].compactMap(\.self)).filter { !isDownloaded || isHere($0) }
    names += here.map { (name: $0.name, target: isDownloaded ? .sidecar($0) : nil) }
    difference.add(set(names, areNew: true, in: folder, &world))
    if !hadFolder {
      difference.add(set([(known.podcastName, .node(folder))], areNew: true, in: .downloaded, &world))
    } else if world.downloads.downloaded[episode.podcast]?.episodes.isEmpty == true {
      loader.async(after: Self.emptyFolderLifetime) { [weak self] in self?.removeEmptyFolder(episode.podcast)
      }
    }
    return difference
  }

  /// Seconds that an empty folder of `Downloaded/` stays: `rm -r` removes it last.
  private static let emptyFolderLifetime = 10.0

  /// - Returns: false where it has episodes.
  @discardableResult
  func removeEmptyFolder(_ podcast: Int64) -> Bool {
    let difference = world.withLock { world -> Difference? in
      let name = world.downloads.downloaded[podcast]?.name
      guard let name, world.downloads.removeEmpty(podcast) else { return nil }
      world.forget(NodeID(.downloadedPodcast, podcast))
      return set([(name, nil)], in: .downloaded, &world)
    }
    if let difference { tell(difference) }
    return difference != nil
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

  /// Reports a state to readers of the events and to the handler of completions.
  private func report(_ status: TransferStatus, before old: TransferStatus?, _ episode: ListedEpisode) {
    let isChange = old?.state != status.state && !(old == nil && status.state == .remote)
    // A download that is complete when it is first reported may have been complete for long.
    let isCompletion =
      status.state == .cached && old?.state != .cached && (old != nil || status.changed >= started.seconds)
      || status.state == .cached && old?.state == .cached && old?.generation != status.generation
    guard isChange && events.hasReaders || isCompletion && tellsCompletions else { return }
    guard let entry = try? catalog.entries(forKeys: [status.key])[status.key] else { return }
    if isChange { events.record(status, of: entry) }
    if isCompletion { tellCompletion(entry, status) }
  }

  /// The last reader has closed what was to be dropped then.
  func dropAfterClose(_ episode: Int64, _ key: MediaKey) {
    transfers.drop(key) { _ in
      self.loader.async {
        self.world.withLock { _ = $0.open.dropsAtClose.remove(episode) }
        self.transferChanged(key)
      }
    }
  }
}

extension TransferStatus {
  /// When it came to the stage at which it is.
  var time: FileTime { moment > 0 ? FileTime(sinceEpoch: moment) : changed > 0 ? FileTime(changed) : .now }
}
