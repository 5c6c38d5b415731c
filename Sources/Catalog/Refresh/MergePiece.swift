internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// As much of a plan as is written at once, with all that can be made before the transaction begins.
struct MergePiece {
  private struct Change {
    var id: Int64
    var item: IncomingEpisode
    /// When it counts as published where the feed does not say.
    var firstSeen: Int64
    /// The file's time of modification.
    var modified: Int64
    /// Nil where neither title nor notes are others: the index and the notes stay as they are.
    var texts: Texts?
  }
  private struct Texts {
    var notes: String?
    var old: IndexedText
    var new: IndexedText
  }
  private struct Addition {
    var plan: MergePlan.Addition
    var key: MediaKey
    /// Nil where so much comes that it is indexed behind.
    var text: IndexedText?

    /// Gives a row its values, by `columns`.
    func bind(to row: inout RowValues, podcast: Int64, now: Int64) {
      plan.item.bind(to: &row, firstSeen: now, modified: plan.modified)
      row.add(podcast)
      row.add(key.bytes)
      row.add(plan.stem)
      row.add(plan.item.parsed.fileExtension)
    }
  }

  /// More new episodes than these get into the full-text index behind (`TextIndexer`).
  private static let indexedAtOnce = 100

  /// Of a new episode.
  private static let columns = IncomingEpisode.columns + ["podcast_id", "media_key", "stem", "extension"]

  private var changes: [Change] = []
  private var additions: [Addition] = []
  private var replaced: [Int64] = []
  /// When what has no date counts as published.
  private let now: Int64
  /// Whether a directory lists other files than before: transcripts, chapters, notes, covers; or may, by a date.
  private(set) var changesListing = false

  var changedIDs: [Int64] { changes.map(\.id) }

  /// - Parameters:
  ///   - podcast: whose episodes they are.
  ///   - database: as of the plan's revision.
  init(_ part: MergePlan, podcast: Int64, now: Int64, in database: Database) throws {
    self.now = now
    for update in part.updates {
      guard let known = try EpisodeRow.described(update.known.id, in: database) else { continue }
      let (title, oldNotes) = (known.title, known.notes)
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
          id: update.known.id, item: item, firstSeen: update.known.published,
          modified: update.modified, texts: texts))
      let sidecars = EpisodeRow.Sidecars(
        hasTranscripts: !item.parsed.transcripts.isEmpty, hasChapters: item.parsed.chaptersURL != nil,
        hasImage: item.parsed.imageURL != nil)
      if known.sidecars != sidecars || (notes == nil) != (oldNotes == nil) { changesListing = true }
      // By its date it is among the newest, or not.
      if let published = item.published, published != update.known.published { changesListing = true }
    }
    let isIndexedAtOnce = part.additions.count <= Self.indexedAtOnce
    additions = try part.additions.map { addition in
      let item = addition.item
      return Addition(
        plan: addition, key: try Self.key(addition, podcast: podcast, now: now, in: database),
        text: isIndexedAtOnce ? IndexedText(title: item.title, notes: item.parsed.notes) : nil)
    }
    replaced = part.replaced
    if !additions.isEmpty { changesListing = true }
  }

  /// The media key of a new episode: where one that was first seen at its address is at another by now, the key is that
  /// one's.
  private static func key(
    _ addition: MergePlan.Addition, podcast: Int64, now: Int64, in database: Database
  ) throws -> MediaKey {
    guard addition.mayHaveBeenGiven else { return addition.mediaKey }
    let isTaken = try EpisodeRow.addresses(ofKey: addition.mediaKey, podcast: podcast, in: database)
      .contains { MediaKey(address: $0) != addition.mediaKey }
    return isTaken ? MergePlan.key(addition.item, now: now) : addition.mediaKey
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
    guard let state = try EpisodeNumbers(podcast: podcast, in: database) else {
      throw CatalogError.unknown("podcast")
    }
    guard state.revision == revision else { return nil }
    let lastIndexed = EpisodeID.first(ofPodcast: podcast) + state.indexed
    for change in changes { try write(change, isIndexed: change.id <= lastIndexed, in: database) }
    for id in replaced { try EpisodeRow.markReplaced(id, in: database) }
    let ids = try EpisodeRow.add(
      additions.count, columns: Self.columns, to: podcast, from: state.next, in: database
    ) { additions[$0].bind(to: &$1, podcast: podcast, now: now) }
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    let isIndexed = state.indexed == state.next - 1 && ids.count <= Self.indexedAtOnce
    try EpisodeRow.addNotes(
      ids.indices.compactMap { place in additions[place].plan.item.parsed.notes.map { (ids[place], $0) } },
      in: database)
    for place in ids.indices where isIndexed {
      if let text = additions[place].text { try FullText.indexEpisode(ids[place], text, in: database) }
    }
    var written = Written(ids: ids, leftOut: additions.count - ids.count, revision: revision)
    if ids.isEmpty && changes.isEmpty && replaced.isEmpty { return written }
    try EpisodeNumbers.added(
      ids.count, to: podcast, next: state.next + Int64(ids.count), areIndexed: isIndexed, in: database)
    written.revision += 1
    return written
  }

  /// Everything but its name, its media key and its marks.
  private func write(_ change: Change, isIndexed: Bool, in database: Database) throws {
    try EpisodeRow.change(change.id, IncomingEpisode.columns, in: database) {
      change.item.bind(to: &$0, firstSeen: change.firstSeen, modified: change.modified)
    }
    guard let texts = change.texts else { return }
    if isIndexed { try FullText.removeEpisode(change.id, texts.old, in: database) }
    try EpisodeRow.removeNotes(of: change.id, in: database)
    if let notes = texts.notes { try EpisodeRow.addNotes([(change.id, notes)], in: database) }
    if isIndexed { try FullText.indexEpisode(change.id, texts.new, in: database) }
  }
}
