internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Puts a page of a feed into the catalogue: all is decided and made before a transaction begins, and what is
/// much is written in pieces, so that no verb waits long. Where another process changes the podcast meanwhile, it
/// is decided anew.
struct FeedMerge: Sendable {
  let store: CatalogStore
  let podcast: Int64
  let now: Int64
  /// Episodes are to be heard in order (`itunes:type`): see `EpisodeNaming`.
  var isSerial = false

  /// What is written in one transaction at the most: some tens of milliseconds.
  private static let pieceEpisodes = 1000
  /// Of those whose texts may be in the full-text index, which has to lose the old words.
  private static let pieceUpdates = 200
  private static let pieceBytes = 2 << 20
  /// How often another process may be at the same podcast at the same time.
  private static let tries = 20

  /// What the last piece's transaction also does.
  typealias Finish = (Database, inout [CatalogChange], Merged) throws -> Void

  struct Merged {
    var outcome = RefreshOutcome()
    var changed: [Int64] = []
    /// Whether directories may list other files than before.
    var changesListing: Bool { !changed.isEmpty || !outcome.newEpisodes.isEmpty }
    /// What has changed, as little as says all of it.
    func changes(of podcast: Int64) -> [CatalogChange] {
      if changed.count > Self.singleLimit { return [.podcast(podcast)] }
      var changes = changed.map(CatalogChange.episode)
      if let first = outcome.newEpisodes.first, let last = outcome.newEpisodes.last {
        changes.append(.newEpisodes(podcast: podcast, first: first, last: last))
      }
      return changes
    }

    private static let singleLimit = 64
  }

  /// - Parameter finish: runs in the transaction that ends the merge, also where nothing has changed.
  @discardableResult
  func merge(_ incoming: [IncomingEpisode], finish: Finish) throws -> RefreshOutcome {
    var merged = Merged()
    for _ in 0..<Self.tries {
      let known = try store.read { try KnownEpisodes(podcast: podcast, in: $0) }
      let plan = MergePlan(incoming, known: known, isSerial: isSerial, now: now)
      if try write(plan, known.revision, &merged, finish) { return merged.outcome }
    }
    throw CatalogError(.EBUSY, "another process keeps changing this podcast")
  }

  /// - Returns: false where the podcast has changed meanwhile: what was written counts, the rest is to be decided
  ///   anew.
  private func write(
    _ plan: MergePlan, _ first: Int64, _ merged: inout Merged, _ finish: Finish
  ) throws -> Bool {
    var revision = first
    var rest = plan
    repeat {
      let part = rest.removeFirst(
        episodes: rest.updates.isEmpty ? Self.pieceEpisodes : Self.pieceUpdates, bytes: Self.pieceBytes)
      // What comes last brings all before it to the disk, too.
      let isLast = rest.isEmpty
      let piece = try store.read { try MergePiece(part, podcast: podcast, now: now, in: $0) }
      let written = try store.change(.refresh, waitsForDisk: isLast) {
        [merged, revision] database, changes -> (Merged, Int64)? in
        var merged = merged
        let before = merged.outcome.newEpisodes.count
        guard let revision = try piece.write(&merged, revision: revision, in: database) else { return nil }
        let arrived = Array(merged.outcome.newEpisodes[before...])
        let told = try AwaitedReport.apply(toPodcast: podcast, new: arrived, now: now, in: database)
        if told.contains(.queue) { changes.append(.queue) }
        if isLast { try finish(database, &changes, merged) }
        return (merged, revision)
      }
      guard let written else { return false }
      (merged, revision) = written
    } while !rest.isEmpty
    return true
  }
}

extension MergePlan {
  fileprivate var isEmpty: Bool { updates.isEmpty && additions.isEmpty && replaced.isEmpty }

  /// Removes the first changes from the plan, as many as one transaction may write, and returns them.
  /// - Parameters:
  ///   - episodes: the most episodes.
  ///   - bytes: the most bytes of notes; a single episode may have more.
  fileprivate mutating func removeFirst(episodes: Int, bytes: Int) -> MergePlan {
    var part = self
    var room = bytes
    var left = episodes
    let fits = { (item: IncomingEpisode) in
      defer { (room, left) = (room - item.notesLength, left - 1) }
      return left > 0 && (room > 0 || left == episodes)
    }
    part.updates = updates.prefix { fits($0.item) }
    part.additions = additions.prefix { fits($0.item) }
    updates = updates.dropFirst(part.updates.count)
    additions = additions.dropFirst(part.additions.count)
    replaced = []
    return part
  }
}

/// As much of a plan as is written at once, with all that can be made before the transaction begins.
private struct MergePiece {
  private struct Change {
    var plan: MergePlan.Update
    /// Nil where neither title nor notes are others: the index stays as it is.
    var texts: (old: IndexedText, new: IndexedText)?
  }
  private static let columns = IncomingEpisode.columns + ["podcast_id", "media_key", "stem", "extension"]

  private let podcast: Int64
  /// When what has no date counts as published.
  private let now: Int64
  private var changes: [Change] = []
  private let additions: [MergePlan.Addition]
  private let replaced: [Int64]
  /// - Parameter database: as of the plan's revision.
  init(_ part: MergePlan, podcast: Int64, now: Int64, in database: Database) throws {
    self.podcast = podcast
    self.now = now
    replaced = part.replaced
    additions = Array(part.additions)
    for update in part.updates {
      guard let known = try EpisodeRow.texts(update.known.id, in: database) else { continue }
      let item = update.item
      let notes = item.parsed.notes
      var change = Change(plan: update)
      if !Self.isSame(known.title, item.title) || !Self.isSame(known.notes, notes) {
        change.texts = (
          IndexedText(title: known.title, notes: known.notes), IndexedText(title: item.title, notes: notes)
        )
      }
      changes.append(change)
    }
  }

  /// Compares byte by byte. SQLite removes a text from the full-text index only when it gets the very same bytes.
  private static func isSame(_ text: String?, _ other: String?) -> Bool {
    guard let text, let other else { return text == nil && other == nil }
    return text.utf8.elementsEqual(other.utf8)
  }

  /// Within a transaction.
  /// - Returns: the podcast's revision from now on; nil where it is no longer as of `revision`.
  func write(_ merged: inout FeedMerge.Merged, revision: Int64, in database: Database) throws -> Int64? {
    guard let state = try EpisodeNumbers(podcast: podcast, in: database) else {
      throw CatalogError.unknown("podcast")
    }
    guard state.revision == revision else { return nil }
    let lastIndexed = EpisodeID.first(ofPodcast: podcast) + state.indexed
    for change in changes { try write(change, isIndexed: change.plan.known.id <= lastIndexed, in: database) }
    for id in replaced { try database.run("UPDATE episode SET is_replaced = 1 WHERE id = ?", id) }
    let ids = try add(from: state.next, in: database)
    let changed = changes.map(\.plan.known.id)
    merged.outcome.newEpisodes += ids
    merged.outcome.changedCount += changed.count
    merged.changed += changed
    if ids.isEmpty && changes.isEmpty && replaced.isEmpty { return revision }
    try EpisodeNumbers.added(ids.count, to: podcast, in: database)
    return revision + 1
  }

  /// Adds new episodes, as far as the podcast has numbers for them.
  /// - Returns: their numbers.
  private func add(from next: Int64, in database: Database) throws -> [Int64] {
    let count = min(Int64(additions.count), max(EpisodeID.last + 1 - next, 0))
    let first = EpisodeID.first(ofPodcast: podcast) + next
    let ids = Array(first..<(first + count))
    try database.run(Database.insertion(into: "episode", ["id"] + Self.columns), rows: ids.count) {
      place, row in
      let addition = additions[place]
      row.add(ids[place])
      addition.item.bind(to: &row, firstSeen: now, modified: addition.modified)
      row.add(podcast)
      row.add(addition.mediaKey.bytes)
      row.add(addition.stem)
      row.add(addition.item.parsed.fileExtension)
    }
    for (id, addition) in zip(ids, additions) {
      try PersonRows.add(id, addition.item.parsed.people, in: database)
    }
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    try EpisodeRow.addTexts(zip(ids, additions).map { ($0, $1.item) }, in: database)
    return ids
  }

  /// Everything but its name, its media key and its marks.
  private func write(_ change: Change, isIndexed: Bool, in database: Database) throws {
    let id = change.plan.known.id
    try PersonRows.remove(id, in: database)
    // Its address is its own again.
    try database.run(Database.change(of: "episode", IncomingEpisode.columns + ["is_replaced"]), rows: 1) {
      _, row in
      change.plan.item.bind(
        to: &row, firstSeen: change.plan.known.published, modified: change.plan.modified)
      row.add(false)
      row.add(id)
    }
    try PersonRows.add(id, change.plan.item.parsed.people, in: database)
    try database.run("DELETE FROM notes WHERE episode_id = ?", id)
    try EpisodeRow.addTexts([(id, change.plan.item)], in: database)
    guard let texts = change.texts, isIndexed else { return }
    try FullText.removeEpisode(id, texts.old, in: database)
    try FullText.indexEpisode(id, texts.new, in: database)
  }
}
