internal import Configuration
package import PodcastModel
internal import PosixKit

// What leaves the catalogue.
extension Catalog {
  /// The podcast whose feed has this address, written in any way that means the same.
  package func podcast(feedURL: String) throws(CatalogError) -> Podcast? {
    try store.read { try PodcastRow.podcast(feedURL: feedURL, in: $0) }
  }

  /// The podcast whose directory in `Downloaded/` has this name.
  package func podcast(named name: String) throws(CatalogError) -> Podcast? {
    try store.read { try PodcastRow.podcast(named: name, in: $0) }
  }

  /// The names in the cache of a podcast's enclosures, but for those that another feed names too: the same address is
  /// the same download.
  package func mediaKeys(ofPodcast id: Int64) throws(CatalogError) -> [MediaKey] {
    try store.read { try EpisodeRow.mediaKeys(ofPodcast: id, in: $0) }
  }

  /// Takes a podcast out of everything: subscriptions, results, marks, texts, the full-text index. It is gone for
  /// everybody when this returns; what it leaves in the file is deleted behind, by this process or the next. The full-text
  /// index begins anew, so that its words leave the file, and is filled behind.
  /// - Returns: `mediaKeys(ofPodcast:)`.
  package func forget(podcast id: Int64) throws(CatalogError) -> [MediaKey] {
    let keys = try store.change { database, changes in
      guard try PodcastRow.isKnown(id, in: database) else { throw CatalogError.unknown("podcast") }
      let keys = try EpisodeRow.mediaKeys(ofPodcast: id, in: database)
      try Forgetting.hide(id, in: database, &changes)
      return keys
    }
    try finishForgetting()
    try store.giveBack()
    store.log.empty()
    texts.fill()
    return keys
  }

  /// Deletes what a process that has ended has left of podcasts that were to be forgotten.
  package func finishForgetting() throws(CatalogError) {
    try Forgetting.finish(store, withWords: true)
  }

  /// Bytes of the catalogue's file that are in use.
  package func usedBytes() throws(CatalogError) -> Int64 { try store.usedBytes() }

  /// Forgets what nobody follows, sees in a search, keeps or has in the cache, when it is a while ago that it was
  /// looked at, and more of it where the catalogue is larger than it may be; then gives room back to the disk.
  /// - Parameter cached: what the cache has, or is to have.
  package func forgetUnused(keeping cached: [MediaKey]) throws(CatalogError) {
    let protected = Set(try entries(forKeys: cached).values.map(\.podcast.id))
    let upkeep = Upkeep(store: store, limit: settings.catalogueSize, protected: protected)
    try upkeep.run(now: wallClockSeconds())
  }
}
