internal import SQLiteKit

/// What a podcast's row says of the numbers of its episodes.
struct EpisodeNumbers {
  /// Changes with every change of the episodes.
  var revision: Int64
  /// That of the next episode.
  var next: Int64
  /// Up to which they are in the full-text index.
  var indexed: Int64

  /// Further episodes are left out.
  var isFull: Bool { next > EpisodeID.last }
  static let fullMessage = "limit of \(EpisodeID.last) episodes reached: newer ones are left out"

  init?(podcast: Int64, in database: Database) throws {
    let numbers = try database.first(
      "SELECT revision, next_episode, indexed_upto FROM podcast WHERE id = ?",
      podcast
    ) {
      // A damaged file says anything.
      EpisodeNumbers(
        revision: min(max($0.int64(0), 0), 1 << 60), next: min(max($0.int64(1), 1), EpisodeID.last + 1),
        indexed: min(max($0.int64(2), 0), EpisodeID.last))
    }
    guard let numbers else { return nil }
    self = numbers
  }

  private init(revision: Int64, next: Int64, indexed: Int64) {
    self.revision = revision
    self.next = next
    self.indexed = indexed
  }

  /// Within the transaction that has added so many; also where that are none and others have changed.
  /// - Parameter areIndexed: with all before them.
  static func added(
    _ count: Int, to podcast: Int64, next: Int64, areIndexed: Bool, in database: Database
  ) throws {
    try database.run(
      """
      UPDATE podcast SET revision = revision + 1, next_episode = ?2, episode_count = episode_count + ?3,
        indexed_upto = CASE WHEN ?4 THEN ?2 - 1 ELSE indexed_upto END,
        newest = (SELECT max(published) FROM episode INDEXED BY episode_by_date
          WHERE podcast_id = ?1 AND hidden = 0)
      WHERE id = ?1
      """, podcast, next, count, areIndexed)
  }
}
