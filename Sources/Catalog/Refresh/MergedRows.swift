internal import Identity
internal import PodcastModel
internal import SQLiteKit

/// What one podcast's rows become when it is found to be another one, within a transaction.
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

  /// Marks go to the same episode; what the survivor does not have becomes its own, under a new number.
  func takeEpisodes(
    _ given: KnownEpisodes, _ decisions: [IdentityEngine.Decision], _ kept: KnownEpisodes
  ) throws {
    var names = UniqueNames(taken: kept.all.lazy.map(\.stem))
    var number =
      try database.first("SELECT next_episode FROM podcast WHERE id = ?", survivor) { $0.int64(0) } ?? 1
    let indexed =
      try database.first("SELECT indexed_upto FROM podcast WHERE id = ?", loser) { $0.int64(0) } ?? 0
    for (episode, decision) in zip(given.all, decisions) {
      if episode.id <= EpisodeID.first(ofPodcast: loser) + indexed {
        try FullText.removeEpisode(episode.id, try text(episode.id), in: database)
      }
      if let place = decision.place {
        try giveMarks(of: episode.id, to: kept.all[place].id)
        try database.run("DELETE FROM episode WHERE id = ?", episode.id)
        continue
      }
      guard let id = EpisodeID.make(podcast: survivor, number: number) else { continue }
      number += 1
      try move(episode.id, to: id, stem: names.claim(episode.stem))
    }
    try database.run(
      """
      UPDATE podcast SET next_episode = ?2, revision = revision + 1,
        episode_count = (SELECT count(*) FROM episode WHERE id BETWEEN ?3 AND ?4),
        hidden_count = (SELECT count(*) FROM episode WHERE podcast_id = ?1 AND hidden = 1),
        newest = (SELECT max(published) FROM episode INDEXED BY episode_newest
          WHERE podcast_id = ?1 AND hidden = 0)
      WHERE id = ?1
      """, survivor, number, EpisodeID.first(ofPodcast: survivor), EpisodeID.last(ofPodcast: survivor))
  }

  private func text(_ episode: Int64) throws -> IndexedText {
    let row = try database.first(
      "SELECT e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?", episode
    ) { IndexedText(title: $0.string(0), notes: $0.stringIfPresent(1)) }
    return row ?? IndexedText(title: "", notes: nil)
  }

  private func giveMarks(of old: Int64, to new: Int64) throws {
    try database.run(
      "UPDATE episode SET played = max(played, (SELECT played FROM episode WHERE id = ?)) WHERE id = ?", old,
      new)
    try database.run("INSERT OR IGNORE INTO kept SELECT ? FROM kept WHERE episode_id = ?", new, old)
    try database.run("DELETE FROM kept WHERE episode_id = ?", old)
    try database.run(
      "UPDATE OR IGNORE hidden_in_search SET episode_id = ? WHERE episode_id = ?", new, old)
  }

  private func move(_ old: Int64, to new: Int64, stem: String) throws {
    try database.run("PRAGMA defer_foreign_keys = 1")
    try database.run(
      "UPDATE episode SET id = ?, podcast_id = ?, stem = ? WHERE id = ?", new, survivor, stem, old)
    for table in ["notes", "kept", "hidden_in_search"] {
      try database.run("UPDATE \(table) SET episode_id = ? WHERE episode_id = ?", new, old)
    }
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
