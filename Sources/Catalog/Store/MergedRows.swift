internal import PodcastModel
internal import SQLiteKit

/// What shows a podcast becomes another's, which it has turned out to be; within a transaction.
struct MergedRows {
  let survivor: Int64
  let loser: Int64
  let database: Database
  /// Searches whose results are others now.
  private(set) var searches: [Int64] = []

  init(survivor: Int64, loser: Int64, database: Database) {
    self.survivor = survivor
    self.loser = loser
    self.database = database
  }

  /// Notes that the one is becoming the other.
  static func begin(_ loser: Int64, into survivor: Int64, in database: Database) throws {
    // Of several that become one, all end in the last.
    try database.run(
      "UPDATE podcast SET merges_into = ?1 WHERE id = ?2 OR merges_into = ?2", survivor, loser)
    // The address is free for the one that stays.
    try database.run("UPDATE podcast SET feed_key = 'merging ' || id WHERE id = ?", loser)
  }

  /// Those that have not ended.
  static func begun(in database: Database) throws -> [Int64] {
    try database.all("SELECT id FROM podcast INDEXED BY podcast_merging WHERE merges_into IS NOT NULL") {
      $0.int64(0)
    }
  }

  /// The podcast that another is becoming; nil for none.
  static func target(of loser: Int64, in database: Database) throws -> Int64? {
    try database.first("SELECT merges_into FROM podcast WHERE id = ? AND is_forgotten = 0", loser) {
      $0.int64IfPresent(0)
    } ?? nil
  }

  /// A search that shows both shows the survivor.
  mutating func takeResults() throws {
    searches = try database.all("SELECT search_id FROM result WHERE podcast_id = ?", loser) { $0.int64(0) }
    try database.run("UPDATE OR IGNORE result SET podcast_id = ? WHERE podcast_id = ?", survivor, loser)
  }

  func takeSubscription() throws {
    try database.run("UPDATE OR IGNORE subscription SET podcast_id = ? WHERE podcast_id = ?", survivor, loser)
  }

  /// With the results and the subscription that could not be taken.
  func removeLoser() throws {
    try FullText.removePodcast(loser, in: database)
    try database.run("DELETE FROM subscription WHERE podcast_id = ?", loser)
    try database.run("DELETE FROM podcast WHERE id = ?", loser)
    try database.run(
      "UPDATE podcast SET is_followed = EXISTS (SELECT 1 FROM subscription WHERE podcast_id = ?1) WHERE id = ?1",
      survivor)
    for folder in [Folder.subscriptions, .list] { try folder.touch(in: database) }
  }
}
