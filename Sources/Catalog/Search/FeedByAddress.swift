internal import FeedKit
internal import HTTPKit
package import PodcastModel
package import PosixKit
internal import SQLiteKit

/// Looks at an address that a user gave: it may be a feed's, or that of a web page that names its feed.
struct FeedByAddress: Sendable {
  let feeds: FeedRefresher
  let isTyped: Bool
  let started: @Sendable (any Cancellable) -> Void

  struct Found {
    var document: FetchedFeed
    var answer: FeedAnswer
    var address: WebAddress
    /// Whether the user named the address, rather than a web page.
    var isNamed: Bool
  }

  /// Feeds of a page that are looked at.
  private static let mostLinks = 5

  func find(_ addresses: [WebAddress]) throws -> Found {
    var failure = FeedFailure(HTTPError(.malformedURL, "not a feed address", .EINVAL))
    for address in addresses {
      do throws(FeedFailure) {
        return try fetch(address, isTyped ? .typed : .untyped, isNamed: true)
      } catch {
        if !error.links.isEmpty {
          return try find(error.links, from: address, isPrivate: isTyped && error.isFromPrivateHost)
        }
        if error.isCancelled { throw error }
        failure = error
      }
    }
    throw failure
  }

  /// Looks at the feeds that a page names: it may name a blog's before the podcast's.
  /// - Returns: the first with something to play, else the first.
  private func find(_ links: [WebAddress], from page: WebAddress, isPrivate: Bool) throws -> Found {
    var first: Found?
    var failure = FeedFailure(.cancelled)
    for link in links.prefix(Self.mostLinks) {
      do throws(FeedFailure) {
        let found = try fetch(
          FeedCredentials.lent(by: page, to: link), isPrivate ? .allowed : .refused, isNamed: false)
        if !found.document.episodes.isEmpty { return found }
        first = first ?? found
      } catch {
        if error.isCancelled { throw error }
        failure = error
      }
    }
    guard let first else { throw failure }
    return first
  }

  private func fetch(
    _ address: WebAddress, _ privateHosts: FeedFetcher.PrivateHosts, isNamed: Bool
  ) throws(FeedFailure) -> Found {
    let now = feeds.store.now
    let answer = try feeds.fetcher.fetch(
      FeedFetcher.Question(address: address, privateHosts: privateHosts, now: now), started: started)
    return Found(document: try answer.feed(now: now), answer: answer, address: address, isNamed: isNamed)
  }

  /// The podcast at an address, for a list of results.
  func podcast(at addresses: [WebAddress]) throws -> FoundPodcast {
    let (feed, address) = try { ($0.document, $0.address) }(find(addresses))
    var podcast = FoundPodcast(feedURL: address, title: address.host ?? "")
    podcast.podcast.take(feed)
    podcast.episodeCount = feed.episodes.count
    podcast.newest = feed.episodes.compactMap(\.published).max()
    podcast.isListed = false
    return podcast
  }
}

/// Looks at an address that a user gave, then subscribes to the feed that is there, on the thread that runs it.
private struct SubscribeByAddress: Sendable {
  let feeds: FeedRefresher
  let address: String
  let name: String?
  let isTyped: Bool
  let task: CatalogWork<ListedPodcast>

  func run() throws -> ListedPodcast {
    let addresses = SubscriptionAddress.typed(address)
    for address in addresses { try refuseKnown(at: address, isTyped: isTyped) }
    let lookup = FeedByAddress(feeds: feeds, isTyped: isTyped) { request in
      task.onCancel { request.cancel() }
    }
    let found = try lookup.find(addresses)
    if let moved = found.answer.head.permanentLocation { try refuseKnown(at: moved, isTyped: false) }
    try task.beginCommit()
    return try subscribe(to: found)
  }

  /// Where the user has typed the address of a subscription, it may lead to a private host from now on.
  /// - Throws: EEXIST where there is a subscription at an address.
  private func refuseKnown(at url: WebAddress, isTyped: Bool) throws {
    guard let known = try feeds.store.read({ try ListedRow.subscription(at: url, in: $0) }) else { return }
    if isTyped, known.podcast.lastRefresh == nil {
      try feeds.store.change { database, changes in
        try FeedRecord.change(known.podcast.id, in: database) { feed in
          (feed.mayBePrivate, feed.nextRefresh, feed.failures) = (true, 0, 0)
        }
        changes.append(.subscription(known.id, podcast: known.podcast.id))
      }
    }
    throw CatalogError.alreadyFollowed(known.name)
  }

  private func subscribe(to found: FeedByAddress.Found) throws -> ListedPodcast {
    let claimedUntil = feeds.store.now + FeedRefresher.claimTime
    let (listed, state) = try feeds.store.change { database, changes in
      let podcast = try PodcastRecord.recordNamed(
        found.address, title: found.document.title, mayBePrivate: isTyped && found.isNamed, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      // A mount that hears of the subscription must not fetch the same feed at the same time.
      try FeedRecord.change(podcast, in: database) { $0.claimedUntil = claimedUntil }
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try existing("podcast", FeedState(podcast: podcast, in: database)))
    }
    let refresh = feeds.refresh(of: state, isForced: true)
    do {
      feeds.follow(refresh, announced: try refresh.take(found.document, found.answer).announced)
    } catch {
      let error = CatalogError(wrapping: error)
      throw CatalogError(
        error.errno,
        "subscribed to \(listed.name), but not all of its episodes could be kept: \(error.message)")
    }
    // With the name that the feed's title has made.
    return try feeds.store.read { try ListedRow.subscription(listed.id, in: $0) } ?? listed
  }
}

extension Catalog {
  /// Subscribes to whatever a user gives as an address: a feed's, with any scheme of podcast programs, or
  /// that of a web page that names its feed. It is fetched first, so that nothing is subscribed to that is no
  /// feed, and so that its title names the directory.
  /// - Parameters:
  ///   - name: the directory's; nil for the podcast's title.
  ///   - isTyped: the user has typed the address, or written it into the configuration: it may be on a private network.
  ///     One that a web page or another program has given may not.
  ///   - completion: called once, on any thread. Errors: EINVAL for no address, EEXIST where the name is taken
  ///     or the podcast is subscribed to already, and those of a refresh. Where the catalogue's file fails amid the
  ///     episodes, those that came before stay, and so does the subscription.
  @discardableResult
  package func subscribe(
    address: String, name: String? = nil, isTyped: Bool = true,
    completion: @escaping @Sendable (Result<ListedPodcast, CatalogError>) -> Void
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    feeds.perform { [self] in
      do throws(CatalogError) {
        task.finish(
          .success(
            try wrapping {
              let feed = try feedAddress(address, for: task)
              return try SubscribeByAddress(
                feeds: feeds, address: feed.address, name: name, isTyped: isTyped && feed.mayBePrivate,
                task: task
              ).run()
            }))
      } catch {
        // Called off, or followed already, it is no failure for the log.
        if ![.ECANCELED, .EINTR, .EEXIST].contains(error.errno) {
          log.write("cannot subscribe to \(WebAddress(address).shown): \(error)")
        }
        task.finish(.failure(error))
      }
    }
    return task
  }
}
