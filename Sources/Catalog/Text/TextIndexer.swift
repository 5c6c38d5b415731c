internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Puts the texts of episodes into the full-text index, behind what brings them: in pieces that no verb waits for
/// long, where it was interrupted from there on.
///
/// Of each podcast the index has the episodes up to number `indexed_upto`.
struct TextIndexer: Sendable {
  let store: CatalogStore

  /// Episodes, and bytes of their notes, of one transaction.
  private static let pieceEpisodes = 500
  private static let piecePodcasts = 100
  private static let pieceBytes: Int64 = 1 << 20

  /// - Parameter deadline: when to stop, done or not.
  /// - Returns: false where something is left.
  @discardableResult
  func run(until deadline: MonotonicTime, isStopped: () -> Bool = { false }) throws(CatalogError) -> Bool {
    while try isAPodcastLeft() {
      if MonotonicTime.now >= deadline || isStopped() { return false }
      try indexPodcasts()
    }
    while let podcast = try next() {
      if MonotonicTime.now >= deadline || isStopped() { return false }
      try indexPiece(of: podcast)
    }
    return true
  }

  private func isAPodcastLeft() throws(CatalogError) -> Bool {
    try store.read { try $0.exists("SELECT 1 FROM counter WHERE podcasts_unindexed > 0") }
  }

  /// Some of the podcasts themselves, where the index was begun anew.
  private func indexPodcasts() throws(CatalogError) {
    try store.write(.refresh) { database in
      let last = try database.first("SELECT podcasts_unindexed FROM counter") { $0.int64(0) } ?? 0
      let some = try database.all(
        "SELECT id FROM podcast WHERE id <= ? AND is_forgotten = 0 ORDER BY id DESC LIMIT ?", last,
        Self.piecePodcasts
      ) { $0.int64(0) }
      for id in some
      where try !database.exists("SELECT 1 FROM podcast_text_docsize WHERE id = ?", id) {
        try FullText.indexPodcast(id, in: database)
      }
      try database.run("UPDATE counter SET podcasts_unindexed = ?", (some.last ?? 1) - 1)
    }
  }

  private func next() throws(CatalogError) -> Int64? {
    try store.read { database in
      try database.first(
        "SELECT id FROM podcast INDEXED BY podcast_unindexed WHERE indexed_upto < next_episode - 1 LIMIT 1"
      ) { $0.int64(0) }
    }
  }

  private struct Text: Sendable {
    var id: Int64
    var text: IndexedText
  }

  private func indexPiece(of podcast: Int64) throws(CatalogError) {
    let (revision, texts, last) = try store.read { database -> (Int64, [Text], Int64) in
      let state = try database.first(
        "SELECT revision, indexed_upto, next_episode FROM podcast WHERE id = ?", podcast
      ) {
        // A damaged file says anything.
        (
          min(max($0.int64(0), 0), 1 << 60), min(max($0.int64(1), 0), EpisodeID.last),
          min(max($0.int64(2), 1), EpisodeID.last + 1)
        )
      }
      guard let (revision, done, next) = state else { return (0, [], 0) }
      let first = EpisodeID.first(ofPodcast: podcast)
      var left = Self.pieceBytes
      var ids: [Int64] = []
      let sizes = try database.all(
        "SELECT id, notes_length FROM episode WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", first + done,
        EpisodeID.last(ofPodcast: podcast), Self.pieceEpisodes
      ) { ($0.int64(0), $0.int64(1)) }
      for (id, size) in sizes where left > 0 {
        ids.append(id)
        // A damaged file says anything.
        left -= min(max(size, 0), Self.pieceBytes)
      }
      let texts = try ids.compactMap { id in
        try EpisodeRow.text(id, in: database).map {
          Text(id: id, text: IndexedText(title: $0.title, notes: $0.notes))
        }
      }
      let isEnd = ids.count == sizes.count && sizes.count < Self.pieceEpisodes
      return (revision, texts, isEnd ? next - 1 : (ids.last ?? first) - first)
    }
    try store.write(.refresh) { database in
      // Where the episodes have changed meanwhile, the piece is made anew.
      guard try KnownEpisodes.revision(podcast, in: database) == revision else { return }
      for one in texts { try FullText.indexEpisode(one.id, one.text, in: database) }
      try database.run("UPDATE podcast SET indexed_upto = ? WHERE id = ?", last, podcast)
    }
  }
}
