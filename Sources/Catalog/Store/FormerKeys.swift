internal import PodcastModel
internal import SQLiteKit

/// What came of an episode that has become one with another lies under that one's media key. The transfers know what
/// is here, and only a mount knows the transfers: until it looks, the key is noted.
enum FormerKeys {
  /// Within the transaction that makes `old` and `new` one.
  static func note(of old: Int64, for new: Int64, in database: Database) throws {
    try database.run("UPDATE OR REPLACE former_key SET episode_id = ? WHERE episode_id = ?", new, old)
    try database.run(
      """
      INSERT OR REPLACE INTO former_key SELECT o.media_key, n.id FROM episode o, episode n
      WHERE o.id = ? AND n.id = ? AND o.media_key <> n.media_key
      """, old, new)
  }

  /// Gives episodes the keys under which more of them is here than under their own.
  /// - Parameter held: how much would be missed with each key: 0 or nothing for what is not here.
  static func adopt(_ store: CatalogStore, held: () -> [MediaKey: Int]) throws(CatalogError) {
    guard try store.read({ try $0.exists("SELECT 1 FROM former_key") }) else { return }
    let held = held()
    let noted = try store.read { database in
      try database.all(
        "SELECT f.media_key, f.episode_id, e.media_key FROM former_key f JOIN episode e ON e.id = f.episode_id"
      ) { (former: MediaKey(bytes: $0.blob(0)), id: $0.int64(1), own: MediaKey(bytes: $0.blob(2))) }
    }
    var chosen: [Int64: (former: MediaKey, own: MediaKey)] = [:]
    for key in noted {
      guard let former = key.former, let own = key.own else { continue }
      let best = chosen[key.id]?.former ?? own
      if held[former] ?? 0 > held[best] ?? 0 { chosen[key.id] = (former, own) }
    }
    if chosen.isEmpty { return }
    try store.change { [chosen] database, changes in
      for (id, keys) in chosen {
        let former = EpisodeRow.blob(keys.former)
        try database.run(
          "UPDATE episode SET media_key = ? WHERE id = ? AND media_key = ?", former, id,
          EpisodeRow.blob(keys.own))
        try database.run("DELETE FROM former_key WHERE media_key = ?", former)
      }
      // Which files are whose: nobody can say it more shortly.
      changes.append(.everything)
    }
  }
}
