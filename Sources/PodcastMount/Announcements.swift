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
    var before: Difference.Name?
    /// Names are told in the order in which they changed first.
    let place: UInt64
    /// Of its latest change.
    var latest: UInt64

    /// Whether the same directory has gone and come again: rmdir(2) would be its end, and who is in it stays there.
    var isBack: Bool { before.map { $0.isEnd && $0.node == name.node } ?? false }
    /// The end of a directory that is to be told of, at last or before another one came.
    var end: Difference.Name? {
      if name.isEnd { return name }
      return before.flatMap { $0.isEnd && !isBack ? $0 : nil }
    }
    /// What is to be told, in order.
    var told: [Difference.Name] {
      if !isBack { return [before, name].compactMap(\.self) }
      var name = name
      name.event = .replaced
      return [name]
    }
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
  /// The names of pending directories that have appeared.
  private var came: [NodeID: Key] = [:]
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
    guard let old = pending[key]?.name else {
      if pending.count >= Self.limit { return }
      pending[key] = Entry(name: name, place: place, latest: place)
      if name.isEnd { ended[name.node] = Place(name: name.name, parent: name.directory) }
      if name.isDirectory && name.event == .appeared { came[name.node] = key }
      return
    }
    pending[key]?.latest = place
    defer { noteEnd(again: key) }
    switch (old.event, name.event) {
    case (.appeared, .vanished), (.vanished, .appeared):
      let before = pending[key]?.before
      // Of two that have gone, those who watch knew the first.
      pending[key]?.name = name.event == .vanished ? before ?? name : name
      pending[key]?.before = before == nil ? old : nil
    // Of what has gone a word on its state says nothing, and what has come has come.
    case (.vanished, .replaced), (.appeared, .replaced): break
    case (_, .uncertain): break
    case (.appeared, _), (.vanished, _), (.replaced, _), (.uncertain, _), (.moved, _):
      pending[key]?.name = name
    }
  }

  private mutating func noteEnd(again key: Key) {
    guard let entry = pending[key], entry.name.isDirectory else { return }
    ended = ended.filter { $0.value.name != key.name || $0.value.parent != key.directory }
    if let end = entry.end { ended[end.node] = Place(name: end.name, parent: end.directory) }
  }

  private mutating func remove(_ key: Key) -> Entry? {
    let entry = pending.removeValue(forKey: key)
    if let end = entry?.end { ended[end.node] = nil }
    if let entry, came[entry.name.node] == key { came[entry.name.node] = nil }
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
    } else if let told, pending[key]?.before?.event == told {
      if let end = pending[key]?.end { ended[end.node] = nil }
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
  /// - Returns: what is left untold.
  @discardableResult
  package mutating func drop(
    except watched: Set<NodeID>, alive: Set<NodeID> = [], foundBy look: Look
  ) -> [Difference.Name] {
    let ending = watched.subtracting(alive)
    var dropped: [Difference.Name] = []
    for index in bulk.indices where bulk[index].place < look.end {
      bulk[index].names.removeAll { name in
        let isDropped = !watched.contains(name.directory) && !name.isEnd && underWay[Key(name)] == nil
        if isDropped { dropped.append(name) }
        return isDropped
      }
    }
    placeBulk()
    var kept = pending.filter { key, entry in
      // Who watches a directory hears of its end, whoever watches the one that it is in.
      watched.contains(key.directory) || entry.end.map { ending.contains($0.node) } ?? false
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
    dropped += pending.lazy.filter { kept[$0.key] == nil }.map(\.value.name)
    pending = kept
    ended = ended.filter { kept[Key(directory: $0.value.parent, name: $0.value.name)] != nil }
    came = came.filter { kept[$0.value] != nil }
    return dropped
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
        && !(entry.end.map { held.contains($0.node) } ?? false)
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
    return takeMove(with: entry).map { [$0] } ?? entry.told
  }

  /// A directory that has left one name for another one beside it is told as renamed: so who is in it stays there.
  private mutating func takeMove(with entry: Entry) -> Difference.Name? {
    let name = entry.name
    guard name.isDirectory, entry.before == nil,
      let key = name.isEnd ? came[name.node] : endedKey(of: name.node),
      key.directory == name.directory, underWay[key] == nil, let other = pending[key], other.before == nil,
      other.name.node == name.node, other.name.isEnd != name.isEnd
    else { return nil }
    _ = remove(key)
    var moved = name.isEnd ? name : other.name
    moved.event = .moved(to: name.isEnd ? other.name.name : name.name)
    return moved
  }

  private func endedKey(of node: NodeID) -> Key? {
    ended[node].map { Key(directory: $0.parent, name: $0.name) }
  }

  /// What those who watch a directory know of the names of which they are still to be told: what these lead to for them.
  package func known(in directory: NodeID) -> [(name: String, node: NodeID?)] {
    let first = pending.values.lazy.map { $0.before ?? $0.name } + bulk.flatMap(\.names)
    return first.filter { $0.directory == directory }.compactMap(\.known)
  }

  /// What is pending of a name, where that is this.
  package mutating func pending(_ name: String, in directory: NodeID, _ event: Difference.Event) -> Difference
    .Name?
  {
    placeBulk()
    return pending[Key(directory: directory, name: name)].flatMap { $0.name.event == event ? $0.name : nil }
  }

  package mutating func removeAll() {
    pending = [:]
    ended = [:]
    came = [:]
    bulk = []
  }
}

extension Difference.Name {
  /// Whether it is the end of a directory.
  fileprivate var isEnd: Bool { isDirectory && event == .vanished }

  /// What the name leads to for who has not been told of this; nil where it tells nothing of that.
  var known: (name: String, node: NodeID?)? {
    switch event {
    case .appeared: (name, nil)
    case .vanished: (name, node)
    case .replaced, .uncertain, .moved: nil
    }
  }
}

extension Announcements.Key {
  fileprivate init(_ name: Difference.Name) { self.init(directory: name.directory, name: name.name) }
}
