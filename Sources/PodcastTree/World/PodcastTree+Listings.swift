internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Makes the listings of directories, and new ones after a change. On the loader's thread.
extension PodcastTree {
  /// The listing of a directory whose rows are in the world; kept as long as there is room.
  func makeListing(_ folder: any FolderNode) throws -> Listing {
    let id = folder.id
    if let listing = world.withLock({ $0.listings[id] }) { return listing }
    let made = world.withLock { world -> Listing? in
      guard let items = folder.items(world) else { return nil }
      let listing = Listing(items)
      world.store(listing, of: id)
      return listing
    }
    guard let made else { throw Errno.ENOENT }
    // The rows that were read for it are garbage now.
    if made.items.count > 1000 { SpareMemory.giveBackSoon(on: loader) }
    return made
  }

  /// Makes new values of directories after a change, where they are in memory.
  /// - Returns: what is different in them.
  func remake(_ nodes: some Sequence<NodeID>) -> Difference {
    var difference = Difference()
    for node in nodes {
      guard let folder = folder(node) else { continue }
      difference.add(
        world.withLock { world -> Difference in
          guard let old = world.listings[node] else { return Self.touched(node) }
          guard let items = folder.items(world) else {
            world.forget(node)
            return Difference()
          }
          var new = Listing(items)
          new.version = old.version + 1
          var change = Difference(in: node, from: old, to: new) { world.node(of: $0) }
          if change.listings.isEmpty && change.attributes.isEmpty { return change }
          // The kernel's copy of the listing has the attributes of what is listed too.
          change.listings = [node]
          world.listings[node] = new
          return change
        })
    }
    return difference
  }

  /// Nobody has listed it, but its time may have been looked at.
  private static func touched(_ node: NodeID) -> Difference {
    var difference = Difference()
    difference.listings = [node]
    return difference
  }

  /// Changes single names of a directory that is in memory.
  /// - Parameters:
  ///   - names: each with what it leads to from now on; nil for what has gone.
  ///   - areNew: whether they were not there before, for directories that are not in memory.
  func set(
    _ names: [(name: String, target: Target?)], areNew: Bool = false, in node: NodeID, _ world: inout World
  ) -> Difference {
    var difference = Difference()
    guard var listing = world.listings.removeValue(forKey: node) else {
      // Nobody has listed it lately: the kernel may know the name all the same, and somebody may watch.
      for (name, target) in names {
        let event: Difference.Event = target == nil ? .vanished : areNew ? .appeared : .replaced
        difference.names.append(
          Difference.Name(
            name: name, directory: node, event: event,
            isDirectory: target?.isDirectory ?? (node == .downloaded),
            node: target?.identity ?? node))
      }
      if !names.isEmpty { difference.listings.append(node) }
      return difference
    }
    for (name, target) in names {
      let old = listing[name]
      difference.add(
        Difference(name, in: node, from: old, to: target) { world.node(of: $0) })
      if let target {
        listing.set(name, target)
      } else {
        listing.remove(name)
      }
    }
    listing.version += 1
    difference.listings = difference.names.isEmpty && difference.attributes.isEmpty ? [] : [node]
    world.listings[node] = listing
    return difference
  }

  // MARK: Readers

  /// A directory as it is now.
  /// - Parameter isKept: whether the kernel's copy of its listing is right: then nothing is read before it asks.
  package func openDirectory(
    _ node: NodeID, for caller: Caller, isKept: Bool = false
  ) -> Answer<OpenDirectory> {
    guard let folder = folder(node) else { return .failure(self.node(node) == nil ? .ENOENT : .ENOTDIR) }
    if isKept {
      return .value(OpenDirectory(node: node, listing: nil, caller: caller, tree: self))
    }
    return listing(of: folder, for: caller).map {
      OpenDirectory(node: node, listing: $0, caller: caller, tree: self)
    }
  }

  /// With all that the attributes of what it lists need.
  fileprivate func listing(of folder: any FolderNode, for caller: Caller) -> Answer<Listing> {
    folder.listing(for: caller).then { listing in
      let showsEpisodes = listing.items.contains { if case .episode = $0.target { true } else { false } }
      return showsEpisodes ? self.linksKnown.map { listing } : .value(listing)
    }
  }

  /// Attributes of what names lead to. Bytes of a running download come faster than they are reported, so these episodes
  /// are looked up: without the world's lock, because that may open a file.
  func attributes(of targets: [Target]) -> [NodeAttributes] {
    let running = world.withLock { world in
      targets.compactMap { target -> MediaKey? in
        guard case .episode(let episode) = target else { return nil }
        let key = episode.mediaKey
        return world.downloads.status(key)?.state == .downloading ? key : nil
      }
    }
    let found = running.compactMap { key in transfers.status(of: key).map { (key, $0) } }
    let current = Dictionary(found, uniquingKeysWith: { first, _ in first })
    return world.withLock { world in targets.map { attributes(of: $0, world, current) } }
  }

  /// - Parameter current: statuses that are newer than those in `world`.
  func attributes(
    of target: Target, _ world: World, _ current: [MediaKey: TransferStatus] = [:]
  ) -> NodeAttributes {
    switch target {
    case .node(let node): return attributes(of: node, world)
    case .episode(let episode):
      let status = current[episode.mediaKey] ?? world.downloads.status(episode.mediaKey)
      return attributes(of: episode, node: world.node(of: episode), status, world)
    case .sidecar(let sidecar): return attributes(of: sidecar, world)
    }
  }
}

/// An open directory: its listing as it was when a program began to read it.
package final class OpenDirectory: Sendable {
  package let node: NodeID
  /// Nil where it has not been read.
  private let listing: Monitor<Listing?>
  private let caller: Caller
  private let tree: PodcastTree

  init(node: NodeID, listing: Listing?, caller: Caller, tree: PodcastTree) {
    self.node = node
    self.listing = Monitor(listing)
    self.caller = caller
    self.tree = tree
  }

  private var found: Listing? { listing.withLock { $0 } }

  /// Whether what it lists is here; else it is to be read first.
  package var isRead: Bool { listing.withLock { $0 != nil } }
  package var isCacheable: Bool { found?.isCacheable ?? true }
  package var names: [String] { found?.items.map(\.name) ?? [] }
  /// Whether the directory still lists the same.
  package var isCurrent: Bool {
    guard let listing = found, listing.isCacheable else { return true }
    return tree.world.withLock { $0.listings[node]?.version == listing.version }
  }

  /// Reads what it lists now.
  package func read() -> Answer<Void> {
    guard let folder = tree.folder(node) else { return .failure(.ENOENT) }
    return tree.listing(of: folder, for: caller).map { found in self.listing.withLock { $0 = found } }
  }

  /// Some of its items from one on, with their attributes as they are now.
  package func items(from first: Int, count: Int) -> [DirectoryItem] {
    guard let listing = found, first < listing.items.count else { return [] }
    let part = listing.items[first..<min(listing.items.count, first + count)]
    return zip(part, tree.attributes(of: part.map(\.target))).map {
      DirectoryItem(name: $0.name, attributes: $1)
    }
  }
}
