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

  /// How often another process may be at the same podcast at the same time.
  private static let tries = 20

  typealias Finish = (Database, inout [CatalogChange], Merged) throws -> Void

  struct Merged {
    var outcome = RefreshOutcome()
    var changed: [Int64] = []
    var changesListing: Bool { !changed.isEmpty || !outcome.newEpisodes.isEmpty }
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
      let part = rest.removePiece()
      // What comes last brings all before it to the disk, too.
      let isLast = rest.writes.isEmpty
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
    } while !rest.writes.isEmpty
    return true
  }
}

/// As much of a plan as is written at once, with all that can be made before the transaction begins.
private struct MergePiece {
  private let podcast: Int64
  private let now: Int64
  private let plan: MergePlan
  /// Of those whose words in the full-text index are others now.
  private var texts: [Int64: (old: IndexedText, new: IndexedText)] = [:]

  /// - Parameter database: as of the plan's revision.
  init(_ plan: MergePlan, podcast: Int64, now: Int64, in database: Database) throws {
    (self.plan, self.podcast, self.now) = (plan, podcast, now)
    for write in plan.writes {
      guard let id = write.known?.id, let old = try EpisodeTexts(id, in: database) else { continue }
      let new = EpisodeTexts(title: write.item.title, notes: write.item.parsed.notes)
      if old.bytes != new.bytes { texts[id] = (IndexedText(old), IndexedText(new)) }
    }
  }

  /// Within a transaction.
  /// - Returns: the podcast's revision from now on; nil where it is no longer as of `revision`.
  func write(_ merged: inout FeedMerge.Merged, revision: Int64, in database: Database) throws -> Int64? {
    let state = try existing("podcast", EpisodeNumbers(podcast: podcast, in: database))
    guard state.revision == revision else { return nil }
    if plan.writes.isEmpty && plan.replaced.isEmpty { return revision }
    for id in plan.replaced { try database.run("UPDATE episode SET is_replaced = 1 WHERE id = ?", id) }
    let first = EpisodeID.first(ofPodcast: podcast)
    var next = state.next
    var rows: [(id: Int64, write: MergePlan.Write)] = []
    for write in plan.writes {
      if let id = write.known?.id {
        try PersonRows.remove(id, in: database)
        try database.run("DELETE FROM notes WHERE episode_id = ?", id)
        rows.append((id, write))
        merged.changed.append(id)
      } else if next <= EpisodeID.last {
        rows.append((first + next, write))
        merged.outcome.newEpisodes.append(first + next)
        next += 1
      }
    }
    try save(rows, in: database)
    for (id, texts) in texts where id <= first + state.indexed {
      try FullText.removeEpisode(id, texts.old, in: database)
      try FullText.indexEpisode(id, texts.new, in: database)
    }
    try EpisodeNumbers.added(Int(next - state.next), to: podcast, in: database)
    return revision + 1
  }

  private func save(_ rows: [(id: Int64, write: MergePlan.Write)], in database: Database) throws {
    let columns = rows.first?.write.columns(now: now).map(\.key) ?? []
    try database.run(Database.saving(into: "episode", ["id", "podcast_id"] + columns), rows: rows.count) {
      place, row in
      row.add(rows[place].id)
      row.add(podcast)
      for (_, value) in rows[place].write.columns(now: now) { row.add(value) }
    }
    for (id, write) in rows { try PersonRows.add(id, write.item.parsed.people, in: database) }
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    let noted = rows.filter { $0.write.item.parsed.notes != nil || $0.write.item.parsed.chapters != nil }
    try database.run(
      Database.insertion(into: "notes", ["episode_id", "text", "chapters"]), rows: noted.count
    ) { place, row in
      row.add(noted[place].id)
      row.add(noted[place].write.item.parsed.notes)
      row.add(noted[place].write.item.parsed.chapters)
    }
  }
}
