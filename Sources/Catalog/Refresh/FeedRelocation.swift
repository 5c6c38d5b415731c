internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A feed that says it has moved, by permanent redirects or by `itunes:new-feed-url`. Many say so by mistake
/// or for an hour: it is believed when it has said the same at two refreshes.
struct FeedRelocation: Sendable {
  private let address: WebAddress?
  /// By the feed's own word alone: what is there must prove to be the same podcast.
  private let isAnnounced: Bool
  private let isSecond: Bool
  private let now: Int64

  /// Seconds until an address that was not the podcast's is tried again.
  private static let patience: Int64 = 7 * 24 * 3600

  init(state: FeedState, announced: WebAddress?, redirected: WebAddress?, now: Int64) {
    self.now = now
    let redirected = redirected.flatMap { Self.candidate($0, from: state) }
    // Feeds that announce each other do not go to and fro.
    let announced = announced.flatMap { Self.candidate($0, from: state) }.flatMap { address in
      state.keys.dropFirst().contains(FeedKey.text(address)) ? nil : address
    }
    isAnnounced = redirected == nil
    address = redirected ?? announced
    isSecond = address != nil && state.movedTo == address && (state.movedSince ?? .max) <= now
  }

  /// Where the same podcast is to be looked for (`tryOut`) when `note` has been committed.
  var trial: WebAddress? { isSecond && isAnnounced ? address : nil }

  func note(in feed: inout FeedRecord, _ database: Database, _ changes: inout [CatalogChange]) throws {
    guard let address else { return (feed.movedTo, feed.movedSince, feed.isAnnounced) = (nil, nil, false) }
    if isSecond {
      if !isAnnounced { _ = try feed.move(to: address, in: database, &changes) }
    } else if address == feed.movedTo {
      _ = try feed.isWhereAFollowedOneIs(address, in: database)
    } else {
      (feed.movedTo, feed.movedSince, feed.isAnnounced) = (address, now, isAnnounced)
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

  /// Looks whether the same podcast is at an address that its feed announces, and then goes by that address.
  static func tryOut(
    _ address: WebAddress, of state: FeedState, _ store: CatalogStore, _ fetcher: FeedFetcher, now: Int64
  ) throws {
    let question = FeedFetcher.Question(
      address: address, podcast: state, privateHosts: state.isPrivate ? .allowed : .refused,
      now: now)
    var isSame = false
    if case .feed(let document)? = try? fetcher.fetch(question).content {
      isSame = try store.read { try SameShow(document, state.podcast, in: $0).isAnnounced }
    }
    try store.change(.refresh) { database, changes in
      try FeedRecord.change(state.id, in: database) { feed in
        if isSame, try feed.move(to: address, in: database, &changes) { return }
        (feed.movedTo, feed.movedSince, feed.isAnnounced) = (address, now + patience, true)
      }
    }
    try Forgetting.finish(store)
  }
}

extension FeedRecord {
  /// Whether another podcast, which the user follows, has an address. Says so in the error of the podcast that has moved
  /// there: both directories stay.
  fileprivate mutating func isWhereAFollowedOneIs(_ address: WebAddress, in database: Database) throws -> Bool
  {
    guard let listed = try ListedRow.subscription(at: address, in: database), listed.podcast.id != podcast
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
    var state = try existing("podcast", FeedState(podcast: id, in: database))
    if try !state.feed.move(to: address, in: database, &changes) {
      throw CatalogError.alreadyFollowed(try ListedRow.subscription(at: address, in: database)?.name ?? "")
    }
    state.feed.forgetAnswer()
    (state.feed.cameFrom, state.feed.mayBePrivate, state.feed.error) = (nil, true, nil)
    (state.feed.failures, state.feed.nextRefresh, state.feed.notBefore) = (0, nil, nil)
    state.feed.archive.nextPage = nil
    try state.feed.save(in: database)
    let old = state.podcast
    state.podcast.isListed = false
    try state.podcast.save(replacing: old, in: database)
  }

  /// Takes a subscription whose feed has never come for the one that its address leads to for good: a list or another
  /// device may have the old address of a feed.
  /// - Returns: the subscription that it is; nil where the address leads to none.
  static func join(
    _ podcast: Int64, redirected: WebAddress?, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> ListedPodcast? {
    guard let redirected, let feed = try FeedRecord.load(podcast, in: database), feed.isFollowed,
      let listed = try ListedRow.subscription(at: redirected, in: database), listed.podcast.id != podcast
    else { return nil }
    try forget(podcast, for: listed.podcast.id, in: database, &changes)
    try FormerAddresses.add(feed.feedURL, of: listed.podcast.id, in: database)
    changes += try AwaitedReport.apply(toPodcast: listed.podcast.id, now: wallClockSeconds(), in: database)
    return listed
  }

  /// Forgets a podcast that is another one; searches then show that one in its place.
  private static func forget(
    _ other: Int64, for podcast: Int64, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    let searches = try database.numbers("SELECT search_id FROM result WHERE podcast_id = ?", other)
    try database.run("UPDATE OR IGNORE result SET podcast_id = ? WHERE podcast_id = ?", podcast, other)
    try Forgetting.hide(other, in: database, &changes)
    changes += searches.map { .results(search: $0) }
  }

  /// Changes the feed's address. Another podcast at that address is forgotten where nobody follows it; searches then show
  /// this one in its place.
  /// - Returns: false where the other podcast is followed: both stay as they are.
  mutating func move(
    to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> Bool {
    if try isWhereAFollowedOneIs(address, in: database) { return false }
    if let other = try PodcastRecord.other(than: podcast, at: address, in: database) {
      try Self.forget(other, for: podcast, in: database, &changes)
    }
    (self.movedTo, self.movedSince, self.isAnnounced) = (nil, nil, false)
    if FeedKey.text(feedURL) != FeedKey.text(address) {
      try FormerAddresses.add(feedURL, of: podcast, in: database)
    }
    try FormerAddresses.take(address, in: database)
    feedURL = address
    try SubscriptionRows.lineChanged(podcast: podcast, in: database)
    changes.append(.facts(podcast: podcast))
    return true
  }
}

/// Addresses that feeds have moved away from: what the configuration says of them goes on to apply, and no feed that
/// announces one of them is followed back.
enum FormerAddresses {
  /// The key (`FeedKey`) of a podcast's address, then those of its former ones.
  static func keys(of podcast: Int64, in database: Database) throws -> [String] {
    try database.all(
      """
      SELECT feed_key FROM feed WHERE podcast_id = ?1
      UNION ALL SELECT feed_key FROM former_address WHERE podcast_id = ?1
      """, podcast
    ) { $0.string(0) }
  }

  fileprivate static func add(_ address: WebAddress, of podcast: Int64, in database: Database) throws {
    try database.run(
      "INSERT OR REPLACE INTO former_address (feed_key, podcast_id) VALUES (?, ?)", FeedKey.text(address),
      podcast)
  }

  /// An address that a podcast has now is no other one's former address.
  static func take(_ address: WebAddress, in database: Database) throws {
    try database.run("DELETE FROM former_address WHERE feed_key = ?", FeedKey.text(address))
  }
}

/// What speaks for a feed being that of a known podcast: episodes that both have, the title, `podcast:guid`.
struct SameShow: Sendable {
  /// Episodes that both have; and of these, those that have the same guid or address.
  private var (common, certain) = (0, 0)
  private let (items, known): (Int, Int)
  /// nil where one has none.
  private let hasSameTitle: Bool?
  private let hasSameGuid: Bool?

  /// Fewer may be a trailer or a guest's episode, which other shows list too.
  private static let few = 3

  init(_ feed: FetchedFeed, _ podcast: PodcastRecord, in database: Database) throws {
    let known = try KnownEpisodes(podcast: podcast.id, in: database).all.map(\.traits)
    (items, self.known) = (feed.episodes.count, known.count)
    let matches = EpisodeMatcher.match(feed.episodes.map(\.traits), known: known)
    for case .known(_, let rule) in matches {
      common += 1
      if [.unchanged, .guid, .address].contains(rule) { certain += 1 }
    }
    let title = podcast.hasTitle ? podcast.title : nil
    hasSameTitle = title.flatMap { title in feed.title.map { Self.words(title) == Self.words($0) } }
    hasSameGuid = podcast.guid.flatMap { guid in feed.guid.map { $0 == guid } }
  }

  private static func words(_ title: String) -> [Substring] {
    UniqueNames.key(TitleText.line(title)).split { !$0.isLetter && !$0.isNumber }
  }

  /// Half of the episodes of either, where those are a few; or of both.
  private func isMost(_ count: Int) -> Bool {
    count > 0 && count * 2 >= min(items, known) && (count >= Self.few || count * 2 >= max(items, known))
  }

  /// The podcast's own feed announces the address where this feed is.
  var isAnnounced: Bool { items > 0 && (known == 0 || common > 0 || hasSameGuid == true) }

  /// The podcast's address redirects to this feed: a domain may be sold, a hotel show its page first.
  /// - Parameter isOthers: another podcast of the catalogue is there.
  func isRedirected(isOthers: Bool) -> Bool {
    if isMost(certain) { return true }
    if known == 0, hasSameTitle != false || !isOthers { return true }
    return !isOthers && (hasSameGuid == true || hasSameTitle == true && hasSameGuid != false)
  }
}

extension FeedState {
  /// Whether an answer is from where the last feed came from.
  func isFromBefore(_ head: HTTPResponseHead) -> Bool {
    guard let place = head.place else { return true }
    // Some give another signature each time.
    return feed.cameFrom.map { StableAddress.text($0) == StableAddress.text(place) } ?? false
  }

  /// - Returns: why nothing is to be taken of a feed; nil where it is the podcast's.
  func refusal(of document: FetchedFeed, _ head: HTTPResponseHead, _ store: CatalogStore) throws
    -> FeedFailure?
  {
    if isFromBefore(head) { return nil }
    let isSame = try store.read { database in
      let isOthers = try head.redirects.contains {
        try PodcastRecord.other(than: id, at: WebAddress($0.location), in: database) != nil
      }
      return try SameShow(document, podcast, in: database).isRedirected(isOthers: isOthers)
    }
    return isSame ? nil : FeedFailure(anotherShow: document, head: head, of: self)
  }
}
