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
      return
    }
    pending[key]?.latest = place
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
    if let told, pending[key]?.name.event == told {
      pending[key] = nil
    } else if pending[key]?.before == told {
      pending[key]?.before = nil
    }
    return pending[key] != nil
  }

  /// Somebody is about to look for who watches.
  package var look: Look {
    let directories = Set(pending.keys.lazy.map(\.directory))
    return Look(
      directories: directories.union(bulk.lazy.flatMap(\.names).map(\.directory)), end: nextPlace)
  }

  /// What had changed before a look in directories that it has not found watched concerns nobody. What has changed since is
  /// left to the next look.
  package mutating func drop(except watched: Set<NodeID>, foundBy look: Look) {
    for index in bulk.indices where bulk[index].place < look.end {
      bulk[index].names.removeAll { !watched.contains($0.directory) && underWay[Key($0)] == nil }
    }
    placeBulk()
    pending = pending.filter { key, entry in
      watched.contains(key.directory) || underWay[key] != nil || entry.latest >= look.end
    }
  }

  /// The names of a directory that can be told now, in order.
  package mutating func names(in directory: NodeID) -> [Key] {
    placeBulk()
    return pending.filter { $0.key.directory == directory && underWay[$0.key] == nil }
      .sorted { $0.value.place < $1.value.place }.map(\.key)
  }

  /// Whether a name may be still to be told.
  package func mayHold(_ name: String, in directory: NodeID) -> Bool {
    !bulk.isEmpty || pending[Key(directory: directory, name: name)] != nil
  }

  /// What is to be told of a name now, in order; nothing where that is no more, or not yet.
  package mutating func take(_ key: Key) -> [Difference.Name] {
    placeBulk()
    guard underWay[key] == nil, let entry = pending.removeValue(forKey: key) else { return [] }
    guard let event = entry.before else { return [entry.name] }
    var before = entry.name
    before.event = event
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
