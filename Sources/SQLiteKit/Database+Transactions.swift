extension Database {
  /// Runs `body` as one change: all of it is committed when this returns, none of it where it throws.
  ///
  /// The write lock is taken first (BEGIN IMMEDIATE), so that what was read inside stays true until the
  /// commit. A transaction within a transaction is part of it.
  package func transaction<R>(_ body: () throws -> R) throws -> R {
    try enclosed(by: "BEGIN IMMEDIATE", body)
  }

  /// Runs queries that all see the same state of the database.
  package func snapshot<R>(_ body: () throws -> R) throws -> R {
    try enclosed(by: "BEGIN DEFERRED", body)
  }

  private func enclosed<R>(by begin: String, _ body: () throws -> R) throws -> R {
    if isInTransaction { return try body() }
    try run(begin)
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      // Some errors (a full disk) have rolled back already.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Brings the schema up to date: step N makes version N + 1 of version N (`PRAGMA user_version`). Several
  /// processes may try at once; a step runs once, and wholly or not at all.
  /// - Throws: `DatabaseError`, also where the file is of a later version than `steps` lead to.
  package func migrate(_ steps: [(Database) throws -> Void]) throws {
    if try version() == Int64(steps.count) { return }
    try transaction {
      let found = try version()
      guard found <= steps.count else {
        throw DatabaseError.schemaTooNew(found: found, known: steps.count)
      }
      for step in steps[Int(found)...] { try step(self) }
      try script("PRAGMA user_version = \(steps.count)")
    }
  }

  private func version() throws(DatabaseError) -> Int64 {
    try first("PRAGMA user_version") { $0.int64(0) } ?? 0
  }
}
