internal import PosixKit
internal import SQLiteKit

package struct QueueEntry: Hashable, Sendable {
  package var episode: Int64
  /// From 1; there may be gaps.
  package var place: Int

  package init(episode: Int64, place: Int) {
    (self.episode, self.place) = (episode, place)
  }
}

/// The queue: loaded, changed as a value, and saved. What is played leaves it by a trigger. What leaves it leaves a gap, so that
/// the names of the others stay: a player has them in its list. Moving an episode numbers all anew.
struct PlayQueue: Equatable {
  /// In order.
  private(set) var entries: [QueueEntry]

  /// Names have three digits.
  private static let limit = 999

  init(in database: Database) throws {
    entries = try database.all("SELECT episode_id, place FROM queue ORDER BY place") {
      QueueEntry(episode: $0.int64(0), place: $0.int(1))
    }
  }

  func save(replacing old: PlayQueue, in database: Database) throws {
    // A place is free for another episode as soon as it is negative.
    for entry in Set(old.entries).subtracting(entries) {
      try database.run("UPDATE queue SET place = -place WHERE episode_id = ?", entry.episode)
    }
    for entry in Set(entries).subtracting(old.entries) {
      try EpisodeRows.check(entry.episode, in: database)
      try database.run(
        """
        INSERT INTO queue (episode_id, place) VALUES (?, ?)
          ON CONFLICT (episode_id) DO UPDATE SET place = excluded.place
        """, entry.episode, entry.place)
    }
    try database.run("DELETE FROM queue WHERE place < 0")
  }

  var episodes: [Int64] { entries.map(\.episode) }
  var places: [Int64: Int] { Dictionary(entries.map { ($0.episode, $0.place) }) { first, _ in first } }

  /// Those that are in it stay where they are.
  mutating func append(_ ids: [Int64]) throws {
    let known = Set(episodes)
    let new = ids.filter { !known.contains($0) }
    if entries.count + new.count > Self.limit { throw CatalogError(.ENOSPC, "the queue is full") }
    let last = entries.last?.place ?? 0
    if last + new.count > Self.limit { return renumber(episodes + new) }
    entries += new.enumerated().map { QueueEntry(episode: $1, place: last + 1 + $0) }
  }

  /// Restores an episode from a backup: it gets `place`, or the next free place behind it.
  /// - Returns: false where the episode is in the queue already, or the queue is full.
  mutating func insert(_ id: Int64, at place: Int) throws -> Bool {
    if entries.count >= Self.limit || episodes.contains(id) { return false }
    let taken = Set(entries.map(\.place))
    if let free = (min(place, Self.limit)...Self.limit).first(where: { !taken.contains($0) }) {
      entries.append(QueueEntry(episode: id, place: free))
      entries.sort { $0.place < $1.place }
    } else {
      try append([id])
    }
    return true
  }

  mutating func remove(_ ids: [Int64]) { entries.removeAll { ids.contains($0.episode) } }

  mutating func renumber(_ ids: [Int64]) {
    entries = ids.enumerated().map { QueueEntry(episode: $1, place: $0 + 1) }
  }
}

extension Catalog {
  package func queueEntries() throws(CatalogError) -> [QueueEntry] {
    try store.read { try PlayQueue(in: $0).entries }
  }

  /// Those of the first `count` episodes whose download was not ordered ahead yet, in order.
  package func queuedToOrder(amongFirst count: Int) throws(CatalogError) -> [Int64] {
    try store.read {
      try $0.numbers(
        """
        SELECT episode_id FROM (SELECT * FROM queue ORDER BY place LIMIT ?)
          WHERE is_ordered = 0 ORDER BY place
        """, count)
    }
  }

  /// From now on nobody orders its download ahead, for as long as it is in the queue.
  package func noteOrderedAhead(_ id: Int64) throws(CatalogError) {
    try store.write(waitsForDisk: false) {
      try $0.run("UPDATE queue SET is_ordered = 1 WHERE episode_id = ?", id)
    }
  }

  package func appendToQueue(_ ids: [Int64]) throws(CatalogError) { try changeQueue { try $0.append(ids) } }

  package func putFirstInQueue(_ ids: [Int64]) throws(CatalogError) {
    try changeQueue { queue in
      try queue.append(ids)
      queue.renumber(ids + queue.episodes.filter { !ids.contains($0) })
    }
  }

  /// Moves an episode to where the one with that number is now, and numbers all anew.
  package func moveInQueue(_ id: Int64, to place: Int) throws(CatalogError) {
    try changeQueue { queue in
      let own = try existing("episode in the queue", queue.entries.first { $0.episode == id })
      var others = queue.entries.filter { $0.episode != id }
      // Up: before the one that is there. Down: behind it.
      let behind = others.firstIndex { place < own.place ? $0.place >= place : $0.place > place }
      others.insert(own, at: behind ?? others.count)
      queue.renumber(others.map(\.episode))
    }
  }

  package func removeFromQueue(_ ids: [Int64]) throws(CatalogError) { try changeQueue { $0.remove(ids) } }

  private func changeQueue(_ body: (inout PlayQueue) throws -> Void) throws(CatalogError) {
    try store.change { database, changes in
      let old = try PlayQueue(in: database)
      var queue = old
      try body(&queue)
      if queue == old { return }
      try queue.save(replacing: old, in: database)
      changes.append(.queue)
    }
  }
}
