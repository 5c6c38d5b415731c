extension Database {
  /// Runs `body` as one change: all of it is committed when this returns, none of it where it throws.
  ///
  /// The write lock is taken first (BEGIN IMMEDIATE), so that what was read inside stays true until the
  /// commit. A transaction within a transaction is part of it.
  package func transaction<R>(_ body: () throws -> R) throws -> R {
    try enclosed(by: "BEGIN IMMEDIATE", body)
  }

  package func snapshot<R>(_ body: () throws -> R) throws -> R { try enclosed(by: "BEGIN DEFERRED", body) }

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
}

extension Database {
  /// The version of the file's tables (https://sqlite.org/fileformat2.html#user_version_number); nil for a file without any.
  package func version() throws(DatabaseError) -> Int? {
    guard try exists("SELECT 1 FROM sqlite_schema") else { return nil }
    return try first("PRAGMA user_version") { $0.int(0) }
  }

  /// Makes the tables of an empty file. Several processes may do so at once.
  /// - Throws: `DatabaseError`, also where the file is of another version (`isOfOtherVersion`).
  package func makeTables(version: Int, _ sql: String) throws {
    if try self.version() == version { return }
    try transaction {
      guard let found = try self.version() else {
        return try script("\(sql); PRAGMA user_version = \(version)")
      }
      if found != version { throw DatabaseError.otherVersion(found: found, known: version) }
    }
  }
}
