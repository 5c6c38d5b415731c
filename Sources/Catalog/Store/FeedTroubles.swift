internal import Glibc
internal import SQLiteKit

/// Feeds of subscriptions that did not come, or not whole, for who only looks.
package enum FeedTroubles {
  /// Subscriptions' names with what their podcasts' `error` says, by name; empty where the file can't be read.
  package static func all(inFile path: String) -> [(name: String, error: String)] {
    guard access(path, R_OK) == 0 else { return [] }
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    let found = try? Database(path: path, options: options).all(
      """
      SELECT s.name, f.error FROM subscription s JOIN feed f ON f.podcast_id = s.podcast_id
      WHERE f.error IS NOT NULL ORDER BY s.name
      """
    ) { (name: $0.string(0), error: $0.string(1)) }
    return found ?? []
  }
}
