internal import PosixKit

// Who hears of changes, and who waits until they have.
extension Catalog {
  /// Calls `observer` when there may be new commits, by this process or another one, on a thread of the catalogue's own,
  /// until `close()`.
  /// - Parameter observer: reads them (`commits(after:)`), and calls `done` once, on any thread, when it shows them.
  package func observe(_ observer: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) {
    notices.observe(observer)
  }

  /// Calls `body` with the commits of all processes, in order.
  /// - Parameter first: the number of the last one that is left out; nil for commits from now on.
  package func observeCommits(
    since first: Int64? = nil, _ body: @escaping @Sendable (CatalogCommit) -> Void
  ) {
    let last = Monitor((try? first ?? commits()) ?? 0)
    observe { [store] done in
      let seen = last.withLock { $0 }
      let commits = try? store.read { try ChangeLog.commits(after: seen, in: $0) }
      for commit in commits ?? [] {
        last.withLock { $0 = commit.number }
        body(commit)
      }
      done()
    }
  }

  /// Calls `body` with each single change from now on.
  package func observeChanges(_ body: @escaping @Sendable (CatalogChange) -> Void) {
    observeCommits { commit in for change in commit.changes { body(change) } }
  }

  /// How many commits there have been that were told of.
  package func commits() throws(CatalogError) -> Int64 { try store.commits() }

  /// The commits after `number`, by all processes, in order.
  package func commits(after number: Int64) throws(CatalogError) -> [CatalogCommit] {
    try store.read { try ChangeLog.commits(after: number, in: $0) }
  }

  /// Waits until every process that shows the catalogue shows all that has been committed so far. For commands: a script
  /// that calls one looks at the mount next. A mount that is stopped costs this second once a command.
  /// - Returns: false where one has not within `seconds`.
  @discardableResult
  package func waitUntilSeen(seconds: Double = 1) -> Bool {
    guard let commit = try? store.commits() else { return false }
    return notices.waitForPeers(commit, seconds: seconds)
  }
}
