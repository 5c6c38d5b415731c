internal import SQLiteKit

extension Catalog {
  /// Changes the catalogue in one transaction and tells everybody what `body` says has changed, once it is
  /// durable.
  func change<R: Sendable>(
    _ body: (Database, inout [CatalogChange]) throws -> R
  ) throws(CatalogError) -> R {
    let (result, message) = try store.write { database -> (R, ChangeMessage?) in
      var changes: [CatalogChange] = []
      let result = try body(database, &changes)
      if changes.isEmpty { return (result, nil) }
      try database.run("UPDATE counter SET commits = commits + 1")
      let commit = try database.first("SELECT commits FROM counter") { $0.int64(0) } ?? 0
      return (result, ChangeMessage(commit: commit, changes: changes))
    }
    if let message { notices.announce(message) }
    return result
  }

  /// How many commits there have been that were told of.
  func commits() throws(CatalogError) -> Int64 {
    try store.read { try $0.first("SELECT commits FROM counter") { $0.int64(0) } ?? 0 }
  }
}
