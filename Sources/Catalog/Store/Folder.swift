internal import PosixKit
internal import SQLiteKit

/// The directories whose time of change is kept by name; those of single searches, results and subscriptions
/// have theirs in their rows.
enum Folder: String {
  case searches, subscriptions, list

  /// Notes that what it lists changes now.
  func touch(in database: Database) throws {
    try database.run("UPDATE folder SET changed = ? WHERE name = ?", wallClockNanoseconds(), rawValue)
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

  package init() {}
}
