internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// As much of a plan as is written at once, with all that can be made before the transaction begins.
struct MergePiece {
  private struct Change {
    var id: Int64
    var values: [(column: String, value: any Bindable)]
    /// Nil where neither title nor notes are others: the index and the notes stay as they are.
    var texts: Texts?
  }
  private struct Texts {
    var notes: String?
    var old: IndexedText
    var new: IndexedText
  }
  private struct Addition {
    /// Its `columns`, but for its number.
    var values: [any Bindable]
    var notes: String?
    /// Nil where so much comes that it is indexed behind.
    var text: IndexedText?
  }

  /// More new episodes than these get into the full-text index behind (`TextIndexer`).
  private static let indexedAtOnce = 100

  private var changes: [Change] = []
  private var additions: [Addition] = []
  /// The same of each addition.
  private var columns: [String] = []
  private var replaced: [Int64] = []
  /// Whether a directory lists other files than before: transcripts, chapters, notes, covers.
  private(set) var changesListing = false

  var changedIDs: [Int64] { changes.map(\.id) }

  /// - Parameters:
  ///   - podcast: whose episodes they are.
  ///   - database: as of the plan's revision.
  init(_ part: MergePlan, podcast: Int64, now: Int64, in database: Database) throws {
    for update in part.updates {
      let row = try database.first(
        """
        SELECT e.title, n.text, e.transcripts IS NULL, e.chapters_url IS NULL, e.image_url IS NULL
        FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?
        """, update.known.id
      ) { ($0.string(0), $0.stringIfPresent(1), [$0.bool(2), $0.bool(3), $0.bool(4)]) }
      guard let (title, oldNotes, lacks) = row else { continue }
      let item = update.item
      let notes = item.parsed.notes
      let texts =
        Self.isSame(title, item.title) && Self.isSame(notes, oldNotes)
        ? nil
        : Texts(
          notes: notes, old: IndexedText(title: title, notes: oldNotes),
          new: IndexedText(title: item.title, notes: notes))
      changes.append(
        Change(
          id: update.known.id, values: item.values(firstSeen: update.known.published), texts: texts))
      let lacksNow = [
        item.parsed.transcripts.isEmpty, item.parsed.chaptersURL == nil, item.parsed.imageURL == nil,
      ]
      if lacks != lacksNow || (notes == nil) != (oldNotes == nil) { changesListing = true }
    }
    for addition in part.additions {
      let item = addition.item
      let notes = item.parsed.notes
      let file: [(column: String, value: any Bindable)] = [
        ("podcast_id", podcast), ("media_key", EpisodeRow.blob(addition.mediaKey)), ("stem", addition.stem),
        ("extension", MediaType.fileExtension(type: item.enclosure.type, url: item.enclosure.url)),
      ]
      let values = file + item.values(firstSeen: now)
      if columns.isEmpty { columns = values.map(\.column) }
      additions.append(
        Addition(
          values: values.map(\.value), notes: notes,
          text: part.additions.count <= Self.indexedAtOnce
            ? IndexedText(title: item.title, notes: notes) : nil))
    }
    replaced = part.replaced
    if !additions.isEmpty { changesListing = true }
  }

  /// To the byte: the index must be told exactly what went in.
  private static func isSame(_ text: String?, _ other: String?) -> Bool {
    guard let text, let other else { return text == nil && other == nil }
    return text.utf8.elementsEqual(other.utf8)
  }

  struct Written {
    /// Of the new episodes.
    var ids: [Int64]
    /// New ones for which there is no number.
    var leftOut = 0
    /// The podcast's from now on.
    var revision: Int64
  }

  /// Within a transaction.
  /// - Returns: nil where the podcast is no longer as of `revision`.
  func write(podcast: Int64, revision: Int64, in database: Database) throws -> Written? {
    let state = try database.first(
      "SELECT revision, next_episode, indexed_upto, merges_into IS NOT NULL FROM podcast WHERE id = ?",
      podcast
    ) { ($0.int64(0), $0.int64(1), $0.int64(2), $0.bool(3)) }
    guard let (found, first, indexed, isMerging) = state else { throw CatalogError.unknown("podcast") }
    // What has gone over to the other podcast would be taken for new here.
    if isMerging { throw CatalogError(.EAGAIN, "this podcast is becoming one with another") }
    guard found == revision else { return nil }
    let lastIndexed = EpisodeID.first(ofPodcast: podcast) + indexed
    for change in changes { try write(change, isIndexed: change.id <= lastIndexed, in: database) }
    for id in replaced { try database.run("UPDATE episode SET is_replaced = 1 WHERE id = ?", id) }
    var ids: [Int64] = []
    let insertion = Database.insertion(into: "episode", columns + ["id"])
    for addition in additions {
      guard let id = EpisodeID.make(podcast: podcast, number: first + Int64(ids.count)) else { break }
      try database.run(insertion, values: addition.values + [id])
      ids.append(id)
    }
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    let isIndexed = indexed == first - 1 && ids.count <= Self.indexedAtOnce
    for (addition, id) in zip(additions, ids) {
      try write(addition.notes, isIndexed ? addition.text : nil, id, in: database)
    }
    var written = Written(ids: ids, leftOut: additions.count - ids.count, revision: revision)
    if ids.isEmpty && changes.isEmpty && replaced.isEmpty { return written }
    try database.run(
      """
      UPDATE podcast SET revision = revision + 1, next_episode = ?2, episode_count = episode_count + ?3,
        indexed_upto = CASE WHEN ?4 THEN ?2 - 1 ELSE indexed_upto END,
        newest = (SELECT max(published) FROM episode INDEXED BY episode_newest
          WHERE podcast_id = ?1 AND hidden = 0)
      WHERE id = ?1
      """, podcast, first + Int64(ids.count), ids.count, isIndexed)
    written.revision += 1
    return written
  }

  /// Everything but its name, its media key and its marks.
  private func write(_ change: Change, isIndexed: Bool, in database: Database) throws {
    try database.update("episode", id: change.id, change.values + [("is_replaced", false as any Bindable)])
    guard let texts = change.texts else { return }
    if isIndexed { try FullText.removeEpisode(change.id, texts.old, in: database) }
    try database.run("DELETE FROM notes WHERE episode_id = ?", change.id)
    try write(texts.notes, isIndexed ? texts.new : nil, change.id, in: database)
  }

  private func write(_ notes: String?, _ text: IndexedText?, _ id: Int64, in database: Database) throws {
    if let notes { try database.run("INSERT INTO notes (episode_id, text) VALUES (?, ?)", id, notes) }
    if let text { try FullText.indexEpisode(id, text, in: database) }
  }
}
