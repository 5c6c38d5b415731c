internal import Identity
internal import PodcastModel
internal import SQLiteKit

/// The episodes of a podcast that becomes one with another go over to that, piece by piece: marks go to the same
/// episode, and what the other does not have becomes its own, under a new number.
struct MovingEpisodes: Sendable {
  let store: CatalogStore
  let survivor: Int64
  let loser: Int64

  /// What goes over in one transaction at the most.
  private static let pieceEpisodes = 500
  private static let pieceBytes = 1 << 20

  private struct Step: Sendable {
    var id: Int64
    /// The same episode of the other podcast; nil for none.
    var same: Int64?
    /// Its name among the other podcast's.
    var stem: String
    /// As it is in the full-text index.
    var text: IndexedText
  }

  /// - Returns: false where another process has changed one of the podcasts meanwhile: what has gone over counts, the
  ///   rest is to be decided anew.
  func move(_ given: KnownEpisodes, to kept: KnownEpisodes) throws -> Bool {
    let decisions = IdentityEngine.decide(given.all.map(\.traits), known: kept.all.map(\.traits))
    var names = UniqueNames(taken: kept.all.lazy.map(\.stem))
    var rest = given.all.indices[...]
    var revisions = (kept: kept.revision, given: given.revision)
    while !rest.isEmpty {
      let (texts, end) = try texts(of: given.all[rest])
      var steps: [Step] = []
      for (index, text) in zip(rest, texts) {
        let episode = given.all[index]
        let same = decisions[index].place.map { kept.all[$0].id }
        let stem = same == nil ? names.claim(episode.stem) : episode.stem
        steps.append(Step(id: episode.id, same: same, stem: stem, text: text))
      }
      rest = rest.dropFirst(end)
      let isWritten = try store.change(.refresh) { [revisions] database, changes in
        guard try KnownEpisodes.revision(survivor, in: database) == revisions.kept,
          try KnownEpisodes.revision(loser, in: database) == revisions.given
        else { return false }
        try write(steps, in: database)
        changes += [.podcast(survivor), .podcast(loser)]
        return true
      }
      if !isWritten { return false }
      revisions = (revisions.kept + 1, revisions.given + 1)
    }
    return true
  }

  /// The texts of the first of these episodes, as many as may go over at once.
  private func texts(of episodes: ArraySlice<KnownEpisodes.One>) throws -> ([IndexedText], count: Int) {
    try store.read { database in
      var texts: [IndexedText] = []
      var room = Self.pieceBytes
      for episode in episodes.prefix(Self.pieceEpisodes) where texts.isEmpty || room > 0 {
        let text = try database.first(
          "SELECT e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?",
          episode.id
        ) { row in
          let notes = row.stringIfPresent(1)
          room -= notes?.utf8.count ?? 0
          return IndexedText(title: row.string(0), notes: notes)
        }
        texts.append(text ?? IndexedText(title: "", notes: nil))
      }
      return (texts, texts.count)
    }
  }

  private func write(_ steps: [Step], in database: Database) throws {
    let state = try database.first(
      "SELECT s.next_episode, l.indexed_upto FROM podcast s, podcast l WHERE s.id = ? AND l.id = ?", survivor,
      loser
    ) { ($0.int64(0), $0.int64(1)) }
    guard var (number, indexed) = state else { throw CatalogError.unknown("podcast") }
    indexed += EpisodeID.first(ofPodcast: loser)
    let first = number
    for step in steps {
      if step.id <= indexed { try FullText.removeEpisode(step.id, step.text, in: database) }
      if let same = step.same {
        try giveMarks(of: step.id, to: same, in: database)
      } else if let id = EpisodeID.make(podcast: survivor, number: number) {
        number += 1
        try move(step, to: id, in: database)
        continue
      }
      // The same, or one more than there are numbers for.
      try database.run("DELETE FROM episode WHERE id = ?", step.id)
    }
    for (podcast, change) in [(survivor, number - first), (loser, -Int64(steps.count))] {
      try database.run(
        """
        UPDATE podcast SET revision = revision + 1, episode_count = episode_count + ?2,
          hidden_count = (SELECT count(*) FROM episode INDEXED BY episode_hidden
            WHERE podcast_id = ?1 AND hidden = 1)
        WHERE id = ?1
        """, podcast, change)
      try EpisodeMarks.findNewest(of: podcast, in: database)
    }
    try database.run("UPDATE podcast SET next_episode = ? WHERE id = ?", number, survivor)
    try FullPodcast.tell(survivor, in: database)
  }

  private func giveMarks(of old: Int64, to new: Int64, in database: Database) throws {
    try database.run(
      """
      UPDATE episode SET played = max(episode.played, o.played), hidden = max(episode.hidden, o.hidden)
      FROM (SELECT played, hidden FROM episode WHERE id = ?) o WHERE id = ?
      """, old, new)
    try FormerKeys.note(of: old, for: new, in: database)
    try database.run("INSERT OR IGNORE INTO kept SELECT ? FROM kept WHERE episode_id = ?", new, old)
    try database.run("DELETE FROM kept WHERE episode_id = ?", old)
    try database.run(
      "UPDATE OR IGNORE hidden_in_search SET episode_id = ? WHERE episode_id = ?", new, old)
  }

  private func move(_ step: Step, to id: Int64, in database: Database) throws {
    try database.run("PRAGMA defer_foreign_keys = 1")
    try database.run(
      "UPDATE episode SET id = ?, podcast_id = ?, stem = ? WHERE id = ?", id, survivor, step.stem, step.id)
    for table in ["notes", "kept", "hidden_in_search", "former_key"] {
      try database.run("UPDATE \(table) SET episode_id = ? WHERE episode_id = ?", id, step.id)
    }
  }
}
