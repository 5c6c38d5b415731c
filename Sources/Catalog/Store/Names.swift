internal import PodcastModel
internal import PosixKit
package import SQLiteKit

/// The names of one directory, which are unique in it without regard to case; within a transaction.
enum NamedRows {
  /// `Downloaded/`
  case podcasts
  /// `Subscriptions/`
  case subscriptions
  case results(search: Int64)

  private var rows: String {
    switch self {
    case .podcasts: "podcast WHERE"
    case .subscriptions: "subscription WHERE"
    case .results(let search): "result WHERE search_id = \(search) AND"
    }
  }

  /// - Parameter id: a row that may have the name itself; 0 for none.
  func isTaken(_ name: String, besides id: Int64 = 0, in database: Database) throws -> Bool {
    let key = UniqueNames.key(name)
    if case .subscriptions = self, key == "subscriptions.opml" { return true }
    return try database.exists("SELECT 1 FROM \(rows) name_key = ? AND id <> ?", key, id)
  }

  /// "name", or one of "name (2)", "name (3)", … that is not taken while the one before is. Few are looked up, because a list
  /// may have thousands of equal titles.
  func free(_ name: String, besides id: Int64 = 0, in database: Database) throws -> String {
    func numbered(_ number: Int) -> String { number == 1 ? name : EpisodeName.numbered(name, number) }
    var (taken, free) = (0, 1)
    while try isTaken(numbered(free), besides: id, in: database) { (taken, free) = (free, free * 2) }
    while free - taken > 1 {
      let middle = (taken + free) / 2
      if try isTaken(numbered(middle), besides: id, in: database) { taken = middle } else { free = middle }
    }
    return numbered(free)
  }

  /// Gives a podcast, and its directories, the names that its title makes, where their names were made of a host.
  static func settle(
    _ podcast: inout PodcastRecord, formerly host: String, in database: Database,
    _ changes: inout [CatalogChange]
  ) throws {
    let id = podcast.id
    let usual = EpisodeName.directoryName(title: podcast.title)
    podcast.name = try podcasts.free(usual, besides: id, in: database)
    changes.append(.podcast(id))
    func give(_ rows: NamedRows, _ row: Int64, _ table: String) throws {
      let name = try rows.free(usual, besides: row, in: database)
      try database.run(
        "UPDATE \(table) SET name = ?, name_key = ? WHERE id = ?", name, UniqueNames.key(name), row)
    }
    for row in try database.numbers(
      "SELECT id FROM subscription WHERE podcast_id = ? AND is_own_name = 0", id)
    {
      try give(.subscriptions, row, "subscription")
      try Folder.touchSubscriptions(in: database)
      changes.append(.subscription(row, podcast: id))
    }
    for (row, search) in try database.all(
      "SELECT id, search_id FROM result WHERE podcast_id = ? AND substr(name, 1, length(?)) = ?2", id,
      EpisodeName.directoryName(title: host), as: { ($0.int64(0), $0.int64(1)) })
    {
      try give(.results(search: search), row, "result")
      try SearchRows.changed(search, in: database)
      changes.append(.results(search: search))
    }
  }
}

/// The directories whose time of change is in `counter`; those of single searches, results and subscriptions have theirs in
/// their rows.
enum Folder: String {
  case searches, subscriptions, list
  /// Lists under names of their own in the directory of the subscriptions.
  case uploads

  func touch(in database: Database) throws {
    try database.run("UPDATE counter SET \(rawValue)_changed = ?", wallClockNanoseconds())
  }

  static func touchSubscriptions(in database: Database) throws {
    for folder in [subscriptions, list] { try folder.touch(in: database) }
  }
}

/// When what these directories list last changed, in nanoseconds since 1970.
package struct FolderTimes: RowCoded, Hashable, Sendable {
  package var searches: Int64 = 0
  package var subscriptions: Int64 = 0
  /// `subscriptions.opml`
  package var subscriptionList: Int64 = 0
  package var uploads: Int64 = 0

  package init() {}

  package mutating func code(_ row: inout RowCoder) {
    row.read("searches_changed", &searches)
    row.read("subscriptions_changed", &subscriptions)
    row.read("list_changed", &subscriptionList)
    row.read("uploads_changed", &uploads)
  }
}

extension Catalog {
  package func folderTimes() throws(CatalogError) -> FolderTimes {
    try store.read { try $0.first("SELECT \(FolderTimes.columns) FROM counter") { FolderTimes($0) } }
      ?? FolderTimes()
  }

  /// A list that somebody copies to the directory of the subscriptions has come there, or has gone.
  package func noteUpload() throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try Folder.uploads.touch(in: database)
      changes.append(.subscriptions)
    }
  }

  /// Tells all mounts that a file beside an episode, or a cover, has come into the cache or left it.
  package func noteSidecar(_ node: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { _, changes in changes.append(.sidecar(node)) }
  }

  /// Tells all mounts that the index of transcripts answers otherwise now.
  package func noteTranscripts() throws(CatalogError) {
    try store.change(waitsForDisk: false) { _, changes in changes.append(.texts) }
  }
}
