internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

/// Puts what a feed says into the catalogue, within a transaction. What the feed no longer has stays.
struct FeedMerge {
  let podcast: Int64
  let now: Int64
  let database: Database

  /// An episode that is in the catalogue.
  private struct Known {
    var id: Int64
    var traits: EpisodeMatching.Traits
    var stem: String
    var published: Int64
    var isDated: Bool
    var fingerprint: Int64
  }

  /// The items of one page of the feed.
  func merge(_ items: [ParsedEpisode]) throws -> RefreshOutcome {
    let incoming = items.compactMap { IncomingEpisode($0, now: now) }
    let known = try knownEpisodes()
    let matches = EpisodeMatching.match(incoming.map(\.traits), with: known.map(\.traits))
    var outcome = RefreshOutcome()
    for (item, match) in zip(incoming, matches) {
      guard let match, known[match].fingerprint != item.fingerprint else { continue }
      try update(known[match], with: item)
      outcome.changedCount += 1
    }
    let new = zip(incoming, matches).filter { $0.1 == nil }.map(\.0)
    outcome.newEpisodes = try insert(new, names: UniqueNames(taken: known.lazy.map(\.stem)))
    try database.run(
      """
      UPDATE podcast SET episode_count = episode_count + ?, newest =
        (SELECT max(published) FROM episode INDEXED BY episode_newest
         WHERE podcast_id = podcast.id AND hidden = 0) WHERE id = ?
      """, outcome.newEpisodes.count, podcast)
    return outcome
  }

  /// Whether the feed has an episode that is known: it is the same podcast's.
  func hasKnown(_ items: [ParsedEpisode]) throws -> Bool {
    let incoming = items.compactMap { IncomingEpisode($0, now: now) }
    let known = try knownEpisodes().map(\.traits)
    return known.isEmpty || EpisodeMatching.match(incoming.map(\.traits), with: known).contains { $0 != nil }
  }

  private func knownEpisodes() throws -> [Known] {
    try database.all(
      """
      SELECT id, identity, enclosure_url, title, published, is_dated, duration, stem, fingerprint
      FROM episode WHERE id BETWEEN ? AND ? ORDER BY id
      """, EpisodeID.first(ofPodcast: podcast), EpisodeID.last(ofPodcast: podcast)
    ) { row in
      let published = row.int64(4)
      let traits = EpisodeMatching.Traits(
        identity: row.string(1), address: EnclosureAddress.stable(WebAddress(row.string(2))),
        title: row.string(3),
        day: row.bool(5) ? Int64(CivilDate(secondsSinceEpoch: published).daysSinceEpoch) : nil,
        duration: row.intIfPresent(6))
      return Known(
        id: row.int64(0), traits: traits, stem: row.string(7), published: published, isDated: row.bool(5),
        fingerprint: row.int64(8))
    }
  }

  /// Everything but its name, its media key and its marks.
  private func update(_ known: Known, with item: IncomingEpisode) throws {
    let old = try database.first(
      "SELECT e.title, n.text FROM episode e LEFT JOIN notes n ON n.episode_id = e.id WHERE e.id = ?",
      known.id
    ) { ($0.string(0), $0.stringIfPresent(1)) }
    if let old { try FullText.removeEpisode(known.id, title: old.0, notes: old.1, in: database) }
    let published = item.published ?? known.published
    let isDated = item.published != nil || known.isDated
    try database.run(
      """
      UPDATE episode SET identity = ?, guid = ?, title = ?, published = ?, is_dated = ?, fingerprint = ?,
        enclosure_url = ?, media_type = ?, feed_length = ?, duration = ?, season = ?, number = ?, explicit = ?,
        link = ?, image_url = ?, transcripts = ?, chapters_url = ?, notes_length = ?
      WHERE id = ?
      """, values: item.values(published: published, isDated: isDated) + [known.id])
    try database.run("DELETE FROM notes WHERE episode_id = ?", known.id)
    try insertTexts(of: item, known.id)
  }

  /// In the order of publication, so that names don't depend on the order of the feed.
  private func insert(_ items: [IncomingEpisode], names: UniqueNames) throws -> [Int64] {
    if items.isEmpty { return [] }
    var names = names
    let first = try database.first("SELECT next_episode FROM podcast WHERE id = ?", podcast) { $0.int64(0) }
    guard var number = first else { throw CatalogError.unknown("podcast") }
    var ids: [Int64] = []
    let ordered = items.sorted {
      ($0.published ?? now, $0.parsed.index) < ($1.published ?? now, $1.parsed.index)
    }
    for item in ordered {
      guard let id = EpisodeID.make(podcast: podcast, number: number) else { break }
      number += 1
      let published = item.published ?? now
      let stem = names.claim(
        EpisodeName.stem(published: published, title: item.title.isEmpty ? nil : item.title))
      try database.run(
        """
        INSERT INTO episode (identity, guid, title, published, is_dated, fingerprint, enclosure_url, media_type,
          feed_length, duration, season, number, explicit, link, image_url, transcripts, chapters_url,
          notes_length, id, podcast_id, media_key, stem, extension)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        values: item.values(published: published, isDated: item.published != nil) + [
          id, podcast, EpisodeRow.blob(MediaKey(address: item.enclosure.url)), stem,
          MediaType.fileExtension(type: item.enclosure.type, url: item.enclosure.url),
        ])
      ids.append(id)
    }
    // Afterwards, so that a listing finds the rows in pages that follow each other.
    for (item, id) in zip(ordered, ids) { try insertTexts(of: item, id) }
    try database.run("UPDATE podcast SET next_episode = ? WHERE id = ?", number, podcast)
    return ids
  }

  private func insertTexts(of item: IncomingEpisode, _ id: Int64) throws {
    let notes = item.parsed.notes
    if let notes {
      try database.run("INSERT INTO notes (episode_id, text) VALUES (?, ?)", id, notes)
    }
    try FullText.indexEpisode(id, title: item.title, notes: notes, in: database)
  }
}
