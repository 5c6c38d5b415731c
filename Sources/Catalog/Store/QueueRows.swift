internal import PosixKit
internal import SQLiteKit

/// An episode in the queue of what is played next.
package struct QueueEntry: Hashable, Sendable {
  package var episode: Int64
  /// From 1; there may be gaps.
  package var place: Int

  package init(episode: Int64, place: Int) {
    self.episode = episode
    self.place = place
  }
}

/// The queue; within a transaction. What is played leaves it (by a trigger). What leaves it leaves a gap, so that the names of the others stay: a player has them in
/// its list. Moving an episode numbers all anew.
enum QueueRows {
  /// Names have three digits.
  static let limit = 999

  /// In order.
  static func all(in database: Database) throws -> [QueueEntry] {
    try database.all("SELECT episode_id, place FROM queue ORDER BY place") {
      QueueEntry(episode: $0.int64(0), place: $0.int(1))
    }
  }

  static func append(_ ids: [Int64], in database: Database) throws {
    var last = try database.first("SELECT coalesce(max(place), 0) FROM queue") { $0.int(0) } ?? 0
    let known = Set(try all(in: database).map(\.episode))
    let new = ids.filter { !known.contains($0) }
    if last + new.count > limit {
      try renumber(try all(in: database).map(\.episode), in: database)
      last = known.count
    }
    if last + new.count > limit { throw CatalogError(.ENOSPC, "the queue is full") }
    for id in new {
      last += 1
      try EpisodeRow.check(id, in: database)
      try database.run("INSERT INTO queue (episode_id, place) VALUES (?, ?)", id, last)
    }
  }

  /// Restores an episode from a backup: it gets `place` in the queue, or the next free place behind it.
  /// - Returns: false where the episode is in the queue already, or the queue is full.
  static func insert(_ id: Int64, at place: Int, in database: Database) throws -> Bool {
    let queue = try all(in: database)
    if queue.contains(where: { $0.episode == id }) || queue.count >= limit { return false }
    let taken = Set(queue.map(\.place))
    if let free = (min(place, limit)...limit).first(where: { !taken.contains($0) }) {
      try database.run("INSERT INTO queue (episode_id, place) VALUES (?, ?)", id, free)
    } else {
      try append([id], in: database)
    }
    return true
  }

  static func remove(_ ids: [Int64], in database: Database) throws {
    try database.run(
      "DELETE FROM queue WHERE episode_id IN (SELECT value FROM json_each(?))", EpisodeRow.list(ids))
  }

  static func renumber(_ ids: [Int64], in database: Database) throws {
    try database.run("DELETE FROM queue")
    for (place, id) in ids.enumerated() {
      try database.run("INSERT INTO queue (episode_id, place) VALUES (?, ?)", id, place + 1)
    }
  }
}

extension Catalog {
  /// In order.
  package func queueEntries() throws(CatalogError) -> [QueueEntry] {
    try store.read { try QueueRows.all(in: $0) }
  }

  /// Appends episodes; those that are in the queue stay where they are.
  package func appendToQueue(_ ids: [Int64]) throws(CatalogError) {
    try changeQueue { try QueueRows.append(ids, in: $0) }
  }

  /// Puts episodes first, in this order, wherever they were.
  package func putFirstInQueue(_ ids: [Int64]) throws(CatalogError) {
    try changeQueue { database in
      try QueueRows.append(ids, in: database)
      let others = try QueueRows.all(in: database).map(\.episode).filter { !ids.contains($0) }
      try QueueRows.renumber(ids + others, in: database)
    }
  }

  /// Moves an episode to where the one with that number is now, and numbers all anew.
  package func moveInQueue(_ id: Int64, to place: Int) throws(CatalogError) {
    try changeQueue { database in
      let all = try QueueRows.all(in: database)
      guard let own = all.first(where: { $0.episode == id }) else {
        throw CatalogError.unknown("episode in the queue")
      }
      let others = all.filter { $0.episode != id }
      // Up: before the one that is there. Down: behind it.
      let before = others.filter { place < own.place ? $0.place < place : $0.place <= place }
      let after = others.dropFirst(before.count)
      try QueueRows.renumber(before.map(\.episode) + [id] + after.map(\.episode), in: database)
    }
  }

  package func removeFromQueue(_ ids: [Int64]) throws(CatalogError) {
    try changeQueue { try QueueRows.remove(ids, in: $0) }
  }

  package func clearQueue() throws(CatalogError) { try changeQueue { try $0.run("DELETE FROM queue") } }

  private func changeQueue(_ body: (Database) throws -> Void) throws(CatalogError) {
    try store.change { database, changes in
      let old = try QueueRows.all(in: database)
      try body(database)
      if try QueueRows.all(in: database) != old { changes.append(.queue) }
    }
  }
}
