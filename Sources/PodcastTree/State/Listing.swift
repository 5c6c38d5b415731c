internal import Glibc

/// What a directory lists: an immutable value. A change makes a new one; a program that lists the old one goes
/// on with it.
struct Listing: Sendable {
  struct Item: Sendable {
    let name: String
    let target: Target

    init(_ name: String, _ target: Target) {
      self.name = name
      self.target = target
    }
  }

  /// In the order of their names, byte by byte.
  private(set) var items: [Item]
  var version = 0
  /// Whether the kernel may keep it: not where it was answered without a fetch that is still due.
  var isCacheable = true

  /// - Parameter items: in any order; of one name the first counts.
  init(_ items: [Item]) {
    var sorted = items
    // As the catalogue gives them they mostly are in order.
    if !zip(sorted, sorted.dropFirst()).allSatisfy({ ByteOrder.isBefore($0.name, $1.name) }) {
      sorted.sort { ByteOrder.isBefore($0.name, $1.name) }
      let repeated = zip(sorted, sorted.dropFirst()).map { ByteOrder.isSame($0.name, $1.name) }
      sorted = zip(sorted, [false] + repeated).filter { !$1 }.map(\.0)
    }
    self.items = sorted
  }

  /// The place of the first item whose name is not before `name`.
  func place(of name: String) -> Int { items.partitionPoint { ByteOrder.isBefore($0.name, name) } }

  subscript(name: String) -> Target? {
    let place = place(of: name)
    return holds(name, at: place) ? items[place].target : nil
  }

  private func holds(_ name: String, at place: Int) -> Bool {
    place < items.count && ByteOrder.isSame(items[place].name, name)
  }

  mutating func set(_ name: String, _ target: Target) {
    let place = place(of: name)
    let item = Item(name, target)
    if holds(name, at: place) {
      items[place] = item
    } else {
      items.insert(item, at: place)
    }
  }

  mutating func remove(_ name: String) {
    let place = place(of: name)
    if holds(name, at: place) { items.remove(at: place) }
  }

  /// Calls `body` with each name of two listings, and what it leads to in each.
  static func forEachName(_ old: Listing, _ new: Listing, _ body: (String, Target?, Target?) -> Void) {
    var (a, b) = (0, 0)
    while a < old.items.count || b < new.items.count {
      let order =
        a == old.items.count
        ? 1 : b == new.items.count ? -1 : strcmp(old.items[a].name, new.items[b].name)
      let name = order < 0 ? old.items[a].name : new.items[b].name
      body(name, order <= 0 ? old.items[a].target : nil, order >= 0 ? new.items[b].target : nil)
      if order <= 0 { a += 1 }
      if order >= 0 { b += 1 }
    }
  }
}

extension Array {
  /// The index of the first element for which `before` is false. The elements for which it is true must lie in front.
  func partitionPoint(_ before: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if before(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Compares names by their UTF-8 bytes, as the kernel does. Swift's operators take canonically equivalent names for the
/// same one.
enum ByteOrder {
  static func isBefore(_ a: String, _ b: String) -> Bool { strcmp(a, b) < 0 }
  static func isSame(_ a: String, _ b: String) -> Bool { strcmp(a, b) == 0 }
}

enum Target: Sendable {
  /// A directory, or a file that is one of a kind.
  case node(NodeID)
  case episode(ListedEpisode)
  case sidecar(Sidecar)

  /// What stays the same as long as the name means the same thing; an episode's node also depends on what is here
  /// of it.
  var identity: NodeID {
    switch self {
    case .node(let node): node
    case .episode(let episode): NodeID(.episode, episode.id)
    case .sidecar(let sidecar): sidecar.node
    }
  }

  var isDirectory: Bool { identity.isDirectory }
  func looks(like other: Target) -> Bool {
    switch (self, other) {
    case (.episode(let a), .episode(let b)): a.looks(like: b)
    case (.sidecar(let a), .sidecar(let b)): a.key == b.key
    default: true
    }
  }
}
