internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// A feed that says it has moved, by permanent redirects or by `itunes:new-feed-url`. Many say so by mistake
/// or for an hour: it is believed when it has said the same at two refreshes.
struct FeedMove: Sendable {
  private var address: WebAddress?
  /// By the feed's own word alone: what is there must prove to be the same podcast.
  private var isAnnounced = false
  private var isSecond = false
  private let now: Int64

  /// Seconds until an address that was not the podcast's is tried again.
  static let patience: Int64 = 7 * 24 * 3600

  /// - Parameter keys: of the feed's address and of its former ones.
  init(of feed: PodcastRecord, _ keys: [String], announced: WebAddress?, redirected: WebAddress?, now: Int64)
  {
    self.now = now
    address = redirected.flatMap { Self.candidate($0, from: feed) }
    if address == nil, let announced = announced.flatMap({ Self.candidate($0, from: feed) }),
      // Feeds that announce each other do not go to and fro.
      !keys.dropFirst().contains(FeedKey.text(announced))
    {
      (address, isAnnounced) = (announced, true)
    }
    isSecond = address != nil && feed.movedTo == address && (feed.movedSince ?? .max) <= now
  }

  /// Where the same podcast is to be looked for when `note` has been committed.
  var trial: WebAddress? { isSecond && isAnnounced ? address : nil }

  func note(in feed: inout PodcastRecord, _ database: Database, _ changes: inout [CatalogChange]) throws {
    if isSecond, let address {
      if !isAnnounced { _ = try feed.move(to: address, in: database, &changes) }
    } else if let address, address == feed.movedTo {
      _ = try feed.isWhereAFollowedOneIs(address, in: database)
    } else {
      (feed.movedTo, feed.movedSince, feed.isAnnounced) = (address, address.map { _ in now }, isAnnounced)
    }
  }

  /// Where a feed may move to, with its credentials where the host stays: never from https to http, from a
  /// public host to one that is private by its name, or to where it is.
  private static func candidate(_ text: WebAddress, from feed: PodcastRecord) -> WebAddress? {
    guard
      let address = SubscriptionAddress.normalized(text.forRequest).map({
        FeedCredentials.lent(by: feed.feedURL, to: $0)
      }), address != feed.feedURL, let host = address.host,
      feed.feedURL.scheme != "https" || address.scheme == "https",
      feed.allowsPrivateHosts || feed.mayBePrivate || !PrivateHostName.isPrivate(host)
    else { return nil }
    return address
  }
}

extension PodcastRecord {
  /// Whether another podcast, which the user follows, has an address. Says so in the error of the podcast that has moved
  /// there: both directories stay.
  fileprivate mutating func isWhereAFollowedOneIs(_ address: WebAddress, in database: Database) throws -> Bool
  {
    guard let listed = try ListedRow.subscription(at: address, in: database), listed.podcast.id != self.id
    else { return false }
    self.error = "has moved to “\(listed.name)”, which you follow"
    return true
  }

  /// Changes the feed's address. Another podcast at that address is forgotten where nobody follows it; searches then show
  /// this one in its place.
  /// - Returns: false where the other podcast is followed: both stay as they are.
  mutating func move(
    to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> Bool {
    if try isWhereAFollowedOneIs(address, in: database) { return false }
    if let other = try Self.other(than: self.id, at: address, in: database) {
      try Self.forget(other, for: self.id, in: database, &changes)
    }
    (self.movedTo, self.movedSince, self.isAnnounced) = (nil, nil, false)
    try Self.addFormerAddress(self.feedURL, of: self.id, in: database)
    try database.run("DELETE FROM former_address WHERE feed_key = ?", FeedKey.text(address))
    self.feedURL = address
    try SubscriptionRows.lineChanged(podcast: self.id, in: database)
    changes.append(.facts(podcast: self.id))
    return true
  }

  /// Takes a subscription whose feed has never come for the one that its address leads to for good: a list or another
  /// device may have the old address of a feed.
  /// - Returns: the subscription that it is; nil where the address leads to none.
  static func join(
    _ id: Int64, redirected: WebAddress?, in database: Database, _ changes: inout [CatalogChange]
  ) throws -> ListedPodcast? {
    guard let redirected, let old = try load(id, in: database), old.isFollowed,
      let listed = try ListedRow.subscription(at: redirected, in: database), listed.podcast.id != id
    else { return nil }
    try forget(id, for: listed.podcast.id, in: database, &changes)
    try addFormerAddress(old.feedURL, of: listed.podcast.id, in: database)
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

  private static func addFormerAddress(_ address: WebAddress, of podcast: Int64, in database: Database) throws
  {
    try database.run(
      "INSERT OR REPLACE INTO former_address (feed_key, podcast_id) VALUES (?, ?)", FeedKey.text(address),
      podcast)
  }

  /// Gives the feed another address of the same show, as the user says: one with a new token. The next answer is read
  /// whole, and soon.
  /// - Throws: EEXIST where the user follows another podcast at that address.
  mutating func readdress(
    to address: WebAddress, in database: Database, _ changes: inout [CatalogChange]
  ) throws {
    if try !move(to: address, in: database, &changes) {
      throw CatalogError.alreadyFollowed(try ListedRow.subscription(at: address, in: database)?.name ?? "")
    }
    forgetAnswer()
    (self.cameFrom, mayBePrivate, self.error) = (nil, true, nil)
    (failures, self.nextRefresh, self.notBefore) = (0, nil, nil)
    (self.archive.nextPage, self.isListed) = (nil, false)
  }

  /// Whether an answer is from where the last feed came from.
  func isFromBefore(_ head: HTTPResponseHead) -> Bool {
    guard let place = head.place else { return true }
    // Some give another signature each time.
    return self.cameFrom.map { StableAddress.text($0) == StableAddress.text(place) } ?? false
  }
}

/// What speaks for a feed being that of a known podcast: episodes that both have, the title, `podcast:guid`.
struct SameShow: Sendable {
  /// Episodes that both have; and of these, those that have the same guid or address.
  private let (common, certain): (Int, Int)
  private let (items, known): (Int, Int)
  /// nil where one has none.
  private let hasSameTitle: Bool?
  private let hasSameGuid: Bool?

  /// Fewer may be a trailer or a guest's episode, which other shows list too.
  private static let few = 3

  init(_ feed: FetchedFeed, _ podcast: PodcastRecord, in database: Database) throws {
    let known = try EpisodeRows.all(ofPodcast: podcast.id, in: database) as [EpisodeRecord]
    (items, self.known) = (feed.episodes.count, known.count)
    let matches = EpisodeMatcher.match(feed.episodes.map(\.traits), known: known.map(\.traits))
    let rules = matches.compactMap { match in if case .known(_, let rule) = match { rule } else { nil } }
    (common, certain) = (rules.count, rules.count { [.unchanged, .guid, .address].contains($0) })
    let words = { (title: String) in
      UniqueNames.key(TitleText.line(title)).split { !$0.isLetter && !$0.isNumber }
    }
    let title = podcast.hasTitle ? podcast.title : nil
    hasSameTitle = title.flatMap { title in feed.title.map { words(title) == words($0) } }
    hasSameGuid = podcast.guid.flatMap { guid in feed.guid.map { $0 == guid } }
  }

  /// The podcast's own feed announces the address where this feed is.
  var isAnnounced: Bool { items > 0 && (known == 0 || common > 0 || hasSameGuid == true) }

  /// The podcast's address redirects to this feed: a domain may be sold, a hotel show its page first.
  /// - Parameter isOthers: another podcast of the catalogue is there.
  func isRedirected(isOthers: Bool) -> Bool {
    // Half of the episodes of either, where those are a few; or of both.
    let isMost =
      certain > 0 && certain * 2 >= min(items, known)
      && (certain >= Self.few || certain * 2 >= max(items, known))
    if isMost || known == 0 && (hasSameTitle != false || !isOthers) { return true }
    return !isOthers && (hasSameGuid == true || hasSameTitle == true && hasSameGuid != false)
  }
}
