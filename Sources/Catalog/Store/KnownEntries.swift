internal import Glibc
package import PodcastModel
internal import SQLiteKit

/// What the catalogue has of some episodes, for who only looks.
package enum KnownEntries {
  /// The episodes with these keys, as `Catalog.entries(forKeys:)` has them; none where the file can't be read.
  package static func all(forKeys keys: [MediaKey], inFile path: String) -> [EpisodeEntry] {
    guard !keys.isEmpty, let database = open(path) else { return [] }
    var found: [EpisodeEntry] = []
    for first in stride(from: 0, to: keys.count, by: EpisodeRow.keysAtOnce) {
      let part = keys[first..<min(first + EpisodeRow.keysAtOnce, keys.count)]
      found += (try? EpisodeRow.entries(forKeys: part, in: database)) ?? []
    }
    return found
  }

  /// The keys of the episodes with these numbers, as far as those are known.
  package static func keys(ofEpisodes ids: [Int64], inFile path: String) -> [MediaKey] {
    guard !ids.isEmpty, let database = open(path) else { return [] }
    return ((try? EpisodeRow.episodes(ids, in: database)) ?? []).map(\.mediaKey)
  }

  /// What the folders of these podcasts are called: in `Subscriptions/` where they are followed, else in `Downloaded/`.
  package static func folderNames(ofPodcasts ids: Set<Int64>, inFile path: String) -> [Int64: String] {
    guard !ids.isEmpty, let database = open(path) else { return [:] }
    let rows = try? database.all(
      """
      SELECT p.id, coalesce(s.name, p.name) FROM podcast p LEFT JOIN subscription s ON s.podcast_id = p.id
      WHERE p.id IN (SELECT value FROM json_each(?))
      """, EpisodeRow.list(Array(ids))
    ) { ($0.int64(0), $0.string(1)) }
    return Dictionary(rows ?? [], uniquingKeysWith: { first, _ in first })
  }

  private static func open(_ path: String) -> Database? {
    guard access(path, R_OK) == 0 else { return nil }
    var options = Database.Options()
    options.isReadOnly = true
    options.busyTimeout = 2
    return try? Database(path: path, options: options)
  }
}
