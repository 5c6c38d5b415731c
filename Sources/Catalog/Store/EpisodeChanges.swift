internal import FeedKit
internal import SQLiteKit

// How episodes come into the catalogue and change (`FeedMerge`); within a transaction.
extension EpisodeRow {
  /// An episode's title and notes, as the full-text index has them.
  static func texts(_ id: Int64, in database: Database) throws -> (title: String, notes: String?)? {
    try database.first(
      "SELECT e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?", id
    ) { ($0.string(0), $0.stringIfPresent(1)) }
  }

  /// Adds the long texts of episodes that have any.
  static func addTexts(_ episodes: [(id: Int64, item: IncomingEpisode)], in database: Database) throws {
    let some = episodes.filter { $0.item.parsed.notes != nil || $0.item.parsed.chapters != nil }
    try database.run(Database.insertion(into: "notes", ["episode_id", "text", "chapters"]), rows: some.count)
    {
      place, row in
      row.add(some[place].id)
      row.add(some[place].item.parsed.notes)
      row.add(some[place].item.parsed.chapters)
    }
  }
}

/// What a podcast's row says of the numbers of its episodes.
struct EpisodeNumbers: Equatable {
  /// Changes with every change of the episodes.
  var revision: Int64
  var next: Int64
  /// Up to which they are in the full-text index.
  var indexed: Int64

  /// Further episodes are left out.
  var isFull: Bool { next > EpisodeID.last }
  static let fullMessage = "limit of \(EpisodeID.last) episodes reached: newer ones are left out"

  /// The date of the newest episode of podcast ?1 that is not hidden.
  static let newest =
    "(SELECT max(published) FROM episode INDEXED BY episode_by_date WHERE podcast_id = ?1 AND hidden = 0)"
}

extension EpisodeNumbers {
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

  /// Within the transaction that has added so many; also where that are none and others have changed.
  static func added(_ count: Int, to podcast: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET revision = revision + 1, next_episode = next_episode + ?2,
        episode_count = episode_count + ?2, newest = \(newest)
      WHERE id = ?1
      """, podcast, count)
  }
}
