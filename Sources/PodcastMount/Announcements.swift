package import PodcastTree

/// What those who watch have still to be told: for each name what leads from what they know to what is. A name that has
/// come and gone again, or gone and come, is told of as both: who has looked at the directory in between, or has begun to
/// watch it then, would miss one.
package struct Announcements: Sendable {
  package struct Key: Hashable, Sendable {
    let directory: NodeID
    let name: String
  }
  private struct Entry {
    var name: Difference.Name
    /// It has gone before it has come, or come before it has gone.
    var before: Difference.Event?
    /// Names are told in the order in which they changed first.
    let place: UInt64
    /// Of its latest change.
    var latest: UInt64
  }
  /// Where a directory was that is to vanish.
  package struct Place: Sendable {
    package let name: String
    package let parent: NodeID
  }
  /// A look for who watches. It says nothing of those who have begun to watch since it began, and so decides only on what
  /// had changed by then.
  package struct Look: Sendable {
    /// The directories in which something had changed.
    package let directories: Set<NodeID>
    fileprivate let end: UInt64
  }
  private var pending: [Key: Entry] = [:]
  /// What came in great numbers, not yet put with what is pending: the names of a new directory, of which mostly nobody is
  /// to be told.
  private var bulk: [(names: [Difference.Name], place: UInt64)] = []
  private var nextPlace: UInt64 = 0
  /// Names that the kernel makes or takes away itself, and how many such calls are under way: the end of the call says
  /// whether it has told who watches.
  private var underWay: [Key: Int] = [:]
  /// The pending directories that vanish: what has gone in them is told first, where they were.
  private var ended: [NodeID: Place] = [:]
  /// Directories whose names are being told.
  private var inHand: Set<NodeID> = []

  /// More names at once are a new directory rather than news.
  private static let limit = 20_000

  package init() {}

  package var count: Int { pending.count + underWay.count + bulk.reduce(0) { $0 + $1.names.count } }

  /// Takes in what has changed at once, in order.
  package mutating func note(_ names: [Difference.Name]) {
    if names.count >= Self.bulkSize {
      if count + names.count > Self.limit { placeBulk() }
      bulk.append((names, nextPlace))
    } else {
      placeBulk()
      place(names, from: nextPlace)
    }
    nextPlace += UInt64(names.count)
  }

  /// More names than these are looked at only where somebody is to be told of them.
  private static let bulkSize = 200

  private mutating func placeBulk() {
    let bulk = bulk
    self.bulk = []
    for (names, first) in bulk { place(names, from: first) }
  }

  private mutating func place(_ names: [Difference.Name], from first: UInt64) {
    for (name, place) in zip(names, first...) { note(name, at: place) }
  }

  private mutating func note(_ name: Difference.Name, at place: UInt64) {
    if name.event == .uncertain { return }
    let key = Key(name)
    guard let old = pending[key]?.name.event else {
      if pending.count >= Self.limit { return }
      pending[key] = Entry(name: name, place: place, latest: place)
      if name.isEnd { ended[name.node] = Place(name: name.name, parent: name.directory) }
      return
    }
    pending[key]?.latest = place
    defer { noteEnd(again: name) }
    switch (old, name.event) {
    case (.appeared, .vanished), (.vanished, .appeared):
      pending[key]?.name = name
      let isBack = pending[key]?.before != nil
      pending[key]?.before = isBack ? nil : old
      // rmdir(2) would be the end of a directory that is there: who is in it stays there.
      if !isBack && name.isDirectory && name.event == .appeared {
        pending[key]?.before = nil
        pending[key]?.name.event = .replaced
      }
    // Of what has gone a word on its state says nothing, and what has come has come.
    case (.vanished, .replaced), (.appeared, .replaced): break
    case (_, .uncertain): break
    case (.appeared, .appeared), (.vanished, .vanished), (.replaced, _), (.uncertain, _):
      pending[key]?.name = name
    }
  }

  private mutating func noteEnd(again name: Difference.Name) {
    guard name.isDirectory, let now = pending[Key(name)]?.name else { return }
    ended = ended.filter { $0.value.name != name.name || $0.value.parent != name.directory }
    if now.isEnd { ended[now.node] = Place(name: now.name, parent: now.directory) }
  }

  private mutating func remove(_ key: Key) -> Entry? {
    let entry = pending.removeValue(forKey: key)
    if let entry, entry.name.isDirectory { ended[entry.name.node] = nil }
    return entry
  }

  /// Where a directory was whose end is still to be told.
  package func place(ofEnded directory: NodeID) -> Place? { ended[directory] }

  /// The kernel makes a name, or takes it away.
  package mutating func begins(_ name: String, in directory: NodeID) {
    underWay[Key(directory: directory, name: name), default: 0] += 1
  }

  /// The kernel's call has ended.
  /// - Parameter told: what it has told who watches; nil where it has failed.
  /// - Returns: whether the name is still to be told, or what has waited for it.
  package mutating func ends(_ name: String, in directory: NodeID, told: Difference.Event?) -> Bool {
    placeBulk()
    let key = Key(directory: directory, name: name)
    let left = (underWay[key] ?? 1) - 1
    underWay[key] = left > 0 ? left : nil
    if let told, pending[key]?.name.event == told {
      _ = remove(key)
    } else if pending[key]?.before == told {
      pending[key]?.before = nil
    }
    return pending[key] != nil || ended[directory] != nil
  }

  /// Somebody is about to look for who watches.
  package var look: Look {
    var directories = Set(pending.keys.lazy.map(\.directory)).union(ended.keys)
    for name in bulk.lazy.flatMap(\.names) {
      directories.insert(name.directory)
      if name.isEnd { directories.insert(name.node) }
    }
    return Look(directories: directories, end: nextPlace)
  }

  /// What had changed before a look in directories that it has not found watched concerns nobody. What has changed since is
  /// left to the next look.
  /// - Parameter alive: directories that have only left a name.
  package mutating func drop(
    except watched: Set<NodeID>, alive: Set<NodeID> = [], foundBy look: Look
  ) {
    let ending = watched.subtracting(alive)
    for index in bulk.indices where bulk[index].place < look.end {
      bulk[index].names.removeAll {
        !watched.contains($0.directory) && !$0.isEnd && underWay[Key($0)] == nil
      }
    }
    placeBulk()
    var kept = pending.filter { key, entry in
      // Who watches a directory hears of its end, whoever watches the one that it is in.
      watched.contains(key.directory) || entry.name.isEnd && ending.contains(entry.name.node)
        || underWay[key] != nil || entry.latest >= look.end
    }
    // The way to what is told.
    for directory in Set(kept.keys.lazy.map(\.directory)) {
      var directory = directory
      while let place = ended[directory] {
        let key = Key(directory: place.parent, name: place.name)
        kept[key] = pending[key]
        directory = place.parent
      }
    }
    pending = kept
    ended = ended.filter { kept[Key(directory: $0.value.parent, name: $0.value.name)] != nil }
  }

  /// These, and those in which their end is to be told.
  package func withPlaces(of directories: Set<NodeID>) -> Set<NodeID> {
    directories.reduce(into: directories) { found, directory in
      var directory = directory
      while let place = ended[directory] {
        found.insert(place.parent)
        directory = place.parent
      }
    }
  }

  /// The names of a directory that can be told now, in order: a directory's end only after all that was in it. They are in
  /// hand until `finish`.
  package mutating func begin(_ directory: NodeID) -> [Key] {
    placeBulk()
    inHand.insert(directory)
    let held = inHand.union(pending.keys.lazy.map(\.directory)).union(underWay.keys.lazy.map(\.directory))
    return pending.filter { key, entry in
      key.directory == directory && underWay[key] == nil
        && !(entry.name.isEnd && held.contains(entry.name.node))
    }.sorted { $0.value.place < $1.value.place }.map(\.key)
  }

  /// - Returns: the directory in which something may have waited for this.
  package mutating func finish(_ directory: NodeID) -> NodeID? {
    placeBulk()
    inHand.remove(directory)
    return ended[directory]?.parent
  }

  /// Whether a name may be still to be told.
  package func mayHold(_ name: String, in directory: NodeID) -> Bool {
    !bulk.isEmpty || pending[Key(directory: directory, name: name)] != nil
  }

  /// What is to be told of a name now, in order; nothing where that is no more, or not yet.
  package mutating func take(_ key: Key) -> [Difference.Name] {
    placeBulk()
    guard underWay[key] == nil, let entry = remove(key) else { return [] }
    guard let event = entry.before else { return [entry.name] }
    var before = entry.name
    before.event = event
    return [before, entry.name]
  }

  package mutating func removeAll() {
    pending = [:]
    ended = [:]
    bulk = []
  }
}

extension Difference.Name {
  /// Whether it is the end of a directory.
  fileprivate var isEnd: Bool { isDirectory && event == .vanished }
}

extension Announcements.Key {
  fileprivate init(_ name: Difference.Name) { self.init(directory: name.directory, name: name.name) }
}
