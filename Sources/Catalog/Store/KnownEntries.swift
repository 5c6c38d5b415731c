internal import Glibc
package import PodcastModel
internal import SQLiteKit

/// What the catalogue has of some episodes, for who only looks.
package enum KnownEntries {
  /// The episodes with these keys, as `Catalog.entries(forKeys:)` has them; none where the file can't be read.
  package static func all(forKeys keys: [MediaKey], inFile path: String) -> [EpisodeEntry] {
    guard !keys.isEmpty, access(path, R_OK) == 0 else { return [] }
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    guard let database = try? Database(path: path, options: options) else { return [] }
    var found: [EpisodeEntry] = []
    for first in stride(from: 0, to: keys.count, by: EpisodeRow.keysAtOnce) {
      let part = keys[first..<min(first + EpisodeRow.keysAtOnce, keys.count)]
      found += (try? EpisodeRow.entries(forKeys: part, in: database)) ?? []
    }
    return found
  }
}
