internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Names that were made of a host, because nobody had told the title: they last until the feed does.
enum ProvisionalNames {
  /// Gives a podcast, and its directories, the names that its title makes, where they have none yet.
  static func settle(
    _ podcast: inout PodcastRecord, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    guard podcast.isProvisional, podcast.hasTitle else { return }
    let id = podcast.id
    let usual = EpisodeName.directoryName(title: podcast.title)
    podcast.name = try NameClaim.free(usual) { try PodcastRecord.isTaken($0, besides: id, in: database) }
    podcast.isProvisional = false
    changes.append(.podcast(id))
    try settleSubscription(of: id, usual, in: database, &changes)
    try settleResults(of: id, usual, in: database, &changes)
  }

  private static func settleSubscription(
    of podcast: Int64, _ usual: String, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    let id = try database.first(
      "SELECT id FROM subscription WHERE podcast_id = ? AND is_provisional = 1", podcast
    ) { $0.int64(0) }
    guard let id else { return }
    let name = try NameClaim.free(usual) { try SubscriptionRows.isTaken($0, besides: id, in: database) }
    try database.run(
      "UPDATE subscription SET name = ?, name_key = ?, is_provisional = 0 WHERE id = ?", name,
      UniqueNames.key(name), id)
    try SubscriptionList.changed(podcast: podcast, in: database)
    try Folder.subscriptions.touch(in: database)
    changes.append(.subscription(id, podcast: podcast))
  }

  private static func settleResults(
    of podcast: Int64, _ usual: String, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    let results = try database.all(
      "SELECT id, search_id FROM result WHERE podcast_id = ? AND is_provisional = 1", podcast
    ) { ($0.int64(0), $0.int64(1)) }
    for (id, search) in results {
      let name = try NameClaim.free(usual) { name in
        try database.exists(
          "SELECT 1 FROM result WHERE search_id = ? AND name_key = ? AND id <> ?", search,
          UniqueNames.key(name), id)
      }
      try database.run(
        "UPDATE result SET name = ?, name_key = ?, is_provisional = 0 WHERE id = ?", name,
        UniqueNames.key(name), id)
      try database.run("UPDATE search SET changed = ? WHERE id = ?", wallClockNanoseconds(), search)
      changes.append(.results(search: search))
    }
  }
}
