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
    return try record(found, mayBePrivate: mayBePrivate, isNamed: true, in: database)
  }

  /// The podcast with this feed, new or not. What a search says counts until its feed has been fetched.
  /// - Parameter isNamed: the user named the feed: what is known of it stays.
  /// - Returns: the podcast's number.
  static func record(
    _ found: FoundPodcast, mayBePrivate: Bool, isNamed: Bool = false, in database: Database
  ) throws -> Int64 {
    let known = try database.first(
      "SELECT podcast_id FROM feed WHERE feed_key = ?", FeedKey.text(found.feedURL)
    ) { $0.int64(0) }
    let id: Int64
    if let known {
      id = known
    } else {
      id = try PodcastRecord.insert(title: found.title, hasTitle: found.hasTitle, in: database).id
      try FeedRecord(podcast: id, feedURL: found.feedURL).save(in: database)
      try FormerAddresses.take(found.feedURL, in: database)
    }
    guard var feed = try FeedRecord.load(id, in: database), let old = try PodcastRecord.load(id, in: database)
    else { throw CatalogError.unknown("podcast") }
    if mayBePrivate, !feed.mayBePrivate {
      feed.mayBePrivate = true
      try feed.save(in: database)
    }
    var podcast = old
    podcast.isListed = podcast.isListed || found.isListed
    if feed.lastRefresh == nil, known == nil || !isNamed { podcast.take(found) }
    try podcast.save(replacing: old, in: database)
    return id
  }
}
