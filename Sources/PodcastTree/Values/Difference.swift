/// What the kernel has to forget, and what those who watch a directory have to hear: the difference between two
/// states of the world. Made here only.
package struct Difference: Hashable, Sendable {
  /// A name that leads elsewhere than before, to nothing, or to something for the first time.
  package struct Name: Hashable, Sendable {
    package var name: String
    package var directory: NodeID
    package var event: Event
    package var isDirectory: Bool
    /// What it leads, or has led, to.
    package var node: NodeID

    package init(name: String, directory: NodeID, event: Event, isDirectory: Bool, node: NodeID) {
      self.name = name
      self.directory = directory
      self.event = event
      self.isDirectory = isDirectory
      self.node = node
    }
  }

  package enum Event: Hashable, Sendable {
    case appeared, vanished, replaced
    /// A directory has another name in the same directory. Made of the two names that are told to the kernel.
    case moved(to: String)
    /// It may be any of these, or none: for the kernel, not for those who watch.
    case uncertain
  }

  /// Nodes whose attributes are others.
  package var attributes: [NodeID] = []
  /// Episodes of whose bytes the kernel may have pages that are not right.
  package var bytes: [NodeID] = []
  /// Directories that list something else, or in another order.
  package var listings: [NodeID] = []
  package var names: [Name] = []
  /// Directories in which there was no name before: the kernel has none of them to forget.
  package var filled: Set<NodeID> = []
  /// Names of episodes whose state has changed: for those who watch, not for the kernel.
  package var states: [Name] = []

  package init() {}

  package var isEmpty: Bool {
    attributes.isEmpty && bytes.isEmpty && listings.isEmpty && names.isEmpty && states.isEmpty
  }

  mutating func add(_ other: Difference) {
    attributes += other.attributes
    bytes += other.bytes
    listings += other.listings
    names += other.names
    filled.formUnion(other.filled)
    states += other.states
  }

  /// Of a directory as a whole.
  /// - Parameter node: an episode's, as it is now.
  init(in directory: NodeID, from old: Listing, to new: Listing, node: (ListedEpisode) -> NodeID) {
    var (a, b) = (0, 0)
    while a < old.items.count || b < new.items.count {
      let order =
        a == old.items.count
        ? 1 : b == new.items.count ? -1 : ByteOrder.compare(old.items[a].name, new.items[b].name)
      if order < 0 {
        add(old.items[a].name, .vanished, old.items[a].target, in: directory)
        a += 1
      } else if order > 0 {
        add(new.items[b].name, .appeared, new.items[b].target, in: directory)
        b += 1
      } else {
        add(new.items[b].name, old.items[a].target, new.items[b].target, in: directory, node)
        a += 1
        b += 1
      }
    }
    if !names.isEmpty { listings.append(directory) }
  }

  /// Of a directory of which no more is known than which names it had, and what they led to.
  init(in directory: NodeID, from old: [String: NodeID], to new: Listing) {
    var gone = old
    var came: [Name] = []
    for item in new.items {
      let before = gone[item.name]
      let (now, isDirectory) = (item.target.identity, item.target.isDirectory)
      // Another directory of the same name.
      if let before, before != now, isDirectory || before.isDirectory {
        came.append(
          Name(name: item.name, directory: directory, event: .appeared, isDirectory: isDirectory, node: now))
        continue
      }
      gone[item.name] = nil
      if before == now { continue }
      let event: Event = before == nil ? .appeared : .replaced
      came.append(
        Name(name: item.name, directory: directory, event: event, isDirectory: isDirectory, node: now))
    }
    names = gone.sorted { $0.key < $1.key }.map { name, node in
      Name(name: name, directory: directory, event: .vanished, isDirectory: node.isDirectory, node: node)
    }
    names += came
    if !names.isEmpty { listings.append(directory) }
  }

  /// Of a directory of which it is not known what the kernel has been shown.
  init(ofUnknown directory: NodeID, _ listing: Listing) {
    for item in listing.items { add(item.name, .uncertain, item.target, in: directory) }
    listings.append(directory)
  }

  /// Of one name.
  init(
    _ name: String, in directory: NodeID, from old: Target?, to new: Target?,
    node: (ListedEpisode) -> NodeID
  ) {
    switch (old, new) {
    case (nil, nil): return
    case (let old?, nil): add(name, .vanished, old, in: directory)
    case (nil, let new?): add(name, .appeared, new, in: directory)
    case (let old?, let new?): add(name, old, new, in: directory, node)
    }
    listings.append(directory)
  }

  private mutating func add(_ name: String, _ event: Event, _ target: Target, in directory: NodeID) {
    names.append(
      Name(
        name: name, directory: directory, event: event, isDirectory: target.isDirectory,
        node: target.identity))
  }

  private mutating func add(
    _ name: String, _ old: Target, _ new: Target, in directory: NodeID, _ node: (ListedEpisode) -> NodeID
  ) {
    if old.identity != new.identity { return add(name, .replaced, new, in: directory) }
    switch (old, new) {
    case (.episode(let a), .episode(let b)):
      if !a.looks(like: b) { attributes.append(node(b)) }
      if a.mediaKey != b.mediaKey { add(name, .replaced, new, in: directory) }
    case (.sidecar(let a), .sidecar(let b)): if a.key != b.key { attributes.append(b.node) }
    default: break
    }
  }
}
