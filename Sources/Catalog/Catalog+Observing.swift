internal import PosixKit

// Who hears of changes, and who waits until they have.
extension Catalog {
  /// Hands `observer` the commits of all processes, this one included, in the order of their numbers, on a thread
  /// of the catalogue's own, until `close()`.
  /// - Parameters:
  ///   - first: what was read before this call was as of this commit (`commits()`); nil for commits from now on.
  ///   - observer: calls `done` once, on any thread, when what it shows includes the commit.
  package func observe(
    since first: Int64? = nil,
    commits observer: @escaping @Sendable (CatalogCommit, _ done: @escaping @Sendable () -> Void) -> Void
  ) {
    notices.observe(since: first, observer, count: { [store] in try? store.commits() }) { [store] number in
      try? store.read { try ChangeLog.commits(after: number, in: $0) }
    }
  }

  /// Calls `observer` with each single change.
  package func observe(_ observer: @escaping @Sendable (CatalogChange) -> Void) {
    observe(commits: { commit, done in
      for change in commit.changes { observer(change) }
      done()
    })
  }

  /// Calls `body` when the observers of this process have seen all that it has committed so far: at once where
  /// they have, or where there are none.
  package func whenSeen(_ body: @escaping @Sendable () -> Void) { notices.whenSeen(body) }

  /// How many commits there have been that were told of.
  package func commits() throws(CatalogError) -> Int64 { try store.commits() }

  /// Waits until every process that shows the catalogue has seen all that has been committed so far. For commands: a
  /// script that calls one looks at the mount next. A mount that is stopped costs this second once a command.
  /// - Returns: false where one has not within `seconds`.
  @discardableResult
  package func waitUntilSeen(seconds: Double = 1) -> Bool {
    guard let commit = try? store.commits() else { return false }
    return notices.waitForPeers(commit, seconds: seconds)
  }
}
