/// What the kernel forgets and watchers of a directory hear: the difference between two states of the tree.
package struct Difference: Hashable, Sendable {
  /// A name that leads elsewhere than before, to nothing, or to something for the first time.
  package struct Name: Hashable, Sendable {
    package var name: String
    package var directory: NodeID
    package var event: Event
    /// What it leads, or has led, to.
    package var node: NodeID
    package var isDirectory: Bool { node.isDirectory }
  }

  package enum Event: Hashable, Sendable {
    case appeared, vanished, replaced
  }

  package var attributes: [NodeID] = []
  /// Episodes whose pages in the kernel may be wrong.
  package var bytes: [NodeID] = []
  package var listings: [NodeID] = []
  package var names: [Name] = []
  /// What only watchers hear: episodes whose state has changed, and names that the kernel has made or removed for rename(2).
  package var news: [Name] = []

  package var isEmpty: Bool { self == Difference() }

  mutating func add(_ other: Difference) {
    attributes += other.attributes
    bytes += other.bytes
    listings += other.listings
    names += other.names
    news += other.news
  }

  mutating func add(_ name: String, in directory: NodeID, from old: Shown?, to new: Shown?) {
    guard let shown = new ?? old else { return }
    if let old, let new, old.target.identity == new.target.identity, old.node == new.node {
      if !new.target.looks(like: old.target) { attributes += [old.node, new.node] }
      return
    }
    let event: Event = old == nil ? .appeared : new == nil ? .vanished : .replaced
    names.append(Name(name: name, directory: directory, event: event, node: shown.target.identity))
  }
}

/// What a name leads to, and the node that the kernel is given for it.
struct Shown: Sendable {
  let target: Target
  let node: NodeID
}

struct Names: Sendable {
  private(set) var byFolder: [NodeID: [String: Shown]] = [:]

  mutating func add(_ name: String, in folder: NodeID, _ shown: Shown) {
    byFolder[folder, default: [:]][name] = shown
  }

  mutating func add(_ other: Names) { byFolder.merge(other.byFolder) { $0.merging($1) { $1 } } }

  /// Those of episodes, without what lies beside them.
  var episodes: [Difference.Name] {
    byFolder.flatMap { folder, names in
      names.filter { $0.value.target.identity.kind == .episode }.map { name, shown in
        Difference.Name(name: name, directory: folder, event: .replaced, node: shown.target.identity)
      }
    }
  }
}
