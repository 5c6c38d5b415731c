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

  /// Calls `body` when this process and all others that show the catalogue have seen all that this one has committed
  /// so far; after a second at the latest.
  package func whenSeenByAll(_ body: @escaping @Sendable () -> Void) {
    notices.whenSeen { [self] in
      let own = notices.listeningName
      guard !notices.sockets.peers(except: own).isEmpty, let commit = try? store.commits() else {
        return body()
      }
      peers.async { [notices] in
        _ = notices.waitForPeers(commit, except: own, seconds: 1)
        body()
      }
    }
  }

  /// How many commits there have been that were told of.
  package func commits() throws(CatalogError) -> Int64 { try store.commits() }

  /// Waits until every process that shows the catalogue has seen all that has been committed so far. For
  /// commands: what they did is seen at the next call in every mount.
  /// - Returns: false where one has not within `seconds`.
  @discardableResult
  package func waitUntilSeen(seconds: Double = 5) -> Bool {
    guard let commit = try? store.commits() else { return false }
    return notices.waitForPeers(commit, seconds: seconds)
  }
}
