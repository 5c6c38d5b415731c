internal import PosixKit
internal import SQLiteKit

/// The directories whose time of change is kept by name; those of single searches, results and subscriptions
/// have theirs in their rows.
enum Folder: String {
  case searches, subscriptions, list
  /// Lists under names of their own in the directory of the subscriptions.
  case uploads

  /// Notes that what it lists changes now.
  func touch(in database: Database) throws {
    try database.run(
      """
      INSERT INTO folder (name, changed) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET changed = excluded.changed
      """, rawValue, wallClockNanoseconds())
  }

  static func times(in database: Database) throws -> FolderTimes {
    let times = Dictionary(
      try database.all("SELECT name, changed FROM folder") { ($0.string(0), $0.int64(1)) },
      uniquingKeysWith: { first, _ in first })
    var folders = FolderTimes()
    folders.searches = times[searches.rawValue] ?? 0
    folders.subscriptions = times[subscriptions.rawValue] ?? 0
    folders.subscriptionList = times[list.rawValue] ?? 0
    folders.uploads = times[uploads.rawValue] ?? 0
    return folders
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
