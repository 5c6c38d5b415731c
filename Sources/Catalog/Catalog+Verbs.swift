internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// What a user does to searches and episodes. Each survives the process when it returns; marks of episodes are on the
// disk half a second later, all else at once.
extension Catalog {
  /// Its results go with it, and what services have answered to it; the podcasts stay for a while.
  package func forgetSearch(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let name = try database.first("SELECT name FROM search WHERE id = ?", id) { $0.string(0) }
      guard let name else { throw CatalogError.unknown("search") }
      try database.run("DELETE FROM search WHERE id = ?", id)
      for key in searching.answerKeys(of: SearchQuery(parsing: name)) {
        try database.run("DELETE FROM answer WHERE key = ?", key)
      }
      try Folder.searches.touch(in: database)
      changes.append(.search(id))
    }
  }

  /// Takes a result out of its search, also when that is made again.
  package func hideResult(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let search = try SearchRows.setState(.hidden, ofResult: id, in: database)
      changes += [.result(id, search: search), .search(search)]
    }
  }

  /// Hides an episode from one result of a search only.
  package func hideInSearch(result: Int64, episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
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
    try store.change(waitsForDisk: false) { database, changes in
      try Self.checkEpisode(episode, in: database)
      try database.run("UPDATE episode SET played = ? WHERE id = ? AND played <> ?1", played, episode)
      if database.changedRows > 0 { changes.append(.episode(episode)) }
    }
  }

  /// Hides an episode in `Subscriptions/` and `Latest/`, until it is restored or its podcast unsubscribed.
  package func hide(episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try Self.checkEpisode(episode, in: database)
      try database.run("UPDATE episode SET hidden = 1 WHERE id = ? AND hidden = 0", episode)
      if database.changedRows == 0 { return }
      let podcast = EpisodeID.podcast(of: episode)
      try EpisodeMarks.hiddenChanged(podcast, in: database)
      changes.append(.episode(episode))
    }
  }

  /// Shows all hidden episodes of a podcast again.
  package func restoreHidden(podcast: Int64) throws(CatalogError) {
    try store.change { database, changes in
      guard try database.exists("SELECT 1 FROM podcast WHERE id = ?", podcast) else {
        throw CatalogError.unknown("podcast")
      }
      if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }

  private static func checkEpisode(_ id: Int64, in database: Database) throws {
    guard try database.exists("SELECT 1 FROM episode WHERE id = ?", id) else {
      throw CatalogError.unknown("episode")
    }
  }
}
