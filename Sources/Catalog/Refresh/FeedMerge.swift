internal import FeedKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Puts a page of a feed into the catalogue: all is decided and made before a transaction begins, and what is
/// much is written in pieces, so that no verb waits long. Where another process changes the podcast meanwhile, it
/// is decided anew.
struct FeedMerge: Sendable {
  let store: CatalogStore
  let podcast: Int64
  let now: Int64
  /// Episodes are to be heard in order (`itunes:type`): see `EpisodeNaming`.
  var isSerial = false

  /// What is written in one transaction at the most: some tens of milliseconds.
  private static let pieceEpisodes = 1000
  /// Of those whose texts may be in the full-text index, which has to lose the old words.
  private static let pieceUpdates = 200
  private static let pieceBytes = 2 << 20
  /// How often another process may be at the same podcast at the same time.
  private static let tries = 20

  /// What the last piece's transaction also does.
  typealias Finish = (Database, inout [CatalogChange], Merged) throws -> Void

  struct Merged {
    var outcome = RefreshOutcome()
    var changed: [Int64] = []
    /// Whether directories list other files than before.
    var changesListing = false
    /// See `MergePlan`.
    var reachesBack = false
    var isReaddressed = false
    /// New episodes for which the podcast has no numbers left.
    var leftOut = 0

    /// What has changed, as little as says all of it.
    func changes(of podcast: Int64) -> [CatalogChange] {
      if changed.count > Self.singleLimit { return [.podcast(podcast)] }
      var changes = changed.map(CatalogChange.episode)
      if let first = outcome.newEpisodes.first, let last = outcome.newEpisodes.last {
        changes.append(.newEpisodes(podcast: podcast, first: first, last: last))
      }
      return changes
    }

    private static let singleLimit = 64
  }

  /// - Parameter finish: runs in the transaction that ends the merge, also where nothing has changed.
  @discardableResult
  func merge(_ incoming: [IncomingEpisode], finish: Finish) throws -> RefreshOutcome {
    var merged = Merged()
    for _ in 0..<Self.tries {
      let known = try store.read { try KnownEpisodes(podcast: podcast, in: $0) }
      let plan = MergePlan(incoming, known: known, isSerial: isSerial, now: now)
      merged.reachesBack = merged.reachesBack || plan.reachesBack
      merged.isReaddressed = merged.isReaddressed || plan.isReaddressed
      if try write(plan, known.revision, &merged, finish) { return merged.outcome }
    }
    throw CatalogError(.EBUSY, "another process keeps changing this podcast")
  }

  /// What a feed's episodes have to do with those that are known.
  func overlap(_ incoming: [IncomingEpisode]) throws -> ShowEvidence.Episodes {
    let known = try store.read { try KnownEpisodes(podcast: podcast, in: $0) }
    return ShowEvidence.Episodes(of: incoming.map(\.traits), and: known.all.map(\.traits))
  }

  /// - Returns: false where the podcast has changed meanwhile: what was written counts, the rest is to be decided
  ///   anew.
  private func write(
    _ plan: MergePlan, _ first: Int64, _ merged: inout Merged, _ finish: Finish
  ) throws -> Bool {
    var revision = first
    var rest: MergePlan? = plan
    while var whole = rest {
      let part = whole.split(
        episodes: whole.updates.isEmpty ? Self.pieceEpisodes : Self.pieceUpdates, bytes: Self.pieceBytes)
      rest = whole.isEmpty ? nil : whole
      let piece = try store.read { try MergePiece(part, podcast: podcast, now: now, in: $0) }
      // What comes last brings all before it to the disk, too.
      let isLast = rest == nil
      let written = try store.change(.refresh, waitsForDisk: isLast) {
        [merged, revision] database, changes -> (Merged, Int64)? in
        guard let written = try piece.write(podcast: podcast, revision: revision, in: database) else {
          return nil
        }
        var merged = merged
        merged.outcome.newEpisodes += written.ids
        merged.leftOut += written.leftOut
        merged.outcome.changedCount += piece.changedIDs.count
        merged.changed += piece.changedIDs
        merged.changesListing = merged.changesListing || piece.changesListing
        if isLast { try finish(database, &changes, merged) }
        return (merged, written.revision)
      }
      guard let written else { return false }
      (merged, revision) = written
    }
    return true
  }
}

extension MergePlan {
  var isEmpty: Bool { updates.isEmpty && additions.isEmpty && replaced.isEmpty }

  /// Takes away the first of it, as much as may be written at once.
  fileprivate mutating func split(episodes: Int, bytes: Int) -> MergePlan {
    var part = self
    var room = bytes
    let cut = { (sizes: [Int], limit: Int) in
      var count = 0
      while count < min(sizes.count, limit), count == 0 || room > 0 {
        room -= sizes[count]
        count += 1
      }
      return count
    }
    let updateCount = cut(updates.prefix(episodes).map(\.item.notesLength), episodes)
    let additionCount = cut(
      additions.prefix(episodes).map(\.item.notesLength),
      updateCount > 0 && room <= 0 ? 0 : episodes - updateCount)
    part.updates = updates.prefix(updateCount)
    part.additions = additions.prefix(additionCount)
    updates = updates.dropFirst(updateCount)
    additions = additions.dropFirst(additionCount)
    replaced = []
    return part
  }
}
