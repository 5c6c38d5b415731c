internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// The full-text index over podcasts and episodes (https://sqlite.org/fts5.html, contentless tables): its rows; within a
/// transaction.
enum FullText {
  /// Puts a podcast into the index, or anew after a change: call `removePodcast` before the change.
  static func indexPodcast(_ id: Int64, in database: Database) throws {
    guard let texts = try podcast(id, in: database) else { return }
    try database.run(
      "INSERT INTO podcast_text (rowid, title, author, rest) VALUES (?, ?, ?, ?)", values: [id] + texts)
  }

  /// Takes a podcast out of the index, by its row as it was when it was put in.
  static func removePodcast(_ id: Int64, in database: Database) throws {
    guard let texts = try podcast(id, in: database) else { return }
    try database.run(
      """
      INSERT INTO podcast_text (podcast_text, rowid, title, author, rest) VALUES ('delete', ?, ?, ?, ?)
      """, values: [id] + texts)
  }

  /// Has words that were taken out leave the file: rewrites the index of podcasts, and empties that of episodes, which are
  /// to be put into it again (`TextIndex`).
  static func reset(in database: Database) throws {
    try database.run("INSERT INTO podcast_text (podcast_text) VALUES ('optimize')")
    try database.run("INSERT INTO episode_text (episode_text) VALUES ('delete-all')")
    // What is being prepared for the old one is made anew.
    try database.run("UPDATE podcast SET indexed_upto = 0, revision = revision + 1")
  }

  static func indexEpisode(_ id: Int64, _ text: IndexedText, in database: Database) throws {
    try database.run(
      "INSERT INTO episode_text (rowid, title, notes) VALUES (?, ?, ?)", id, text.title, text.notes)
  }

  /// - Parameter text: as it was when it was put in.
  static func removeEpisode(_ id: Int64, _ text: IndexedText, in database: Database) throws {
    try database.run(
      "INSERT INTO episode_text (episode_text, rowid, title, notes) VALUES ('delete', ?, ?, ?)", id,
      text.title, text.notes)
  }

  private static func podcast(_ id: Int64, in database: Database) throws -> [any Bindable]? {
    try database.first("SELECT title, author, description, categories FROM podcast WHERE id = ?", id) { row in
      [row.string(0), row.string(1), row.string(2) + "\n" + row.string(3)].map(SearchText.indexed)
    }
  }
}

struct IndexedText: Sendable {
  var title: String
  var notes: String?

  /// Costs much more than writing it: made before a transaction begins.
  init(title: String, notes: String?) {
    self.title = SearchText.indexed(TitleText.plain(title))
    self.notes = notes.map(SearchText.indexed)
  }
}

/// Fills the full-text index behind what brings texts, in a process that lives long; and searches it for `source:local`.
///
/// Of each podcast the index has the episodes up to number `indexed_upto`: where filling was interrupted, it goes on from
/// there.
final class TextIndex: Sendable {
  private struct State: ~Copyable {
    /// This process fills it; a command leaves that to others, or to the next search.
    var isFilledHere = false
    /// It will be filled in a moment.
    var isQueued = false
    var isStopped = false
  }

  let store: CatalogStore
  /// Its thread gets a third of the processor time of others: users read a new folder while its words are indexed.
  private let queue = WorkQueue(name: "catalog-texts", courtesy: FeedRefresher.courtesy)
  private let state = Monitor(State())

  /// Seconds after the first feed has come: the program that opened its folder lists it first.
  private static let delay = 0.5
  /// Episodes, and bytes of their notes, of one transaction: no verb waits for it long.
  private static let pieceEpisodes = 500
  private static let pieceBytes: Int64 = 1 << 20

  init(store: CatalogStore) { self.store = store }

  /// From now on this process fills it.
  func fillHere() {
    state.withLock { $0.isFilledHere = true }
    fill()
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    queue.stop()
  }

  /// Puts what has no place in it yet into it, behind and once at a time, if this process does that.
  func fill() {
    let isFirst = state.withLock { state in
      defer { state.isQueued = state.isFilledHere }
      return state.isFilledHere && !state.isQueued
    }
    guard isFirst else { return }
    queue.async(after: Self.delay) { [self] in
      state.withLock { $0.isQueued = false }
      // Where the file can't be written, the next refresh tries again.
      try? fill(pieces: .max)
    }
  }

  /// - Parameter most: after how many pieces to stop, done or not.
  fileprivate func fill(pieces most: Int) throws(CatalogError) {
    var count = 0
    while let podcast = try next() {
      if count == most || state.withLock({ $0.isStopped }) { return }
      try indexPiece(of: podcast)
      count += 1
    }
    if count > 0 { try store.change(.refresh, waitsForDisk: false) { _, changes in changes.append(.texts) } }
  }

  /// Pieces before a search: some tenths of a second. A count, so that the same search finds the same on a busy machine.
  private static let piecesOfSearch = 4

  /// Puts a little into it before a search: what has just come is found at once.
  func fillBriefly() { try? fill(pieces: Self.piecesOfSearch) }

  private func next() throws(CatalogError) -> Int64? {
    try store.read { database in
      try database.number(
        "SELECT id FROM podcast INDEXED BY podcast_unindexed WHERE indexed_upto < next_episode - 1 LIMIT 1"
      )
    }
  }

  private func indexPiece(of podcast: Int64) throws(CatalogError) {
    typealias Piece = (numbers: EpisodeNumbers, texts: [(Int64, IndexedText)], last: Int64)
    let piece = try store.read { database -> Piece? in
      guard let numbers = try EpisodeNumbers(podcast: podcast, in: database) else { return nil }
      let first = EpisodeID.first(ofPodcast: podcast)
      let sizes = try database.all(
        "SELECT id, notes_length FROM episode WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
        first + numbers.indexed, EpisodeID.last(ofPodcast: podcast), Self.pieceEpisodes
      ) { ($0.int64(0), $0.int64(1)) }
      var left = Self.pieceBytes
      let some = sizes.prefix { _, size in
        // A damaged file says anything.
        defer { left -= min(max(size, 0), Self.pieceBytes) }
        return left > 0
      }
      let texts = try some.compactMap { id, _ in
        try EpisodeRow.texts(id, in: database).map {
          (id, IndexedText(title: $0.title, notes: $0.notes))
        }
      }
      let isEnd = some.count == sizes.count && sizes.count < Self.pieceEpisodes
      return (numbers, texts, isEnd ? numbers.next - 1 : (some.last?.0 ?? first) - first)
    }
    guard let piece else { return }
    try store.write(.refresh) { database in
      // Where the episodes have changed meanwhile, or another process has put them in, the piece is made anew.
      guard try EpisodeNumbers(podcast: podcast, in: database) == piece.numbers else { return }
      for (id, text) in piece.texts { try FullText.indexEpisode(id, text, in: database) }
      try database.run("UPDATE podcast SET indexed_upto = ? WHERE id = ?", piece.last, podcast)
    }
  }
}

extension Catalog {
  /// Puts all that is known into the full-text index: for measuring.
  package func fillTexts() throws(CatalogError) { try texts.fill(pieces: .max) }
}
