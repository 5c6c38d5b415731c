internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

// How podcasts come into the catalogue; within a transaction.
extension PodcastRow {
  /// A podcast that the user names himself.
  /// - Parameter mayBePrivate: whether he named the very address, which then may be on a private host.
  static func recordNamed(
    _ url: WebAddress, title: String?, mayBePrivate: Bool, in database: Database
  ) throws -> Int64 {
    guard var found = FoundPodcast(feed: url.forRequest, title: title) else {
      throw CatalogError(.EINVAL, "not a feed address")
    }
    found.isListed = false
    let key = FeedKey.text(url)
    let known = try database.first("SELECT id FROM podcast WHERE feed_key = ?", key) { $0.int64(0) }
    guard let known else { return try record(found, mayBePrivate: mayBePrivate, in: database) }
    if mayBePrivate { try database.run("UPDATE podcast SET may_be_private = 1 WHERE id = ?", known) }
    return known
  }

  /// The podcast with this feed, new or not. What a search says counts until its feed has been fetched.
  /// - Returns: the podcast's number.
  static func record(_ found: FoundPodcast, mayBePrivate: Bool, in database: Database) throws -> Int64 {
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
      try MoveRows.belongsToNobody(key, in: database)
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
        joined(found.categories),
        found.description, found.imageURL?.forRequest, found.explicit, id)
      try FullText.indexPodcast(id, in: database)
    }
    return id
  }
}
