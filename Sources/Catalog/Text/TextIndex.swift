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

/// What of an episode is in the full-text index.
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
    /// Something has come that is not being put into it yet.
    var isWanted = false
    var isRunning = false
    var isStopped = false

    /// - Returns: false where others fill it.
    mutating func want() -> Bool {
      isWanted = isFilledHere && !isStopped
      return isWanted
    }

    /// - Returns: whether there is something to be done.
    mutating func goOn() -> Bool {
      isRunning = isWanted && !isStopped
      isWanted = false
      return isRunning
    }
  }

  let store: CatalogStore
  /// A third of what others get of a processor: who has listed a new folder reads it while its words are indexed.
  private let queue = WorkQueue(name: "catalog-texts", courtesy: FeedRefresher.courtesy)
  private let state = Monitor(State())

  /// Seconds after the first feed that has come: who has opened its folder lists it first.
  private static let delay = 0.5
  /// Episodes, and bytes of their notes, of one transaction: no verb waits for it long.
  private static let pieceEpisodes = 500
  private static let pieceBytes: Int64 = 1 << 20

  init(store: CatalogStore) { self.store = store }

  var isFilledHere: Bool { state.withLock { $0.isFilledHere } }

  /// From now on this process fills it.
  func fillHere() {
    state.withLock { $0.isFilledHere = true }
    fill()
  }

  func stop() {
    state.withLockNotifying { ($0.isStopped, $0.isWanted) = (true, false) }
    queue.stop()
  }

  /// Puts what has no place in it yet into it, behind and once at a time, if this process does that.
  func fill() {
    guard state.withLock({ $0.want() }) else { return }
    queue.async(after: Self.delay) { [self] in
      while state.withLockNotifying({ $0.goOn() }) {
        // Where the file can't be written, the next refresh tries again.
        _ = try? fill(until: .distantFuture)
      }
    }
  }

  /// Waits until it is not being filled by this process.
  /// - Returns: false where it still is after `seconds`.
  func wait(seconds: Double) -> Bool {
    state.wait(until: .after(seconds)) { $0.isRunning || $0.isWanted ? nil : true } ?? false
  }

  /// - Parameter deadline: when to stop, done or not.
  /// - Returns: false where something is left.
  func fill(until deadline: MonotonicTime) throws(CatalogError) -> Bool {
    var isChanged = false
    while let podcast = try next() {
      if MonotonicTime.now >= deadline || state.withLock({ $0.isStopped }) { return false }
      try indexPiece(of: podcast)
      isChanged = true
    }
    if isChanged { try store.change(.refresh, waitsForDisk: false) { _, changes in changes.append(.texts) } }
    return true
  }

  /// Seconds for what is not in the index yet, in a process that does not refresh by itself.
  private static let indexing = 0.1

  /// Puts a little into it, where no other process does that.
  func fillBriefly() {
    if !isFilledHere { _ = try? fill(until: .after(Self.indexing)) }
  }

  private func next() throws(CatalogError) -> Int64? {
    try store.read { database in
      try database.first(
        "SELECT id FROM podcast INDEXED BY podcast_unindexed WHERE indexed_upto < next_episode - 1 LIMIT 1"
      ) { $0.int64(0) }
    }
  }

  private func indexPiece(of podcast: Int64) throws(CatalogError) {
    let (revision, texts, last) = try store.read { database -> (Int64, [(Int64, IndexedText)], Int64) in
      guard let numbers = try EpisodeNumbers(podcast: podcast, in: database) else { return (0, [], 0) }
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
        try EpisodeRow.described(id, in: database).map {
          (id, IndexedText(title: $0.title, notes: $0.notes))
        }
      }
      let isEnd = some.count == sizes.count && sizes.count < Self.pieceEpisodes
      return (numbers.revision, texts, isEnd ? numbers.next - 1 : (some.last?.0 ?? first) - first)
    }
    try store.write(.refresh) { database in
      // Where the episodes have changed meanwhile, the piece is made anew.
      guard try EpisodeNumbers(podcast: podcast, in: database)?.revision == revision else { return }
      for (id, text) in texts { try FullText.indexEpisode(id, text, in: database) }
      try database.run("UPDATE podcast SET indexed_upto = ? WHERE id = ?", last, podcast)
    }
  }
}

extension Catalog {
  /// Waits until the full-text index, as far as this process fills it, has all that is known.
  /// - Returns: false where it has not within `seconds`.
  @discardableResult
  package func waitForTexts(seconds: Double) -> Bool { texts.wait(seconds: seconds) }
}
