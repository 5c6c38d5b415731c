internal import PodcastModel
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
    queue.insert(episode, at: index(of: place, among: queue.map { places[$0] }))
    try QueueRows.renumber(queue, in: database)
    return true
  }

  /// The queue's episodes by their places, from 1, with those of backups that are not known yet.
  static func places(_ awaited: [AwaitedReport], in database: Database) throws -> Places {
    let known = try database.all(
      "SELECT q.episode_id, p.place FROM queue q LEFT JOIN imported_place p USING (episode_id) ORDER BY q.place"
    ) { (id: $0.int64(0), place: $0.intIfPresent(1)) }
    var queue = known.map { (member: Member.episode($0.id), place: $0.place) }
    for report in awaited.filter({ $0.queuePlace > 0 }).sorted(by: { $0.queuePlace < $1.queuePlace }) {
      queue.insert(
        (.awaited(report.podcast, report.address), report.queuePlace),
        at: index(of: report.queuePlace, among: queue.map(\.place)))
    }
    return Dictionary(
      queue.enumerated().map { ($0.element.member, $0.offset + 1) }, uniquingKeysWith: { first, _ in first })
  }

  typealias Places = [Member: Int]

  enum Member: Hashable {
    case episode(Int64)
    case awaited(WebAddress, WebAddress)
  }

  /// - Parameter places: in the backup's queue, of the episodes in the queue here; nil for those that came otherwise.
  private static func index(of place: Int, among places: [Int?]) -> Int {
    let before = places.lastIndex { $0.map { $0 < place } ?? false }
    let behind = places.firstIndex { $0.map { $0 > place } ?? false }
    return before.map { $0 + 1 } ?? behind ?? places.count
  }
}
