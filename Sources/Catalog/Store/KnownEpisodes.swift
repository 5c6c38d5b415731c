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
    /// The file's time of modification.
    var modified: Int64
    /// Its address is another episode's by now.
    var isReplaced: Bool
  }

  /// Changes with every change of the podcast's episodes.
  var revision: Int64
  var all: [One]

  init(podcast: Int64, in database: Database) throws {
    guard let revision = try EpisodeNumbers(podcast: podcast, in: database)?.revision else {
      throw CatalogError.unknown("podcast")
    }
    self.revision = revision
    all = try database.all(
      "SELECT \(Self.columns) FROM episode e WHERE id BETWEEN ? AND ? ORDER BY id",
      EpisodeID.first(ofPodcast: podcast), EpisodeID.last(ofPodcast: podcast), as: Self.read)
  }

  private enum Column: Int, ColumnList {
    case id, guid, enclosureURL, title, published, isDated, duration, feedLength, season, number, stem,
      fingerprint
    case isReplaced, modified
  }

  private static let columns = Column.list(of: "e")

  private static func read(_ row: borrowing Row) -> One {
    var traits = ItemTraits(
      address: WebAddress(row.string(Column.enclosureURL)), title: row.string(Column.title))
    traits.guid = row.stringIfPresent(Column.guid)
    traits.published = row.bool(Column.isDated) ? row.int64(Column.published) : nil
    traits.duration = row.intIfPresent(Column.duration)
    traits.length = row.int64IfPresent(Column.feedLength)
    traits.season = row.intIfPresent(Column.season)
    traits.number = row.intIfPresent(Column.number)
    traits.fingerprint = row.int64(Column.fingerprint)
    return One(
      id: row.int64(Column.id), traits: traits, stem: row.string(Column.stem),
      published: row.int64(Column.published), modified: row.int64(Column.modified),
      isReplaced: row.bool(Column.isReplaced))
  }
}
