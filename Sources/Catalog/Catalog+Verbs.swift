internal import PodcastModel
internal import PosixKit

// What a user does to searches and episodes. Each survives the process when it returns; marks of episodes are on the
// disk half a second later, all else at once.
extension Catalog {
  /// Its results go with it, and what services have answered to it; the podcasts stay for a while.
  package func forgetSearch(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let name = try SearchRows.remove(id, in: database)
      try AnswerCache.remove(answersTo: SearchQuery(parsing: name).terms, in: database)
      changes.append(.search(id))
    }
    store.log.empty()
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
      if try SearchRows.hide(episode, inResult: result, in: database) {
        changes.append(.hiddenInSearch(result: result, episode: episode))
      }
    }
  }

  package func setPlayed(_ played: Bool, episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      if try EpisodeMarks.setPlayed(played, episode, in: database) { changes.append(.episode(episode)) }
    }
  }

  /// Hides an episode in `Subscriptions/` and `Latest/`, until it is restored or its podcast unsubscribed.
  package func setHidden(_ hidden: Bool, episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      if try EpisodeMarks.setHidden(hidden, episode, in: database) { changes.append(.episode(episode)) }
    }
  }

  /// Shows all hidden episodes of a podcast again.
  package func restoreHidden(podcast: Int64) throws(CatalogError) {
    try store.change { database, changes in
      guard try PodcastRow.podcast(podcast, in: database) != nil else {
        throw CatalogError.unknown("podcast")
      }
      if try EpisodeMarks.restoreHidden(podcast, in: database) { changes.append(.podcast(podcast)) }
    }
  }

  /// Tells all mounts that a file beside an episode, or a cover, has come into the cache or left it.
  package func noteSidecar(_ node: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { _, changes in changes.append(.sidecar(node)) }
  }
}
