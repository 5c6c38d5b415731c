internal import PodcastModel
internal import PosixKit

/// A podcast that has moved to an address: takes it, and where another podcast of the catalogue is there already,
/// makes one of the two, where their episodes say that they are the same.
///
/// One commit notes that they become one (`merges_into`); from then on only the one that stays is asked for. Then the
/// other's episodes go over in pieces, which no verb waits long for, each on its own as good as all: where the process
/// ends meanwhile, the next one goes on. The last commit takes what shows the other podcast.
struct PodcastMerge: Sendable {
  let feeds: FeedRefresher
  let now: Int64

  /// How often another process may be at the same podcasts at the same time.
  private static let tries = 20

  /// - Parameter address: where the podcast has moved for good.
  /// - Returns: false where another podcast is there that is not the same: both stay as they are.
  func merge(_ podcast: Int64, movedTo address: WebAddress) throws -> Bool {
    guard let other = try feeds.store.read({ try PodcastRow.other(than: podcast, at: address, in: $0) })
    else {
      try feeds.store.change(.refresh) { database, changes in
        // Another process may have made one meanwhile: then the next refresh sees it.
        if try PodcastRow.other(than: podcast, at: address, in: database) != nil { return }
        try MoveRows.follow(address, podcast, in: database)
        changes.append(.facts(podcast: podcast))
      }
      return true
    }
    let (survivor, loser) = try survivor(podcast, other)
    let (staying, going) = try episodes(survivor, loser)
    // Who sends to another's feed must not bring episodes of its own into that one's directory.
    guard try isOne(podcast, other, of: going, and: staying) else {
      let name = try feeds.store.read { try FeedState(podcast: podcast, in: $0) }?.feedURL.shown ?? ""
      feeds.log.write("\(name) says that it is now where another podcast is: both stay as they are")
      return false
    }
    let isBegun = try feeds.store.change(.refresh) { database, changes in
      guard try KnownEpisodes.revision(survivor, in: database) == staying.revision,
        try KnownEpisodes.revision(loser, in: database) == going.revision
      else { return false }
      try MergedRows.begin(loser, into: survivor, in: database)
      try MoveRows.follow(address, survivor, in: database)
      try RefreshRows.forgetAnswer(survivor, in: database)
      changes += [.facts(podcast: survivor), .facts(podcast: loser)]
      return true
    }
    // Where one of the two has just changed, the next refresh decides anew.
    if isBegun { try finish(loser) }
    return true
  }

  private func isOne(
    _ podcast: Int64, _ other: Int64, of going: KnownEpisodes, and staying: KnownEpisodes
  ) throws -> Bool {
    let both = [podcast, other]
    let states = try feeds.store.read { database in
      try both.compactMap { try FeedState(podcast: $0, in: database) }
    }
    guard states.count == 2 else { return false }
    var evidence = ShowEvidence(
      episodes: ShowEvidence.Episodes(of: going.all.map(\.traits), and: staying.all.map(\.traits)),
      titles: ShowEvidence.Titles(states[0].title, states[1].title))
    if let guid = states[0].guid, guid == states[1].guid {
      evidence.hasSameGuid = try feeds.store.read { try PodcastRow.isGuid(guid, ofNoneBut: both, in: $0) }
    }
    if evidence.isEnough { return true }
    // Where one has no episode at all there is nothing to be mixed.
    guard going.all.isEmpty || staying.all.isEmpty else { return false }
    return states[1].lastRefresh == nil || evidence.hasSameGuid || evidence.titles == .same
  }

  /// The one that is followed (of two, the one followed first), else the one that moves: its directory stays.
  private func survivor(_ podcast: Int64, _ other: Int64) throws -> (Int64, Int64) {
    let followed = try feeds.store.read { try SubscriptionRows.followed(podcast, or: other, in: $0) }
    return followed == other ? (other, podcast) : (podcast, other)
  }

  private func episodes(_ survivor: Int64, _ loser: Int64) throws -> (KnownEpisodes, KnownEpisodes) {
    try feeds.store.read { database in
      (try KnownEpisodes(podcast: survivor, in: database), try KnownEpisodes(podcast: loser, in: database))
    }
  }

  /// Goes on with all that were begun by a process that has ended.
  func finishAll() throws {
    for loser in try feeds.store.read({ try MergedRows.begun(in: $0) }) { try finish(loser) }
  }

  /// Goes on with a podcast that is to become one with another, to the end.
  func finish(_ loser: Int64) throws {
    for _ in 0..<Self.tries {
      // Nil where another process has ended it.
      guard let survivor = try feeds.store.read({ try MergedRows.target(of: loser, in: $0) }) else { return }
      guard try feeds.store.read({ try PodcastRow.isKnown(survivor, in: $0) }) else {
        return try forget(loser)
      }
      let (staying, going) = try episodes(survivor, loser)
      let moving = MovingEpisodes(store: feeds.store, survivor: survivor, loser: loser)
      if try moving.move(going, to: staying), try end(loser, into: survivor) {
        return feeds.texts.fill()
      }
    }
    throw CatalogError(.EBUSY, "another process keeps changing this podcast")
  }

  /// Whoever forgets the one that stays means the other too.
  private func forget(_ loser: Int64) throws {
    try feeds.store.change(.refresh) { database, changes in
      guard try PodcastRow.isKnown(loser, in: database) else { return }
      try Forgetting.hide(loser, in: database, &changes)
    }
    try Forgetting.finish(feeds.store)
  }

  /// - Returns: false where it has episodes again.
  private func end(_ loser: Int64, into survivor: Int64) throws -> Bool {
    try feeds.store.change(.refresh) { database, changes in
      guard try MergedRows.target(of: loser, in: database) == survivor,
        try PodcastRow.isKnown(survivor, in: database), try !EpisodeRow.isAny(ofPodcast: loser, in: database)
      else { return false }
      var rows = MergedRows(survivor: survivor, loser: loser, database: database)
      try rows.takeResults()
      try rows.takeSubscription()
      try rows.removeLoser()
      try RefreshRows.listingChanged(survivor, in: database)
      changes += [.podcast(survivor), .podcast(loser), .subscriptions, .searches]
      changes += rows.searches.map { .results(search: $0) }
      return true
    }
  }
}
