internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// What a user does to searches and episodes. Each survives the process when it returns; marks of episodes are on the
// disk half a second later, all else at once.
extension Catalog {
  /// Its results go with it, and what services have answered to it; the podcasts stay for a while.
  package func forgetSearch(_ id: Int64) throws(CatalogError) {
    try change { database, changes in
      let name = try database.first("SELECT name FROM search WHERE id = ?", id) { $0.string(0) }
      guard let name else { throw CatalogError.unknown("search") }
      try database.run("DELETE FROM search WHERE id = ?", id)
      for key in answerKeys(of: SearchQuery(parsing: name)) {
        try database.run("DELETE FROM answer WHERE key = ?", key)
      }
      try Folder.searches.touch(in: database)
      changes.append(.search(id))
    }
  }

  /// Takes a result out of its search, also when that is made again.
  package func hideResult(_ id: Int64) throws(CatalogError) {
    try change { database, changes in
      let search = try Self.setState(.hidden, ofResult: id, in: database)
      changes += [.result(id, search: search), .search(search)]
    }
  }

  /// Hides an episode from one result of a search only.
  package func hideInSearch(result: Int64, episode: Int64) throws(CatalogError) {
    try change(waitsForDisk: false) { database, changes in
      guard try database.exists("SELECT 1 FROM result WHERE id = ?", result) else {
        throw CatalogError.unknown("result")
      }
      try Self.checkEpisode(episode, in: database)
      try database.run(
        "INSERT OR IGNORE INTO hidden_in_search (result_id, episode_id) VALUES (?, ?)", result, episode)
      if database.changedRows == 0 { return }
      try database.run("UPDATE result SET changed = ? WHERE id = ?", wallClockNanoseconds(), result)
      changes.append(.hiddenInSearch(result: result, episode: episode))
    }
  }

  package func setPlayed(_ played: Bool, episode: Int64) throws(CatalogError) {
    try change(waitsForDisk: false) { database, changes in
      try Self.checkEpisode(episode, in: database)
      try database.run("UPDATE episode SET played = ? WHERE id = ? AND played <> ?1", played, episode)
      if database.changedRows > 0 { changes.append(.episode(episode)) }
    }
  }

  /// Hides an episode in `Subscriptions/` and `Latest/`, until it is restored or its podcast unsubscribed.
  package func hide(episode: Int64) throws(CatalogError) {
    try change(waitsForDisk: false) { database, changes in
      try Self.checkEpisode(episode, in: database)
      try database.run("UPDATE episode SET hidden = 1 WHERE id = ? AND hidden = 0", episode)
      if database.changedRows == 0 { return }
      let podcast = EpisodeID.podcast(of: episode)
      try Self.hiddenChanged(podcast, in: database)
      changes.append(.episode(episode))
    }
  }

  /// Shows all hidden episodes of a podcast again.
  package func restoreHidden(podcast: Int64) throws(CatalogError) {
    try change { database, changes in
      guard try database.exists("SELECT 1 FROM podcast WHERE id = ?", podcast) else {
        throw CatalogError.unknown("podcast")
      }
      if try Self.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }

  /// - Returns: whether any was hidden.
  static func restoreHidden(_ podcast: Int64, in database: Database) throws -> Bool {
    try database.run("UPDATE episode SET hidden = 0 WHERE podcast_id = ? AND hidden = 1", podcast)
    if database.changedRows == 0 { return false }
    try hiddenChanged(podcast, in: database)
    return true
  }

  private static func hiddenChanged(_ podcast: Int64, in database: Database) throws {
    try findNewest(of: podcast, in: database)
    try database.run(
      "UPDATE subscription SET changed = ? WHERE podcast_id = ?", wallClockNanoseconds(), podcast)
  }

  /// Keeps `podcast.newest`, by which `latest` looks no further than it must.
  static func findNewest(of podcast: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE podcast SET newest =
        (SELECT max(published) FROM episode INDEXED BY episode_newest WHERE podcast_id = ?1 AND hidden = 0)
      WHERE id = ?1
      """, podcast)
  }

  /// - Returns: the result's search.
  static func setState(_ state: ResultState, ofResult id: Int64, in database: Database) throws -> Int64 {
    let search = try database.first("SELECT search_id FROM result WHERE id = ? AND state = 0", id) {
      $0.int64(0)
    }
    guard let search else { throw CatalogError.unknown("result") }
    try database.run("UPDATE result SET state = ? WHERE id = ?", state.rawValue, id)
    try database.run("UPDATE search SET changed = ? WHERE id = ?", wallClockNanoseconds(), search)
    return search
  }

  private static func checkEpisode(_ id: Int64, in database: Database) throws {
    guard try database.exists("SELECT 1 FROM episode WHERE id = ?", id) else {
      throw CatalogError.unknown("episode")
    }
  }
}
