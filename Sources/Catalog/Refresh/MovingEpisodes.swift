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
  func move(_ going: KnownEpisodes, to staying: KnownEpisodes) throws -> Bool {
    let decisions = IdentityEngine.decide(going.all.map(\.traits), known: staying.all.map(\.traits))
    var names = UniqueNames(taken: staying.all.lazy.map(\.stem))
    var rest = going.all.indices[...]
    var revisions = (staying: staying.revision, going: going.revision)
    while !rest.isEmpty {
      let (texts, end) = try texts(of: going.all[rest])
      var steps: [Step] = []
      for (index, text) in zip(rest, texts) {
        let episode = going.all[index]
        let same = decisions[index].place.map { staying.all[$0].id }
        let stem = same == nil ? names.claim(episode.stem) : episode.stem
        steps.append(Step(id: episode.id, same: same, stem: stem, text: text))
      }
      rest = rest.dropFirst(end)
      let isWritten = try store.change(.refresh) { [revisions] database, changes in
        guard try KnownEpisodes.revision(survivor, in: database) == revisions.staying,
          try KnownEpisodes.revision(loser, in: database) == revisions.going
        else { return false }
        try write(steps, in: database)
        changes += [.podcast(survivor), .podcast(loser)]
        return true
      }
      if !isWritten { return false }
      revisions = (revisions.staying + 1, revisions.going + 1)
    }
    return true
  }

  /// The texts of the first of these episodes, as many as may go over at once.
  private func texts(of episodes: ArraySlice<KnownEpisodes.One>) throws -> ([IndexedText], count: Int) {
    try store.read { database in
      var texts: [IndexedText] = []
      var room = Self.pieceBytes
      for episode in episodes.prefix(Self.pieceEpisodes) where texts.isEmpty || room > 0 {
        let text = try EpisodeRow.text(episode.id, in: database)
        room -= text?.notes?.utf8.count ?? 0
        texts.append(IndexedText(title: text?.title ?? "", notes: text?.notes))
      }
      return (texts, texts.count)
    }
  }

  private func write(_ steps: [Step], in database: Database) throws {
    guard let staying = try EpisodeNumbers(podcast: survivor, in: database),
      let going = try EpisodeNumbers(podcast: loser, in: database)
    else { throw CatalogError.unknown("podcast") }
    let indexed = EpisodeID.first(ofPodcast: loser) + going.indexed
    var number = staying.next
    for step in steps {
      if step.id <= indexed { try FullText.removeEpisode(step.id, step.text, in: database) }
      if let same = step.same {
        try EpisodeMarks.give(of: step.id, to: same, in: database)
      } else if let id = EpisodeID.make(podcast: survivor, number: number) {
        number += 1
        try EpisodeRow.move(step.id, to: id, of: survivor, stem: step.stem, in: database)
        continue
      }
      // The same, or one more than there are numbers for.
      try EpisodeRow.remove(step.id, in: database)
    }
    try EpisodeNumbers.moved(number - staying.next, of: survivor, in: database)
    try EpisodeNumbers.moved(-Int64(steps.count), of: loser, in: database)
    try EpisodeNumbers.setNext(number, of: survivor, in: database)
    try FullPodcast.tell(survivor, in: database)
  }
}
