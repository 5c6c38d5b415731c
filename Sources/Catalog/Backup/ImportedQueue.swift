internal import SQLiteKit

/// The order of a backup's queue: its episodes come with their feeds, one podcast after the other.
enum ImportedQueue {
  /// Puts an episode into the queue, between those of the backup that come before it and behind it.
  /// - Parameter place: in the backup's queue, from 1.
  /// - Returns: false where it is in the queue, or that is full.
  static func insert(_ episode: Int64, at place: Int, in database: Database) throws -> Bool {
    try database.run(
      "INSERT OR REPLACE INTO imported_place (episode_id, place) VALUES (?, ?)", episode, place)
    var queue = try QueueRows.all(in: database).map(\.episode)
    if queue.contains(episode) || queue.count >= QueueRows.limit { return false }
    let known = try database.all("SELECT episode_id, place FROM imported_place") { ($0.int64(0), $0.int(1)) }
    let places = Dictionary(known, uniquingKeysWith: { first, _ in first })
    let before = queue.lastIndex { places[$0].map { $0 < place } ?? false }
    let behind = queue.firstIndex { places[$0].map { $0 > place } ?? false }
    queue.insert(episode, at: before.map { $0 + 1 } ?? behind ?? queue.count)
    try QueueRows.renumber(queue, in: database)
    return true
  }
}
