internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// How a podcast's rows go: first it is hidden from everybody, then deleted in pieces that no verb waits for long.
enum Forgetting {
  /// Episodes that one transaction deletes.
  private static let piece = 500

  /// From here on nothing shows it, and its address and name are free.
  static func hide(_ podcast: Int64, in database: Database, _ changes: inout [CatalogChange]) throws {
    let subscription = try database.first("SELECT id FROM subscription WHERE podcast_id = ?", podcast) {
      $0.int64(0)
    }
    let searches = try database.all("SELECT search_id FROM result WHERE podcast_id = ?", podcast) {
      $0.int64(0)
    }
    try FullText.removePodcast(podcast, in: database)
    try database.run("DELETE FROM subscription WHERE podcast_id = ?", podcast)
    try KeptRows.removeAll(ofPodcast: podcast, in: database)
    try database.run("DELETE FROM former_address WHERE podcast_id = ?", podcast)
    try database.run("DELETE FROM result WHERE podcast_id = ?", podcast)
    for table in ["feed", "archive"] {
      try database.run("DELETE FROM \(table) WHERE podcast_id = ?", podcast)
    }
    try database.run(
      """
      UPDATE podcast SET is_forgotten = 1, title = '', name = '', name_key = 'forgotten ' || id, author = NULL,
        link = NULL, description = NULL, image_url = NULL, categories = NULL, guid = NULL
      WHERE id = ?
      """, podcast)
    if let subscription {
      changes.append(.subscription(subscription, podcast: podcast))
      for folder in [Folder.subscriptions, .list] { try folder.touch(in: database) }
    }
    for search in searches {
      try database.run("UPDATE search SET changed = ? WHERE id = ?", wallClockNanoseconds(), search)
      changes += [.results(search: search), .search(search)]
    }
    changes.append(.podcast(podcast))
  }

  /// Deletes what is hidden.
  /// - Parameter withWords: their words leave the full-text index, too.
  static func finish(_ store: CatalogStore, withWords: Bool = false) throws(CatalogError) {
    while let podcast = try next(store) {
      try deleteEpisodes(of: podcast, store)
      try store.change(.refresh) { database, changes in
        try database.run("DELETE FROM podcast WHERE id = ? AND is_forgotten = 1", podcast)
        // Together, so that whoever goes on after a process that has ended knows of it.
        if withWords, try next(in: database) == nil {
          try FullText.reset(in: database)
          // Whoever fills the index hears of it.
          changes.append(.everything)
        }
      }
    }
  }

  private static func next(_ store: CatalogStore) throws(CatalogError) -> Int64? {
    try store.read { try next(in: $0) }
  }

  private static func next(in database: Database) throws -> Int64? {
    try database.first("SELECT id FROM podcast INDEXED BY podcast_forgotten WHERE is_forgotten = 1 LIMIT 1") {
      $0.int64(0)
    }
  }

  /// Deletes a podcast's episodes with their texts.
  static func deleteEpisodes(of podcast: Int64, _ store: CatalogStore) throws(CatalogError) {
    let first = EpisodeID.first(ofPodcast: podcast)
    while true {
      // The texts as they are in the index, made before the transaction.
      let (revision, indexed, rows) = try store.read { database in
        let state = try database.first("SELECT revision, indexed_upto FROM podcast WHERE id = ?", podcast) {
          ($0.int64(0), $0.int64(1))
        }
        let rows = try database.all(
          """
          SELECT e.id, e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id
          WHERE e.id BETWEEN ? AND ? ORDER BY e.id LIMIT ?
          """, first, EpisodeID.last(ofPodcast: podcast), piece
        ) { ($0.int64(0), IndexedText(title: $0.string(1), notes: $0.stringIfPresent(2))) }
        return (state?.0 ?? 0, state?.1 ?? 0, rows)
      }
      if rows.isEmpty { return }
      try store.write(.refresh) { database in
        guard try KnownEpisodes.revision(podcast, in: database) == revision else { return }
        for (id, text) in rows {
          if id <= first + indexed { try FullText.removeEpisode(id, text, in: database) }
          try database.run("DELETE FROM episode WHERE id = ?", id)
        }
        try database.run(
          """
          UPDATE podcast SET revision = revision + 1, episode_count = episode_count - ?, newest = NULL
          WHERE id = ?
          """, rows.count, podcast)
        // They come again when somebody looks.
        _ = try FeedRecord.change(podcast, in: database) { $0.forgetAnswer() }
      }
    }
  }
}
