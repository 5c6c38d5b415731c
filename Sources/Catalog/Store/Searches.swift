package import PodcastModel
internal import PosixKit
package import SQLiteKit

/// Whether a search still shows one of its results.
enum ResultState: Int {
  case shown = 0
  /// The user took it away.
  case hidden = 1
  /// It was subscribed to, and comes back when the search is made again.
  case subscribed = 2
  /// The service did not name it when the search was made again.
  case gone = 3
}

extension Search: RowCoded {
  package mutating func code(_ row: inout RowCoder) {
    row.read("s.id", &id)
    row.read("s.name", &name)
    row.read("(SELECT count(*) FROM result r WHERE r.search_id = s.id AND r.state = 0)", &resultCount)
    row.read("s.source", &source)
    row.read("s.searched", &searched)
    row.read("s.changed", &changed)
  }
}

/// How searches and their results lie in their rows; within a transaction.
enum SearchRows {
  /// - Parameter completes: it adds to the answer that the search has: what was subscribed to since stays away.
  /// - Returns: the search's number.
  static func record(
    _ name: String, _ answer: MergedAnswer, replacing old: Int64?, completes: Bool = false, now: Int64,
    in database: Database
  ) throws -> Int64 {
    let kept = "(\(ResultState.hidden.rawValue), \((completes ? ResultState.subscribed : .hidden).rawValue))"
    let isSame = try old.map { try self.search($0, in: database)?.name == name } ?? false
    if let old {
      // What is no longer found keeps its row, and so its name.
      try database.run(
        isSame
          ? "UPDATE result SET state = \(ResultState.gone.rawValue) WHERE search_id = ? AND state NOT IN \(kept)"
          : "DELETE FROM result WHERE search_id = ?", old)
      // The kernel moves a directory with its number: what the new name leads to is what it has led to.
      try database.run(
        "UPDATE search SET name = ?, source = ?, searched = ? WHERE id = ?", name, answer.source, now, old)
    } else {
      try database.run(
        "INSERT INTO search (name, source, searched) VALUES (?, ?, ?)", name, answer.source, now)
    }
    let search = old ?? database.lastInsertedID
    var names = UniqueNames(
      taken: try database.all("SELECT name FROM result WHERE search_id = ?", search) { $0.string(0) })
    try changed(search, in: database)
    if !isSame { try Folder.searches.touch(in: database) }
    for (position, found) in answer.podcasts.enumerated() {
      let podcast = try PodcastRecord.record(found, mayBePrivate: answer.mayBePrivate(found), in: database)
      try database.run(
        """
        UPDATE result SET position = ?, state = CASE WHEN state IN \(kept) THEN state ELSE 0 END
        WHERE search_id = ? AND podcast_id = ?
        """, position, search, podcast)
      if database.changedRows > 0 { continue }
      let titled = "SELECT title FROM podcast WHERE id = ? AND has_title = 1"
      let known = try database.first(titled, podcast) { $0.string(0) }
      let title = found.hasTitle ? found.title : known ?? found.title
      let name = names.claim(EpisodeName.directoryName(title: title))
      try database.run(
        "INSERT INTO result (search_id, podcast_id, position, name, name_key) VALUES (?, ?, ?, ?, ?)", search,
        podcast, position, name, UniqueNames.key(name))
    }
    return search
  }

  /// Before anybody is asked, and again before the results are kept.
  static func checkFree(_ name: String, except old: Int64?, in database: Database) throws {
    let taken = try database.number("SELECT id FROM search WHERE name = ?", name)
    if let taken, taken != old { throw CatalogError(.EEXIST, "there is a search of that name") }
    if let old { _ = try existing("search", search(old, in: database)) }
  }

  static func setState(_ state: ResultState, ofResult id: Int64, in database: Database) throws -> Int64 {
    let search = try existing(
      "result", database.number("SELECT search_id FROM result WHERE id = ? AND state = 0", id))
    try database.run("UPDATE result SET state = ? WHERE id = ?", state.rawValue, id)
    try changed(search, in: database)
    return search
  }

  static func changed(_ search: Int64, in database: Database) throws {
    try database.run("UPDATE search SET changed = ? WHERE id = ?", wallClockNanoseconds(), search)
  }

  static func search(_ id: Int64, in database: Database) throws -> Search? {
    try database.first("SELECT \(Search.columns) FROM search s WHERE s.id = ?", id) { Search($0) }
  }

  static func searches(in database: Database) throws -> [Search] {
    try database.all("SELECT \(Search.columns) FROM search s ORDER BY s.name") { Search($0) }
  }
}

// Searches, and what a user does to them. Each verb is durable when it returns; marks of episodes are on the disk half a
// second later.
extension Catalog {
  package func searches() throws(CatalogError) -> [Search] {
    try store.read { try SearchRows.searches(in: $0) }
  }

  package func search(_ id: Int64) throws(CatalogError) -> Search? {
    try store.read { try SearchRows.search(id, in: $0) }
  }

  /// The results that are shown, the best first; `id` is the result's.
  package func results(ofSearch id: Int64) throws(CatalogError) -> [ListedPodcast] {
    try store.read { try ListedRow.results("t.search_id = ?", id, in: $0) }
  }

  package func result(_ id: Int64) throws(CatalogError) -> ListedPodcast? {
    try store.read { try ListedRow.results("t.id = ?", id, in: $0).first }
  }

  /// By podcast: the results, over all searches, that show it, each with the episodes that are hidden there.
  package func results(showing podcasts: [Int64]) throws(CatalogError) -> [Int64: [Int64: Set<Int64>]] {
    let rows = try store.read {
      try $0.all(
        """
        SELECT r.podcast_id, r.id, h.episode_id FROM result r LEFT JOIN hidden_in_search h ON h.result_id = r.id
        WHERE r.podcast_id IN (SELECT value FROM json_each(?)) AND r.state = 0
        """, EpisodeRows.list(podcasts)
      ) { (podcast: $0.int64(0), result: $0.int64(1), hidden: $0.int64IfPresent(2)) }
    }
    var results: [Int64: [Int64: Set<Int64>]] = [:]
    for row in rows {
      results[row.podcast, default: [:]][row.result, default: []].formUnion([row.hidden].compactMap(\.self))
    }
    return results
  }

  /// Its results go with it; the podcasts stay for a while.
  package func forgetSearch(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      try database.run("DELETE FROM search WHERE id = ?", id)
      if database.changedRows == 0 { throw CatalogError.unknown("search") }
      try Folder.searches.touch(in: database)
      changes.append(.search(id))
    }
    store.emptyLog()
  }

  /// Takes a result out of its search, also when that is made again.
  package func hideResult(_ id: Int64) throws(CatalogError) {
    try store.change { database, changes in
      let search = try SearchRows.setState(.hidden, ofResult: id, in: database)
      changes += [.result(id, search: search), .search(search)]
    }
  }

  package func hideInSearch(result: Int64, episode: Int64) throws(CatalogError) {
    try store.change(waitsForDisk: false) { database, changes in
      _ = try existing("result", database.number("SELECT 1 FROM result WHERE id = ?", result))
      try EpisodeRows.check(episode, in: database)
      try database.run(
        "INSERT OR IGNORE INTO hidden_in_search (result_id, episode_id) VALUES (?, ?)", result, episode)
      if database.changedRows == 0 { return }
      try database.run("UPDATE result SET changed = ? WHERE id = ?", wallClockNanoseconds(), result)
      changes.append(.hiddenInSearch(result: result, episode: episode))
    }
  }
}
