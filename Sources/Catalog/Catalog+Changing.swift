internal import SQLiteKit

extension Catalog {
  /// Changes the catalogue in one transaction and tells everybody what `body` says has changed, once it is
  /// durable.
  /// - Parameter rank: a refresh waits while a verb of any process wants to write.
  func change<R: Sendable>(
    _ rank: WriteRank = .verb, _ body: (Database, inout [CatalogChange]) throws -> R
  ) throws(CatalogError) -> R {
    let (result, commit) = try store.write(rank) { database -> (R, Int64?) in
      var changes: [CatalogChange] = []
      let result = try body(database, &changes)
      return (result, changes.isEmpty ? nil : try ChangeLog.append(changes, in: database))
    }
    if let commit { notices.announce(commit) }
    return result
  }

  /// How many commits there have been that were told of.
  package func commits() throws(CatalogError) -> Int64 {
    try store.read { try ChangeLog.count(in: $0) }
  }
}
