internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit

/// Looks at an address that a user gave, then subscribes to the feed that is there, on the thread that runs it.
struct SubscribeByAddress: Sendable {
  let feeds: FeedRefresher
  /// What the user gave.
  let address: String
  let name: String?
  /// The user typed it: it may be on a private network.
  let isTyped: Bool
  let task: CatalogWork<ListedPodcast>

  /// A feed that was found, and where.
  private struct Found {
    var document: FetchedFeed
    var answer: FeedAnswer
    var address: WebAddress
    /// By the user, not by a page.
    var isNamed: Bool
  }

  /// Feeds of a page that are looked at.
  private static let mostLinks = 5

  func run() {
    do throws(CatalogError) {
      let addresses = SubscriptionAddress.typed(address)
      if addresses.isEmpty { throw CatalogError(.EINVAL, "not a feed address") }
      for address in addresses {
        if let known = try known(at: address) { throw CatalogError.alreadyFollowed(known.name) }
      }
      let found = try find(addresses)
      try task.beginCommit()
      task.finish(.success(try subscribe(to: found)))
    } catch {
      // Called off, or followed already, it is no failure for the log.
      if ![.ECANCELED, .EINTR, .EEXIST].contains(error.errno) {
        let why = error.message(adviceFor: .subscription)
        feeds.log.write("cannot subscribe to \(WebAddress(address).shown): \(why)")
      }
      task.finish(.failure(error))
    }
  }

  /// The subscription at an address. The user who types it may mean a private host by it from now on.
  private func known(at url: WebAddress) throws(CatalogError) -> ListedPodcast? {
    let known = try feeds.store.read { try ListedRow.subscription(at: url, in: $0) }
    guard isTyped, let known, known.podcast.lastRefresh == nil else { return known }
    try feeds.store.change { database, changes in
      _ = try FeedRecord.change(known.podcast.id, in: database) { feed in
        (feed.mayBePrivate, feed.nextRefresh, feed.failures) = (true, 0, 0)
      }
      changes.append(.subscription(known.id, podcast: known.podcast.id))
    }
    return known
  }

  /// Looks at one address after the other, until a feed is found.
  private func find(_ addresses: [WebAddress]) throws(CatalogError) -> Found {
    var failure: FeedFailure?
    for address in addresses {
      do throws(FeedFailure) { return try look(at: address) } catch {
        if error.isCancelled { throw .cancelled }
        failure = error
      }
    }
    throw failure?.error ?? CatalogError(.EINVAL, "not a feed address")
  }

  private func look(at address: WebAddress) throws(FeedFailure) -> Found {
    let isPrivateName = isTyped && address.host.map(PrivateHostName.isPrivate) ?? false
    var question = FeedFetcher.Question(address: address, privateHosts: isPrivateName ? .allowed : .refused)
    let unread: UnreadAnswer
    do {
      unread = try ask(question)
    } catch {
      guard error.isRefusedAddress, question.privateHosts == .refused else { throw error }
      if !isTyped { throw error.withPrivateAdvice }
      // An ordinary name may mean a private host all the same, if it leads nowhere else.
      question.privateHosts = .allowedWithoutRedirects
      do { unread = try ask(question) } catch let second { throw second.leadsElsewhere ? error : second }
    }
    do {
      return try found(unread, at: address, isNamed: true)
    } catch {
      if error.links.isEmpty { throw error }
      return try look(at: error.links, from: address, isPrivate: isTyped && unread.head.isFromPrivateHost)
    }
  }

  /// Looks at the feeds that a page names: it may name a blog's before the podcast's.
  /// - Returns: the first with something to play, else the first.
  private func look(
    at links: [WebAddress], from page: WebAddress, isPrivate: Bool
  ) throws(FeedFailure) -> Found {
    var first: Found?
    var failure: FeedFailure?
    for link in links.prefix(Self.mostLinks) {
      let address = FeedCredentials.lent(by: page, to: link)
      let question = FeedFetcher.Question(address: address, privateHosts: isPrivate ? .allowed : .refused)
      do throws(FeedFailure) {
        let found = try found(try ask(question), at: address, isNamed: false)
        if !found.document.episodes.isEmpty { return found }
        first = first ?? found
      } catch {
        if error.isCancelled { throw error }
        failure = error
      }
    }
    if let first { return first }
    throw failure ?? FeedFailure(CatalogError.cancelled)
  }

  private func ask(_ question: FeedFetcher.Question) throws(FeedFailure) -> UnreadAnswer {
    try feeds.fetcher.ask(question) { request in task.onCancel { request.cancel() } }
  }

  private func found(
    _ unread: UnreadAnswer, at address: WebAddress, isNamed: Bool
  ) throws(FeedFailure) -> Found {
    let answer = try feeds.fetcher.read(unread, now: feeds.store.now, isBackground: false)
    guard case .feed(let document) = answer.content else {
      throw FeedFailure(status: answer.head, now: feeds.store.now)
    }
    return Found(document: document, answer: answer, address: address, isNamed: isNamed)
  }

  private func subscribe(to found: Found) throws(CatalogError) -> ListedPodcast {
    let claimedUntil = feeds.store.now + FeedRefresher.claimTime
    let renewed = try renewed(by: found)
    let (listed, state) = try feeds.store.change { database, changes in
      if let renewed, let listed = try ListedRow.subscription(renewed, in: database) {
        let podcast = listed.podcast.id
        try FeedRecord.readdress(podcast, to: found.address, in: database, &changes)
        _ = try FeedRecord.change(podcast, in: database) { $0.claimedUntil = claimedUntil }
        changes.append(.subscription(renewed, podcast: podcast))
        return (listed, try FeedState(podcast: podcast, in: database))
      }
      let podcast = try PodcastRow.recordNamed(
        found.address, title: found.document.title, mayBePrivate: isTyped && found.isNamed, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      // A mount that hears of the subscription must not fetch the same feed at the same time.
      _ = try FeedRecord.change(podcast, in: database) { $0.claimedUntil = claimedUntil }
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try FeedState(podcast: podcast, in: database))
    }
    guard let state else { return listed }
    let refresh = feeds.refreshing(state, isForced: true, isBackground: false)
    do {
      let result = try refresh.take(found.document, found.answer)
      feeds.follow(refresh, announced: result.announced)
    } catch {
      let error = CatalogError(wrapping: error)
      throw CatalogError(
        error.errno,
        "subscribed to \(listed.name), but not all of its episodes could be kept: \(error.message)")
    }
    // With the name that the feed's title has made.
    return try feeds.store.read { try ListedRow.subscription(listed.id, in: $0) } ?? listed
  }

  /// The subscription whose feed this is too, at an address that differs by its token alone. Its title must be the same,
  /// and most episodes must have the same files: a host may tell a show's audio and video apart by a token alone, with
  /// the same guids.
  private func renewed(by found: Found) throws(CatalogError) -> Int64? {
    try feeds.store.read { database in
      let key = FeedKey.text(WebAddress(found.address.shown))
      let like = try ListedRow.subscriptions(in: database).filter {
        FeedKey.text(WebAddress($0.podcast.feedURL.shown)) == key
      }
      return try like.map(\.id).first { id in
        guard let podcast = try ListedRow.subscription(id, in: database)?.podcast.id,
          let state = try FeedState(podcast: podcast, in: database)
        else { return false }
        let titles = ShowEvidence.Titles(state.hasTitle ? state.title : nil, found.document.title)
        guard titles == .same || titles == .unknown else { return false }
        let known = try KnownEpisodes(podcast: podcast, in: database)
        let both = ShowEvidence.Episodes(
          of: found.document.episodes.map(\.traits), and: known.all.map(\.traits))
        return both.areSame(both.sameFile)
      }
    }
  }
}
