internal import Configuration
internal import FeedKit
package import PodcastModel
internal import PosixKit
internal import SQLiteKit

// What leaves the catalogue.
extension Catalog {
  /// The podcast whose feed has this address, written in any way that means the same.
  package func podcast(feedURL: String) throws(CatalogError) -> Podcast? {
    let key = FeedKey.text(SubscriptionAddress.normalized(feedURL) ?? WebAddress(feedURL))
    return try store.read { database in
      try database.first("SELECT \(PodcastRow.columns) FROM podcast p WHERE p.feed_key = ?", key) {
        PodcastRow.read($0)
      }
    }
  }

  /// The names in the cache of a podcast's enclosures, but for those that another feed names too: the same address is
  /// the same download.
  package func mediaKeys(ofPodcast id: Int64) throws(CatalogError) -> [MediaKey] {
    try store.read { try Self.mediaKeys(ofPodcast: id, in: $0) }
  }

  private static func mediaKeys(ofPodcast id: Int64, in database: Database) throws -> [MediaKey] {
    let (first, last) = (EpisodeID.first(ofPodcast: id), EpisodeID.last(ofPodcast: id))
    return try database.all(
      """
      SELECT DISTINCT media_key FROM episode e WHERE id BETWEEN ?1 AND ?2 AND NOT EXISTS
        (SELECT 1 FROM episode o WHERE o.media_key = e.media_key AND o.id NOT BETWEEN ?1 AND ?2)
      """, first, last
    ) { EpisodeRow.mediaKey($0.blob(0)) }
  }

  /// Takes a podcast out of everything: subscriptions, results, marks, texts, the full-text index. It is gone for
  /// everybody when this returns; what it leaves in the file is deleted behind, by this process or the next. So are its words
  /// in the full-text index where that is large.
  /// - Returns: `mediaKeys(ofPodcast:)`.
  package func forget(podcast id: Int64) throws(CatalogError) -> [MediaKey] {
    let keys = try store.change { database, changes in
      guard try database.exists("SELECT 1 FROM podcast WHERE id = ? AND is_forgotten = 0", id) else {
        throw CatalogError.unknown("podcast")
      }
      let keys = try Self.mediaKeys(ofPodcast: id, in: database)
      try Forgetting.hide(id, in: database, &changes)
      return keys
    }
    try Forgetting.finish(store)
    try store.change(.refresh) { database, changes in
      // Whoever fills the index hears of it.
      if try FullText.beginMerging(in: database) { changes.append(.everything) }
    }
    _ = try TextIndexer(store: store).merge(until: .after(Self.patience))
    try store.giveBack()
    return keys
  }

  /// Seconds until what is left of a large index is left to a mount.
  private static let patience = 10.0

  /// Bytes of the catalogue's file that are in use.
  package func usedBytes() throws(CatalogError) -> Int64 { try store.read { try $0.usedBytes() } }

  /// Forgets what nobody follows, sees in a search, keeps or has in the cache, when it is a while ago that it was
  /// looked at, and more of it where the catalogue is larger than it may be; then gives room back to the disk.
  /// - Parameter cached: what the cache has, or is to have.
  package func forgetUnused(keeping cached: [MediaKey]) throws(CatalogError) {
    let protected = Set(try entries(forKeys: cached).values.map(\.podcast.id))
    let upkeep = Upkeep(store: store, limit: settings.catalogueSize, protected: protected)
    try upkeep.run(now: wallClockSeconds())
  }
}
