/// What the kernel forgets and watchers of a directory hear: the difference between two states of the tree. Made here only.
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
  }

  /// Nodes whose attributes have changed.
  package var attributes: [NodeID] = []
  /// Episodes whose pages in the kernel may be wrong.
  package var bytes: [NodeID] = []
  /// Directories whose listing has changed.
  package var listings: [NodeID] = []
  package var names: [Name] = []
  /// Names of episodes whose state has changed: for watchers, not for the kernel.
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
