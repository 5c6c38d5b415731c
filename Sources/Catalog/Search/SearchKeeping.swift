internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// How a search and its results are kept.
extension Catalog {
  /// - Returns: the search's number.
  static func keep(
    _ name: String, _ findings: Findings, replacing old: Int64?, now: Int64, in database: Database
  ) throws -> Int64 {
    let same = try old.flatMap { old in
      try database.first("SELECT id FROM search WHERE id = ? AND name = ?", old, name) { $0.int64(0) }
    }
    let search: Int64
    if let same {
      search = same
      try database.run(
        "UPDATE search SET source = ?, searched = ? WHERE id = ?", findings.source, now, same)
      // What is no longer found keeps its row, and so its name.
      try database.run(
        "UPDATE result SET state = ? WHERE search_id = ? AND state <> ?", ResultState.gone.rawValue, same,
        ResultState.hidden.rawValue)
    } else {
      if let old { try database.run("DELETE FROM search WHERE id = ?", old) }
      try database.run(
        "INSERT INTO search (name, source, searched) VALUES (?, ?, ?)", name, findings.source, now)
      search = database.lastInsertedID
    }
    var names = UniqueNames(
      taken: try database.all("SELECT name FROM result WHERE search_id = ?", search) { $0.string(0) })
    try database.run("UPDATE search SET changed = ? WHERE id = ?", wallClockNanoseconds(), search)
    if same == nil { try Folder.searches.touch(in: database) }
    for (position, found) in findings.podcasts.enumerated() {
      let mayBePrivate = findings.privateFeeds.contains(found.feedURL)
      let podcast = try keep(found, mayBePrivate: mayBePrivate, in: database)
      try keepResult(podcast, found, of: search, at: position, &names, in: database)
    }
    return search
  }

  private static func keepResult(
    _ podcast: Int64, _ found: FoundPodcast, of search: Int64, at position: Int, _ names: inout UniqueNames,
    in database: Database
  ) throws {
    try database.run(
      """
      UPDATE result SET position = ?, state = CASE state WHEN ? THEN state ELSE ? END
      WHERE search_id = ? AND podcast_id = ?
      """, position, ResultState.hidden.rawValue, ResultState.shown.rawValue, search, podcast)
    if database.changedRows > 0 { return }
    let known = try database.first("SELECT title FROM podcast WHERE id = ? AND has_title = 1", podcast) {
      $0.string(0)
    }
    let title = found.hasTitle ? found.title : known ?? found.title
    let name = names.claim(EpisodeName.directoryName(title: title))
    try database.run(
      """
      INSERT INTO result (search_id, podcast_id, position, name, name_key, is_provisional)
      VALUES (?, ?, ?, ?, ?, ?)
      """, search, podcast, position, name, UniqueNames.key(name), !found.hasTitle && known == nil)
  }

  /// The podcast with this feed, new or not. What a search says counts until its feed has been fetched.
  /// - Returns: the podcast's number.
  static func keep(_ found: FoundPodcast, mayBePrivate: Bool, in database: Database) throws -> Int64 {
    let key = FeedKey.text(found.feedURL)
    let known = try database.first("SELECT id FROM podcast WHERE feed_key = ?", key) { $0.int64(0) }
    let id: Int64
    if let known {
      id = known
      if mayBePrivate { try database.run("UPDATE podcast SET may_be_private = 1 WHERE id = ?", id) }
    } else {
      let name = try NameClaim.free(EpisodeName.directoryName(title: found.title)) { name in
        try database.exists("SELECT 1 FROM podcast WHERE name_key = ?", UniqueNames.key(name))
      }
      try database.run(
        """
        INSERT INTO podcast (feed_url, feed_key, title, name, name_key, may_be_private, has_title, is_provisional)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """, found.feedURL.forRequest, key, found.title, name, UniqueNames.key(name), mayBePrivate,
        found.hasTitle, !found.hasTitle)
      id = database.lastInsertedID
    }
    if found.isListed {
      try database.run("UPDATE podcast SET is_listed = 1 WHERE id = ? AND is_listed = 0", id)
    }
    let isFetched = try database.exists("SELECT 1 FROM podcast WHERE id = ? AND last_refresh IS NOT NULL", id)
    if !isFetched {
      try FullText.removePodcast(id, in: database)
      try database.run(
        """
        UPDATE podcast SET title = CASE WHEN ?2 THEN ?1 ELSE title END, has_title = max(has_title, ?2), author = coalesce(?, author), link = coalesce(?, link),
          language = coalesce(?, language), categories = coalesce(?, categories),
          description = coalesce(?, description), image_url = coalesce(?, image_url),
          explicit = coalesce(?, explicit)
        WHERE id = ?
        """, found.title, found.hasTitle, found.author, found.link?.forRequest, found.language,
        PodcastRow.joined(found.categories),
        found.description, found.imageURL?.forRequest, found.explicit, id)
      try FullText.indexPodcast(id, in: database)
    }
    return id
  }
}
