package import PodcastTree

/// What those who watch have still to be told: for each name what leads from what they know to what is. A name that has
/// come and gone again is told of as both: who has looked at the directory in between has it.
package struct Announcements: Sendable {
  package struct Key: Hashable, Sendable {
    let directory: NodeID
    let name: String
  }
  private struct Entry {
    var name: Difference.Name
    /// Whether it has come before it has gone.
    var hasCome = false
    /// Names are told in the order in which they changed first.
    let place: UInt64
  }
  private var pending: [Key: Entry] = [:]
  /// What came in great numbers, not yet put with what is pending: the names of a new directory, of which mostly nobody is
  /// to be told.
  private var bulk: [[Difference.Name]] = []
  private var nextPlace: UInt64 = 0
  /// Names that the kernel makes or takes away itself, and how many such calls are under way: the end of the call says
  /// whether it has told who watches.
  private var underWay: [Key: Int] = [:]

  /// More names at once are a new directory rather than news.
  private static let limit = 20_000

  package init() {}

  package var count: Int { pending.count + underWay.count + bulk.reduce(0) { $0 + $1.count } }

  /// Takes in what has changed at once, in order.
  package mutating func note(_ names: [Difference.Name]) {
    if names.count >= Self.bulkSize {
      if count + names.count > Self.limit { placeBulk() }
      bulk.append(names)
    } else {
      placeBulk()
      for name in names { note(name) }
    }
  }

  /// More names than these are looked at only where somebody is to be told of them.
  private static let bulkSize = 200

  private mutating func placeBulk() {
    let names = bulk
    bulk = []
    for name in names.joined() { note(name) }
  }

  private mutating func note(_ name: Difference.Name) {
    if name.event == .uncertain { return }
    let key = Key(directory: name.directory, name: name.name)
    guard let old = pending[key]?.name.event else {
      if pending.count >= Self.limit { return }
      pending[key] = Entry(name: name, place: nextPlace)
      nextPlace += 1
      return
    }
    switch (old, name.event) {
    case (.appeared, .vanished):
      pending[key]?.name = name
      pending[key]?.hasCome = true
    case (.vanished, .appeared):
      pending[key]?.name = name
      // Gone and back: it has changed. What nobody has heard of has come.
      if pending[key]?.hasCome == false { pending[key]?.name.event = .replaced }
      pending[key]?.hasCome = false
    // Of what has gone a word on its state says nothing, and what has come has come.
    case (.vanished, .replaced), (.appeared, .replaced): break
    case (_, .uncertain): break
    case (.appeared, .appeared), (.vanished, .vanished), (.replaced, _), (.uncertain, _):
      pending[key]?.name = name
    }
  }

  /// The kernel makes a name, or takes it away.
  package mutating func begins(_ name: String, in directory: NodeID) {
    underWay[Key(directory: directory, name: name), default: 0] += 1
  }

  /// The kernel's call has ended.
  /// - Parameter told: what it has told who watches; nil where it has failed.
  /// - Returns: whether the name is still to be told.
  package mutating func ends(_ name: String, in directory: NodeID, told: Difference.Event?) -> Bool {
    placeBulk()
    let key = Key(directory: directory, name: name)
    let left = (underWay[key] ?? 1) - 1
    underWay[key] = left > 0 ? left : nil
    if let told, pending[key]?.name.event == told { pending[key] = nil }
    return pending[key] != nil
  }

  /// The directories in which something is to be told.
  package var directories: Set<NodeID> {
    Set(pending.keys.lazy.map(\.directory)).union(bulk.joined().lazy.map(\.directory))
  }

  /// The names that can be told now, in order.
  /// - Parameter watched: the directories whose watchers are to be told; what changed in others concerns nobody.
  package mutating func batch(in watched: Set<NodeID>) -> [Key] {
    for index in bulk.indices {
      bulk[index].removeAll { !watched.contains($0.directory) && underWay[Key($0)] == nil }
    }
    placeBulk()
    pending = pending.filter { watched.contains($0.key.directory) || underWay[$0.key] != nil }
    return pending.filter { underWay[$0.key] == nil }.sorted { $0.value.place < $1.value.place }.map(\.key)
  }

  /// What is to be told of a name now, in order; nothing where that is no more, or not yet.
  package mutating func take(_ key: Key) -> [Difference.Name] {
    placeBulk()
    guard underWay[key] == nil, let entry = pending.removeValue(forKey: key) else { return [] }
    if !entry.hasCome { return [entry.name] }
    var before = entry.name
    before.event = .appeared
    return [before, entry.name]
  }

  package mutating func removeAll() {
    pending = [:]
    bulk = []
  }
}

extension Announcements.Key {
  fileprivate init(_ name: Difference.Name) { self.init(directory: name.directory, name: name.name) }
}
