internal import FeedKit
internal import PodcastModel
internal import SQLiteKit

/// A feed that says it has moved, by permanent redirects or by `itunes:new-feed-url`. Many say so by mistake
/// or for an hour: it is believed when it has said the same at two refreshes.
struct FeedRelocation: Sendable {
  private enum Decision: Hashable, Sendable {
    case none
    /// Said for the first time, or since too short a time.
    case remember(WebAddress)
    /// Said twice; what came did come from there.
    case follow(WebAddress)
    /// Said twice by the feed alone: what is there must prove to be the same podcast.
    case tryOut(WebAddress)
  }

  private let state: FeedState
  private let now: Int64
  private let decision: Decision
  private let isAnnounced: Bool

  /// Seconds until an address that was not the podcast's is tried again.
  private static let patience: Int64 = 7 * 24 * 3600

  /// - Parameters:
  ///   - announced: by the feed itself.
  ///   - redirected: the end of the permanent redirects that led to the answer.
  init(state: FeedState, announced: WebAddress?, redirected: WebAddress?, now: Int64) {
    self.state = state
    self.now = now
    let redirected = redirected.flatMap { Self.candidate($0, from: state) }
    // Feeds that announce each other do not go to and fro.
    let announced = announced.flatMap { Self.candidate($0, from: state) }.flatMap { address in
      state.keys.dropFirst().contains(FeedKey.text(address)) ? nil : address
    }
    isAnnounced = redirected == nil
    guard let address = redirected ?? announced else {
      decision = .none
      return
    }
    let isSecond = state.movedTo == address && (state.movedSince ?? .max) <= now
    decision = !isSecond ? .remember(address) : redirected != nil ? .follow(address) : .tryOut(address)
  }

  /// Where the same podcast is to be looked for (`tryOut`) when `note` has been committed.
  var trial: WebAddress? {
    if case .tryOut(let address) = decision { return address }
    return nil
  }

  /// Call inside the transaction that stores the answer.
  func note(in feed: inout FeedRecord, _ database: Database, _ changes: inout [CatalogChange]) throws {
    switch decision {
    case .none: (feed.movedTo, feed.movedSince, feed.isAnnounced) = (nil, nil, false)
    case .remember(let address) where address == feed.movedTo:
      _ = try feed.isWhereAFollowedOneIs(address, in: database)
    case .remember(let address):
      (feed.movedTo, feed.movedSince, feed.isAnnounced) = (address, now, isAnnounced)
    case .follow(let address): _ = try feed.move(to: address, in: database, &changes)
    case .tryOut: break
    }
  }

  /// Where a feed may move to, with its credentials where the host stays: never from https to http, from a
  /// public host to one that is private by its name, or to where it is.
  private static func candidate(_ text: WebAddress, from state: FeedState) -> WebAddress? {
    guard
      let address = SubscriptionAddress.normalized(text.forRequest).map({
        FeedCredentials.lent(by: state.feedURL, to: $0)
      }), address != state.feedURL, let host = address.host
    else { return nil }
    if state.feedURL.scheme == "https" && address.scheme != "https" { return nil }
    if PrivateHostName.isPrivate(host) && !state.isPrivate && !state.mayBePrivate { return nil }
    return address
  }
}

// Looking at an address that the feed alone announces.
extension FeedRelocation {
  /// Looks whether the same podcast is at an address that its feed announces, and then goes by that address.
  static func tryOut(
    _ address: WebAddress, of state: FeedState, _ store: CatalogStore, _ fetcher: FeedFetcher, now: Int64
  ) throws {
    let question = FeedFetcher.Question(
      address: address, podcast: state, privateHosts: state.isPrivate ? .allowed : .refused)
    var isMoved = false
    if case .feed(let document)? = try? fetcher.fetch(
      question, now: now, isBackground: true
    ).content, try isSame(document, as: state, at: address, store, now: now) {
      isMoved = try store.change(.refresh) { database, changes in
        try FeedRecord.change(state.id, in: database) { try $0.move(to: address, in: database, &changes) }
          ?? false
      }
    }
    if isMoved { return try Forgetting.finish(store) }
    // What the podcast's own feed announces is not tried again for a while.
    try store.change(.refresh) { database, _ in
      _ = try FeedRecord.change(state.id, in: database) {
        ($0.movedTo, $0.movedSince, $0.isAnnounced) = (address, now + patience, true)
      }
    }
  }

  private static func isSame(
    _ document: FetchedFeed, as state: FeedState, at address: WebAddress, _ store: CatalogStore, now: Int64
  ) throws -> Bool {
    if document.episodes.isEmpty { return false }
    let overlap = try FeedMerge(store: store, podcast: state.id, now: now).overlap(document.episodes)
    if overlap.other == 0 || overlap.common > 0 { return true }
    guard let guid = document.guid, guid == state.guid else { return false }
    return try store.read { database in
      let there = try PodcastRow.other(than: state.id, at: address, in: database)
      return try PodcastRow.isGuid(guid, ofNoneBut: [state.id, there ?? state.id], in: database)
    }
  }
}

extension FeedRecord {
  /// Whether another podcast, which the user follows, has an address. Says so in the error of the podcast that has moved
  /// there: both directories stay.
  fileprivate mutating func isWhereAFollowedOneIs(_ address: WebAddress, in database: Database) throws -> Bool
  {
    guard let listed = try ListedRow.subscription(at: address, in: database),
      listed.podcast.id != podcast
    else { return false }
    error = "has moved to “\(listed.name)”, which you follow"
    return true
  }

  /// Gives the feed another address of the same show, as the user says: one with a new token. The next answer is read
  /// whole, and soon.
  /// - Throws: EEXIST where the user follows another podcast at that address.
  static func readdress(
    _ id: Int64, to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    if let listed = try ListedRow.subscription(at: address, in: database),
      listed.podcast.id != id
    {
      throw CatalogError.alreadyFollowed(listed.name)
    }
    guard var state = try FeedState(podcast: id, in: database) else { throw CatalogError.unknown("podcast") }
    _ = try state.feed.move(to: address, in: database, &changes)
    state.feed.forgetAnswer()
    (state.feed.cameFrom, state.feed.mayBePrivate, state.feed.error) = (nil, true, nil)
    (state.feed.failures, state.feed.nextRefresh, state.feed.notBefore) = (0, nil, nil)
    try state.feed.save(in: database)
    state.archive.nextPage = nil
    try state.archive.save(in: database)
    let old = state.podcast
    state.podcast.isListed = false
    try state.podcast.save(replacing: old, in: database)
  }

  /// Changes the feed's address. Another podcast at that address is forgotten where nobody follows it; searches then show
  /// this one in its place.
  /// - Returns: false where the other podcast is followed: both stay as they are.
  mutating func move(
    to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> Bool {
    if try isWhereAFollowedOneIs(address, in: database) { return false }
    if let other = try PodcastRow.other(than: podcast, at: address, in: database) {
      let searches = try database.all("SELECT search_id FROM result WHERE podcast_id = ?", other) {
        $0.int64(0)
      }
      try database.run("UPDATE OR IGNORE result SET podcast_id = ? WHERE podcast_id = ?", podcast, other)
      try Forgetting.hide(other, in: database, &changes)
      changes += searches.map { .results(search: $0) }
    }
    (movedTo, movedSince, isAnnounced) = (nil, nil, false)
    try FormerAddresses.moved(podcast, from: feedURL, to: address, in: database)
    feedURL = address
    try SubscriptionRows.lineChanged(podcast: podcast, in: database)
    changes.append(.facts(podcast: podcast))
    return true
  }
}
