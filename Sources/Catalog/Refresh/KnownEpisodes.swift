internal import Identity
internal import PodcastModel
internal import SQLiteKit

/// A podcast's episodes as the catalogue has them, by what an item of its feed is compared with.
struct KnownEpisodes: Sendable {
  struct One: Sendable {
    var id: Int64
    var traits: ItemTraits
    var stem: String
    /// When it was published, or first seen.
    var published: Int64
    var fingerprint: Int64
    /// Its address is another episode's by now.
    var isReplaced: Bool
  }

  /// Changes with every change of the podcast's episodes.
  var revision: Int64
  var all: [One]

  init(podcast: Int64, in database: Database) throws {
    let revision = try database.first("SELECT revision FROM podcast WHERE id = ?", podcast) { $0.int64(0) }
    guard let revision else { throw CatalogError.unknown("podcast") }
    self.revision = revision
    all = try database.all(
      """
      SELECT id, guid, enclosure_url, title, published, is_dated, duration, feed_length, season, number, stem,
        fingerprint, is_replaced
      FROM episode WHERE id BETWEEN ? AND ? ORDER BY id
      """, EpisodeID.first(ofPodcast: podcast), EpisodeID.last(ofPodcast: podcast)
    ) { row in
      var traits = ItemTraits(address: WebAddress(row.string(2)), title: row.string(3))
      traits.guid = row.stringIfPresent(1)
      traits.published = row.bool(5) ? row.int64(4) : nil
      traits.duration = row.intIfPresent(6)
      traits.length = row.int64IfPresent(7)
      traits.season = row.intIfPresent(8)
      traits.number = row.intIfPresent(9)
      return One(
        id: row.int64(0), traits: traits, stem: row.string(10), published: row.int64(4),
        fingerprint: row.int64(11), isReplaced: row.bool(12))
    }
  }
}
