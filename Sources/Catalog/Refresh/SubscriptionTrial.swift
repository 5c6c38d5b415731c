internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Looks at an address that a user gave, then subscribes to the feed that is there.
struct SubscriptionTrial: Sendable {
  let feeds: FeedRefresher
  /// What the user gave.
  let address: String
  let name: String?
  /// The user typed it: it may be on a private network.
  let isTyped: Bool
  let task: CatalogWork<ListedPodcast>

  /// Where a feed is looked for.
  private struct Place {
    var address: WebAddress
    /// By the user, not by a page.
    var isNamed: Bool
    var privateHosts: FeedRefresher.PrivateHosts
    /// Why a private host was refused that may be meant all the same, if it leads nowhere else.
    var refusal: CatalogError?
  }

  /// A feed that was found, and where.
  private struct Found {
    var feed: FetchedFeed
    var answer: FeedAnswer
    var place: Place
  }

  /// Feeds of a page that are looked at.
  private static let mostLinks = 5

  func begin() {
    do throws(CatalogError) {
      let places = SubscriptionAddress.typed(address).compactMap { url in
        url.host.map { host in
          let isPrivate = isTyped && PrivateHostName.isPrivate(host)
          return Place(address: url, isNamed: true, privateHosts: isPrivate ? .allowed : .refused)
        }
      }
      if places.isEmpty { throw CatalogError(.EINVAL, "not a feed address") }
      for place in places {
        if let known = try known(at: place.address) { throw CatalogError.alreadyFollowed(known.name) }
      }
      look(at: places[...])
    } catch {
      fail(error)
    }
  }

  /// The subscription at an address. The user who types it may mean a private host by it from now on.
  private func known(at url: WebAddress) throws(CatalogError) -> ListedPodcast? {
    let known = try feeds.store.read { try SubscriptionRows.subscription(feedURL: url.forRequest, in: $0) }
    guard isTyped, let known, known.podcast.lastRefresh == nil else { return known }
    try feeds.store.change { database, changes in
      try RefreshRows.allowPrivateHosts(known.podcast.id, in: database)
      changes.append(.subscription(known.id, podcast: known.podcast.id))
    }
    return known
  }

  /// Called off, or followed already, it is no failure for the log.
  private func fail(_ error: CatalogError) {
    if ![.ECANCELED, .EINTR, .EEXIST].contains(error.errno) {
      let why = error.message(adviceFor: .subscription)
      feeds.log.write("cannot subscribe to \(WebAddress(address).shown): \(why)")
    }
    task.finish(.failure(error))
  }

  /// Looks at one place after the other, until something to play is found.
  /// - Parameter found: a feed of a place before these, with nothing to play.
  private func look(at places: ArraySlice<Place>, found: Found? = nil) {
    guard let place = places.first else {
      if let found { end(found) }
      return
    }
    let receiver = FeedReceiver { result in
      feeds.threads.run { received(result, from: place, others: places.dropFirst(), found) }
    }
    let request = feeds.feedRequest(place.address, of: nil, privateHosts: place.privateHosts)
    let httpTask = feeds.http.start(request, receiver: receiver)
    task.onCancel { httpTask.cancel() }
  }

  private func received(
    _ result: Result<UnreadAnswer, FeedFailure>, from place: Place, others: ArraySlice<Place>, _ found: Found?
  ) {
    switch result {
    case .failure(let failure)
    where failure.isRefusedAddress && isTyped && place.isNamed && place.privateHosts == .refused:
      var again = place
      again.privateHosts = .allowedWithoutRedirects
      again.refusal = failure.error
      look(at: [again] + others, found: found)
    case .failure(let failure):
      let error = failure.leadsElsewhere ? place.refusal ?? failure.error : failure.error
      goOn(others, found, after: failure.isRefusedAddress ? error.withPrivateAdvice : error)
    case .success(let answer): read(answer, from: place, others: others, found)
    }
  }

  private func read(_ unread: UnreadAnswer, from place: Place, others: ArraySlice<Place>, _ found: Found?) {
    let head = unread.head
    guard unread.body != nil else {
      let host = WebAddress(head.effectiveURL).host ?? "the server"
      return goOn(others, found, after: CatalogError(status: head.status, host: host))
    }
    switch unread.read(
      known: nil, now: wallClockSeconds(), by: feeds.reader, isBehind: false)
    {
    case .success(let answer):
      guard case .feed(let feed) = answer.content else { return }
      let new = Found(feed: feed, answer: answer, place: place)
      // A page may name a blog's feed before the podcast's.
      if feed.episodes.isEmpty, !place.isNamed { return look(at: others, found: found ?? new) }
      end(new)
    case .failure(let failure):
      let links = place.isNamed ? failure.links : []
      if links.isEmpty { return goOn(others, found, after: failure.error) }
      let named = links.prefix(Self.mostLinks).map { link in
        Place(
          address: FeedCredentials.lent(by: place.address, to: link), isNamed: false,
          privateHosts: isTyped && head.isFromPrivateHost ? .allowed : .refused)
      }
      look(at: named[...])
    }
  }

  private func goOn(_ others: ArraySlice<Place>, _ found: Found?, after error: CatalogError) {
    if others.isEmpty, found == nil { fail(error) } else { look(at: others, found: found) }
  }

  private func end(_ found: Found) {
    guard task.beginCommit() else { return }
    task.finish(Result { () throws(CatalogError) in try subscribe(to: found) })
  }

  private func subscribe(to found: Found) throws(CatalogError) -> ListedPodcast {
    let now = wallClockSeconds()
    let renewed = try renewed(by: found, now: now)
    let (listed, state) = try feeds.store.change { database, changes in
      if let renewed, let listed = try ListedRow.subscription(renewed, in: database) {
        let podcast = listed.podcast.id
        try MoveRows.readdress(podcast, to: found.place.address, in: database, &changes)
        try RefreshRows.take(podcast, until: now + FeedRefresher.claimTime, in: database)
        changes.append(.subscription(renewed, podcast: podcast))
        return (listed, try FeedState(podcast: podcast, in: database))
      }
      let podcast = try PodcastRow.recordNamed(
        found.place.address, title: found.feed.title, mayBePrivate: isTyped && found.place.isNamed,
        in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      // A mount that hears of the subscription must not fetch the same feed at the same time.
      try RefreshRows.take(podcast, until: now + FeedRefresher.claimTime, in: database)
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try FeedState(podcast: podcast, in: database))
    }
    guard let state else { return listed }
    let run = RefreshRun(feeds: feeds, state: state, now: now, isForced: true)
    if case .failure(let error) = run.store(found.feed, found.answer) {
      throw CatalogError(
        error.errno,
        "subscribed to \(listed.name), but not all of its episodes could be kept: \(error.message)")
    }
    // With the name that the feed's title has made.
    return try feeds.store.read { try ListedRow.subscription(listed.id, in: $0) } ?? listed
  }

  /// The subscription whose feed this is too, by its episodes, at an address that differs by its token alone.
  private func renewed(by found: Found, now: Int64) throws(CatalogError) -> Int64? {
    try feeds.store.read { database in
      try SubscriptionRows.subscriptions(likeAddress: found.place.address, in: database).first { id in
        guard let podcast = try ListedRow.subscription(id, in: database)?.podcast.id else { return false }
        let known = try KnownEpisodes(podcast: podcast, in: database)
        let both = ShowEvidence.Episodes(of: found.feed.episodes.map(\.traits), and: known.all.map(\.traits))
        return both.areSame(both.common)
      }
    }
  }
}

extension CatalogError {
  /// Of an address in a private network that nobody has typed.
  var withPrivateAdvice: CatalogError {
    CatalogError(errno, "\(message): to follow it all the same, type podcastfs subscribe with its address")
  }
}
