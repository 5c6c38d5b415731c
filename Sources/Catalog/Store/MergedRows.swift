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
