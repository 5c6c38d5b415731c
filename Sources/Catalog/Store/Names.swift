internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Names that must be unique among more rows than one would read.
enum NameClaim {
  /// `name`, or the first of "name (2)", "name (3)", … that is not taken.
  static func free(_ name: String, isTaken: (String) throws -> Bool) rethrows -> String {
    var free = name
    var number = 1
    while try isTaken(free) {
      number += 1
      free = EpisodeName.numbered(name, number)
    }
    return free
  }
}

/// Names that were made of a host, because the title was unknown. The feed's title replaces them.
enum ProvisionalNames {
  /// Gives a podcast, and its directories, the names that its title makes, where they have none yet.
  static func settle(
    _ podcast: inout PodcastRecord, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    guard podcast.isProvisional, podcast.hasTitle else { return }
    let id = podcast.id
    let usual = EpisodeName.directoryName(title: podcast.title)
    podcast.name = try NameClaim.free(usual) { try PodcastRecord.isTaken($0, besides: id, in: database) }
    podcast.isProvisional = false
    changes.append(.podcast(id))
    for (subscription, _) in try rows("subscription", "0", of: id, in: database) {
      try give(
        NameClaim.free(usual) { try SubscriptionRows.isTaken($0, besides: subscription, in: database) },
        to: subscription, in: "subscription", database)
      try Folder.touchSubscriptions(in: database)
      changes.append(.subscription(subscription, podcast: id))
    }
    for (result, search) in try rows("result", "search_id", of: id, in: database) {
      let name = try NameClaim.free(usual) { name in
        try database.exists(
          "SELECT 1 FROM result WHERE search_id = ? AND name_key = ? AND id <> ?", search,
          UniqueNames.key(name), result)
      }
      try give(name, to: result, in: "result", database)
      try SearchRows.changed(search, in: database)
      changes.append(.results(search: search))
    }
  }

  private static func rows(
    _ table: String, _ column: String, of podcast: Int64, in database: Database
  ) throws -> [(Int64, Int64)] {
    try database.all(
      "SELECT id, \(column) FROM \(table) WHERE podcast_id = ? AND is_provisional = 1", podcast
    ) { ($0.int64(0), $0.int64(1)) }
  }

  private static func give(_ name: String, to id: Int64, in table: String, _ database: Database) throws {
    try database.run(
      "UPDATE \(table) SET name = ?, name_key = ?, is_provisional = 0 WHERE id = ?", name,
      UniqueNames.key(name), id)
  }
}

/// The directories whose time of change is in `counter`; those of single searches, results and subscriptions have theirs in
/// their rows.
enum Folder: Int, ColumnList {
  case searchesChanged, subscriptionsChanged, listChanged
  /// Lists under names of their own in the directory of the subscriptions.
  case uploadsChanged

  /// Notes that what it lists changes now.
  func touch(in database: Database) throws {
    try database.run("UPDATE counter SET \(name) = ?", wallClockNanoseconds())
  }

  static func touchSubscriptions(in database: Database) throws {
    for folder in [subscriptionsChanged, listChanged] { try folder.touch(in: database) }
  }
}

/// When what these directories list last changed, in nanoseconds since 1970.
package struct FolderTimes: Hashable, Sendable {
  /// `Search/`
  package var searches: Int64 = 0
  /// `Subscriptions/`
  package var subscriptions: Int64 = 0
  /// `subscriptions.opml`
  package var subscriptionList: Int64 = 0
  /// Lists that somebody copies to `Subscriptions/`.
  package var uploads: Int64 = 0

  package init() {}
}

extension Catalog {
  /// When the lists of searches and subscriptions last changed.
  package func folderTimes() throws(CatalogError) -> FolderTimes {
    let times = try store.read {
      try $0.first("SELECT \(Folder.list(of: "c")) FROM counter c") { row in
        var times = FolderTimes()
        times.searches = row.int64(Folder.searchesChanged)
        times.subscriptions = row.int64(Folder.subscriptionsChanged)
        times.subscriptionList = row.int64(Folder.listChanged)
        times.uploads = row.int64(Folder.uploadsChanged)
        return times
      }
    }
    return times ?? FolderTimes()
  }

  /// A list that somebody copies to the directory of the subscriptions has come there, or has gone.
  package func noteUpload() throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      try Folder.uploadsChanged.touch(in: database)
      changes.append(.subscriptions)
    }
  }

  /// Tells all mounts that a file beside an episode, or a cover, has come into the cache or left it.
  package func noteSidecar(_ node: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { _, changes in changes.append(.sidecar(node)) }
  }
}
