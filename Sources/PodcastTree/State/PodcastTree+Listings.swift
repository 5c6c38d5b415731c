internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

extension PodcastTree {
  /// A directory as it is now.
  /// - Parameter isKept: whether the kernel's copy of its listing is right: then nothing is read before it asks.
  package func openDirectory(
    _ node: NodeID, for caller: Caller, isKept: Bool = false
  ) -> Answer<OpenDirectory> {
    guard let folder = folder(node) else { return .failure(self.node(node) == nil ? .ENOENT : .ENOTDIR) }
    if isKept { return .value(OpenDirectory(node: node, listing: nil, caller: caller, tree: self)) }
    return listing(of: folder, for: caller).map {
      OpenDirectory(node: node, listing: $0, caller: caller, tree: self)
    }
  }

  /// With all that the attributes of what it lists need.
  fileprivate func listing(of folder: any FolderNode, for caller: Caller) -> Answer<Listing> {
    folder.listing(for: caller).then { listing in
      let showsEpisodes = listing.items.contains { $0.target.identity.kind == .episode }
      return showsEpisodes ? self.linksKnown.map { listing } : .value(listing)
    }
  }

  /// A directory's listing from memory, else made after `load`.
  func listing(of folder: NodeID, load: @escaping @Sendable () throws -> Void) -> Answer<Listing> {
    if let found = state.withLock({ $0.listings[folder] == nil ? nil : $0.listing(of: folder) }) {
      return .value(found)
    }
    return .on(loader) {
      try load()
      guard let made = self.state.withLock({ $0.listing(of: folder) }) else { throw Errno.ENOENT }
      // The rows that were read for it are garbage now.
      if made.items.count > 1000 { SpareMemory.giveBackSoon(on: self.loader) }
      return made
    }
  }

  /// Attributes of what names lead to. Bytes of a running download come faster than they are reported, so these episodes
  /// are looked up: without the state's lock, because that may open a file.
  func attributes(of targets: [Target]) -> [NodeAttributes] {
    let running = state.withLock { state in
      targets.compactMap { target -> MediaKey? in
        guard case .episode(let episode) = target else { return nil }
        return state.status(of: episode)?.state == .downloading ? episode.mediaKey : nil
      }
    }
    let found = running.compactMap { key in transfers.status(of: key).map { (key, $0) } }
    let current = Dictionary(found, uniquingKeysWith: { first, _ in first })
    return state.withLock { state in
      targets.map { target in
        switch target {
        case .node(let node): attributes(of: node, state)
        case .sidecar(let sidecar): state.attributes(of: sidecar)
        case .episode(let episode):
          state.attributes(
            of: episode, node: state.node(of: episode), current[episode.mediaKey] ?? state.status(of: episode)
          )
        }
      }
    }
  }

  private func attributes(of id: NodeID, _ state: TreeState) -> NodeAttributes {
    if id.kind == .upload, let upload = state.uploads[id] { return upload.attributes }
    if !id.isDirectory { return controlFileAttributes(id, state) }
    let presence = state.presence(of: id)
    var attributes = directoryAttributes(id, changed: (try? presence?.get()) ?? nil)
    // The rows that decide its time have not been read: the kernel asks when a program does.
    if presence == nil { attributes.timeout = 0 }
    return attributes
  }

  func directoryAttributes(_ id: NodeID, changed: FileTime?) -> NodeAttributes {
    NodeAttributes(node: id, permissions: id == .control ? 0o700 : 0o755, modified: changed ?? started)
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

  /// Whether its listing is in memory; else `read` comes first.
  package var isRead: Bool { listing.withLock { $0 != nil } }
  package var isCacheable: Bool { found?.isCacheable ?? true }
  package var isCurrent: Bool {
    guard let listing = found else { return true }
    let version = tree.state.withLock { $0.listings[node]?.version }
    return version == listing.version || version == nil && !listing.isCacheable
  }

  package func read() -> Answer<Void> {
    guard let folder = tree.folder(node) else { return .failure(.ENOENT) }
    return tree.listing(of: folder, for: caller).map { found in self.listing.withLock { $0 = found } }
  }

  package func items(from first: Int, count: Int) -> [DirectoryItem] {
    guard let listing = found, first < listing.items.count else { return [] }
    let part = listing.items[first..<min(listing.items.count, first + count)]
    return zip(part, tree.attributes(of: part.map(\.target))).map { ($0.name, $1) }
  }
}
