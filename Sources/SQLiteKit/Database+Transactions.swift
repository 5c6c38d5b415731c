extension Database {
  /// Runs `body` as one change: all of it is committed when this returns, none of it where it throws.
  ///
  /// The write lock is taken first (BEGIN IMMEDIATE), so that what was read inside stays true until the
  /// commit. A transaction within a transaction is part of it.
  package func transaction<R>(_ body: () throws -> R) throws -> R {
    try enclosed(by: "BEGIN IMMEDIATE", body)
  }

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
}
