internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// A cover, transcript, list of chapters or show notes. It is listed from memory and fetched when it is opened.
struct SidecarNode: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  var hasVerbs: Bool { false }

  func attributes() -> Answer<NodeAttributes> {
    if let found = inMemory { return .value(tree.world.withLock { tree.attributes(of: found, $0) }) }
    return sidecar.map { sidecar in
      tree.world.withLock { tree.attributes(of: ListedSidecar(sidecar), $0) }
    }
  }

  private var inMemory: ListedSidecar? { tree.world.withLock { $0.sidecar(id) } }

  /// What the feed says of it.
  private var sidecar: Answer<Sidecar> {
    let kinds = tree.settings.sidecars
    if id.kind == .cover {
      return tree.podcast(id.row).then { podcast in
        guard kinds.contains(.cover), let cover = Sidecar.cover(of: podcast) else { return .failure(.ENOENT) }
        return .value(cover)
      }
    }
    return tree.entry(ofEpisode: id.row).then { entry in
      Sidecar.all(of: entry.episode.summary, in: entry.podcast, kinds).first { $0.node == id }.map {
        .value($0)
      }
        ?? .failure(.ENOENT)
    }
  }

  /// Ends when the whole file is here: its size is exact from then on. Thumbnailers may fetch covers.
  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    if writes { return .failure(.EROFS) }
    let isBarred = id.kind == .cover ? !tree.owner.admits(caller) : caller.sniffs || tree.isBarred(caller)
    return sidecar.then { sidecar in
      guard let address = sidecar.address else { return openNotes(sidecar.node) }
      return Answer.on(tree.sidecars.disk) { tree.sidecars.read(sidecar.key) }.then { found in
        // Its host does not have it: a stale name leads here for a moment.
        if let found, found.copy.isMissing { return .failure(.EIO) }
        if let found, isBarred || found.copy.fetched > wallClockSeconds() - SidecarStore.lifetime {
          // It may have come, also by another process, since the kernel was shown a size: as long as that may be kept, it
          // is read past the kernel's pages, which would be filled up to it.
          let isRecent = found.copy.fetched > wallClockSeconds() - 2 * Int64(NodeAttributes.lifetime)
          return .value(TextFile(found.bytes, isDirect: isRecent, changesAttributes: true))
        }
        if isBarred { return .failure(.EIO) }
        return tree.fetch(sidecar, address, old: found?.bytes)
      }
    }
  }

  private func openNotes(_ node: NodeID) -> Answer<any OpenFile> {
    .on(tree.loader) {
      guard let notes = try tree.catalog.episode(node.row)?.notes else { throw Errno.ENOENT }
      let bytes = Array((PlainText.text(notes) + "\n").utf8)
      tree.world.withLock { world in
        if world.noteSizes.count >= 10_000 { world.noteSizes = [:] }
        world.noteSizes[node.row] = Int64(bytes.count)
      }
      return TextFile(bytes, isDirect: false, changesAttributes: true)
    }
  }
}

extension PodcastTree {
  func attributes(of sidecar: ListedSidecar, _ world: World) -> NodeAttributes {
    var attributes = NodeAttributes(
      node: sidecar.node, isDirectory: false, permissions: 0o644)
    let copy = sidecar.isRemote ? sidecars.copy(sidecar.key) : nil
    let size =
      sidecar.isRemote ? copy.flatMap { $0.isMissing ? nil : $0.size } : world.noteSizes[sidecar.node.row]
    attributes.size = size ?? sidecar.estimate
    attributes.stored = size ?? 0
    // A cover has no date of its own but that of its copy.
    let isCover = sidecar.node.kind == .cover
    attributes.modified = FileTime(isCover ? copy?.fetched ?? sidecar.modified : sidecar.modified)
    attributes.changed = attributes.modified
    return attributes
  }

  /// Whether its copy is here: then `Downloaded/` lists it.
  func isHere(_ sidecar: ListedSidecar) -> Bool {
    !sidecar.isRemote || sidecars.copy(sidecar.key).map { !$0.isMissing } ?? false
  }

  /// Whether directories list it: not where its host does not have it.
  func isListed(_ sidecar: ListedSidecar) -> Bool { !sidecar.isRemote || !sidecars.isMissing(sidecar.key) }

  fileprivate func fetch(_ sidecar: Sidecar, _ address: WebAddress, old: [UInt8]?) -> Answer<any OpenFile> {
    Answer<[UInt8]>.pending { completion in
      let task = self.fetcher.fetch(address, allowsPrivateHosts: sidecar.allowsPrivateHosts) { result in
        guard case .failure(let errno) = result else { return completion(result) }
        if let old, errno != .EINTR { return completion(.success(old)) }
        // Without a network it says nothing of the file.
        if ![.EINTR, .ENOENT, .ENETUNREACH].contains(errno) {
          self.rest(ListedSidecar(sidecar), sidecar.podcastID)
        }
        // 404 or 410: until its feed changes it is not listed.
        completion(errno == .ENOENT ? .success([]) : result)
      }
      return { task.cancel() }
    }.then { bytes in
      .on(self.sidecars.disk) {
        self.sidecars.store(bytes, sidecar.key)
        self.copyChanged(ListedSidecar(sidecar), podcast: sidecar.podcastID)
        self.loader.async { try? self.catalog.noteSidecar(Int64(sidecar.node.inode)) }
        // Never ENOENT: the name was listed.
        if bytes.isEmpty { throw Errno.EIO }
        return TextFile(bytes, isDirect: true, changesAttributes: true)
      }
    }
  }

  /// Does not list a sidecar for a while: a web page in its place, an error of its server or a host that is away must not
  /// make each copy of its folder fail.
  private func rest(_ sidecar: ListedSidecar, _ podcast: Int64) {
    sidecars.setResting(sidecar.key, true)
    copyChanged(sidecar, podcast: podcast)
    loader.async(after: SidecarStore.rest) { [weak self] in
      self?.sidecars.setResting(sidecar.key, false)
      self?.copyChanged(sidecar, podcast: podcast)
    }
  }

  /// Covers that are fetched at once though nobody has opened them.
  static let coversAtOnce = 8

  /// Fetches a subscription's cover that is not here, unless many are on their way already: the others come when they
  /// are opened.
  func fetchCover(ofPodcast id: Int64) {
    sidecars.load()
    guard settings.sidecars.contains(.cover), let podcast = try? catalog.podcast(id),
      let cover = Sidecar.cover(of: podcast), let address = cover.address, sidecars.copy(cover.key) == nil
    else { return }
    let isTaken = coversOnTheirWay.withLock { covers in
      covers.count < Self.coversAtOnce && covers.insert(cover.key).inserted
    }
    guard isTaken, case .pending(let start) = fetch(cover, address, old: nil) else { return }
    _ = start { [coversOnTheirWay] _ in coversOnTheirWay.withLock { _ = $0.remove(cover.key) } }
  }

  /// Drops the copy. The name stays listed, because the feed still names it; `rm` succeeds, because `rm -r` removes each
  /// name before the directory.
  /// - Parameter podcast: nil for the one of `folder`.
  func removeCopy(of sidecar: ListedSidecar, podcast: Int64?, from folder: NodeID) -> Answer<Void> {
    .on(sidecars.disk) {
      if sidecar.isRemote { self.sidecars.drop(sidecar.key) }
      let shown = podcast ?? self.world.withLock { $0.podcast(shownBy: folder) }
      if let shown { self.copyChanged(sidecar, podcast: shown) }
      if sidecar.isRemote { self.loader.async { try? self.catalog.noteSidecar(Int64(sidecar.node.inode)) } }
      var difference = Difference()
      difference.attributes = [sidecar.node]
      difference.listings = [folder]
      self.tell(difference)
    }
  }

  /// A copy has come or gone, perhaps in another process. On the loader's thread.
  func sidecarChanged(_ node: NodeID) {
    let podcast = node.kind == .cover ? node.row : Self.podcast(ofEpisode: node.row)
    guard let sidecar = world.withLock({ $0.sidecar(node) }) else {
      sidecars.look(nil)
      var difference = Difference()
      difference.attributes = [node]
      return tell(difference)
    }
    sidecars.look(sidecar.key)
    copyChanged(sidecar, podcast: podcast)
  }

  /// Its size changes, and where it is listed: in `Downloaded/` while its copy is here, elsewhere unless its host does not
  /// have it.
  private func copyChanged(_ sidecar: ListedSidecar, podcast: Int64) {
    loader.async { [self] in
      var difference = world.withLock { world in
        world.folders(showing: podcast).reduce(into: Difference()) { difference, folder in
          difference.add(show(sidecar, in: folder, &world))
        }
      }
      let downloaded = NodeID(.downloadedPodcast, podcast)
      if difference.names.contains(where: { $0.directory == downloaded }) {
        world.withLock { $0.downloads.touchFolder(of: podcast, .now) }
      }
      difference.attributes.append(sidecar.node)
      tell(difference)
    }
  }

  private func show(_ sidecar: ListedSidecar, in folder: NodeID, _ world: inout World) -> Difference {
    if folder.kind == .downloadedPodcast {
      guard let shown = world.downloads.downloaded[folder.row] else { return Difference() }
      let isCover = world.downloads.cover(of: folder.row)?.key == sidecar.key
      guard isCover || shown.episodes[sidecar.node.row] != nil else { return Difference() }
      return set([(sidecar.name, isHere(sidecar) ? Target.sidecar(sidecar) : nil)], in: folder, &world)
    }
    guard let listing = world.listings[folder] else {
      var difference = Difference()
      difference.listings = [folder]
      return difference
    }
    let old = listing[sidecar.name]
    // Another one may have the name.
    if let old, old.identity != sidecar.node { return Difference() }
    let isShown =
      sidecar.node.kind == .cover
      || world.episode(sidecar.node.row).map { world.shows($0, in: folder) } ?? false
    let target = isShown && isListed(sidecar) ? Target.sidecar(sidecar) : nil
    return set([(sidecar.name, target)], in: folder, &world)
  }

  /// A podcast's feed has changed: what its host did not have is listed again.
  func listMissing(ofPodcast podcast: Int64) {
    for key in sidecars.forgetMissing(ofPodcast: podcast) {
      guard let sidecar = world.withLock({ $0.sidecar(key.nodeID) }), sidecar.key == key else { continue }
      copyChanged(sidecar, podcast: podcast)
    }
  }

  /// A podcast's feed may name another cover: `Downloaded/` lists it if its copy is here. On the loader's thread.
  func coverChanged(of podcast: Int64) throws {
    guard world.withLock({ $0.downloads.knowsCover(of: podcast) }) else { return }
    guard let record = try catalog.podcast(podcast) else {
      return world.withLock { $0.downloads.forgetCover(of: podcast) }
    }
    let new = ListedSidecar.cover(of: record, settings.sidecars)
    let folder = NodeID(.downloadedPodcast, podcast)
    let difference = world.withLock { world -> Difference in
      let old = world.downloads.cover(of: podcast)
      if old?.key == new?.key && old?.name == new?.name { return Difference() }
      world.downloads.setCover(new, of: podcast)
      guard world.downloads.downloaded[podcast] != nil else { return Difference() }
      var targets: [String: Target?] = [:]
      if let old, isHere(old) { targets.updateValue(nil, forKey: old.name) }
      if let new, isHere(new) { targets.updateValue(.sidecar(new), forKey: new.name) }
      return set(targets.map { (name: $0.key, target: $0.value) }, in: folder, &world)
    }
    if !difference.names.isEmpty { world.withLock { $0.downloads.touchFolder(of: podcast, .now) } }
    tell(difference)
  }
}
