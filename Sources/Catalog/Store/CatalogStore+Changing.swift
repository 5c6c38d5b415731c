internal import PosixKit
internal import SQLiteKit

extension CatalogStore {
  /// Changes the catalogue in one transaction and tells everybody what `body` says has changed, once it is
  /// durable.
  /// - Parameters:
  ///   - rank: a refresh waits while a verb of any process wants to write.
  ///   - waitsForDisk: false for marks, of which a program makes thousands one after the other: they are on the disk
  ///     a moment later.
  func change<R: Sendable>(
    _ rank: WriteRank = .verb, waitsForDisk: Bool = true,
    _ body: (Database, inout [CatalogChange]) throws -> R
  ) throws(CatalogError) -> R {
    let (result, commit) = try write(rank, waitsForDisk: waitsForDisk) { database -> (R, Int64?) in
      var changes: [CatalogChange] = []
      let result = try body(database, &changes)
      return (result, changes.isEmpty ? nil : try ChangeLog.append(changes, in: database))
    }
    if commit != nil { notices.announce() }
    if !waitsForDisk { flushSoon() }
    return result
  }

  private func flushSoon() {
    let isFirst = isFlushDue.withLock { isDue in
      defer { isDue = true }
      return !isDue
    }
    guard isFirst else { return }
    queue.async(after: 0.5) { [self] in
      isFlushDue.withLock { $0 = false }
      // A disk that refuses the log and the checkpoint refuses the next write too, which says so.
      try? flush()
    }
  }

  /// How many commits there have been that were told of.
  func commits() throws(CatalogError) -> Int64 {
    try read { try ChangeLog.count(in: $0) }
  }
}
