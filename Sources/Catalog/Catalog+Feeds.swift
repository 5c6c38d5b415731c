package import FeedKit
internal import HTTPKit
package import PodcastModel
package import PosixKit
internal import SQLiteKit

/// Looks at an address that a user gave, then subscribes to the feed that is there, on the thread that runs it.
struct SubscribeByAddress: Sendable {
  let feeds: FeedRefresher
  let address: String
  let name: String?
  /// The user typed it: it may be on a private network.
  let isTyped: Bool
  let task: CatalogWork<ListedPodcast>

  func run() throws(CatalogError) -> ListedPodcast {
    let addresses = SubscriptionAddress.typed(address)
    for address in addresses {
      if let known = try known(at: address) { throw CatalogError.alreadyFollowed(known.name) }
    }
    let found: FeedByAddress.Found
    let lookup = FeedByAddress(feeds: feeds, isTyped: isTyped) { request in
      task.onCancel { request.cancel() }
    }
    do throws(FeedFailure) { found = try lookup.find(addresses) } catch {
      throw error.isCancelled ? .cancelled : error.error
    }
    let moved = found.answer.head.permanentLocation
    if let moved, let known = try feeds.store.read({ try ListedRow.subscription(at: moved, in: $0) }) {
      throw CatalogError.alreadyFollowed(known.name)
    }
    try task.beginCommit()
    return try subscribe(to: found)
  }

  /// The subscription at an address. Where the user has typed the address, it may lead to a private host from now on.
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

  private func subscribe(to found: FeedByAddress.Found) throws(CatalogError) -> ListedPodcast {
    let claimedUntil = feeds.store.now + FeedRefresher.claimTime
    let (listed, state) = try feeds.store.change { database, changes in
      let podcast = try PodcastRecord.recordNamed(
        found.address, title: found.document.title, mayBePrivate: isTyped && found.isNamed, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      // A mount that hears of the subscription must not fetch the same feed at the same time.
      _ = try FeedRecord.change(podcast, in: database) { $0.claimedUntil = claimedUntil }
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try FeedState(podcast: podcast, in: database))
    }
    guard let state else { return listed }
    let refresh = FeedRefresh(feeds, state, isForced: true)
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
        let feed = try feedAddress(address, for: task)
        let subscribing = SubscribeByAddress(
          feeds: feeds, address: feed.address, name: name, isTyped: isTyped && feed.mayBePrivate, task: task)
        task.finish(.success(try subscribing.run()))
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

  /// Fetches a podcast's feed and puts what is new into the catalogue. Callers that ask for the same feed at the same time
  /// share one request.
  /// - Parameter completion: called once, on any thread, when the first page of the feed is in the catalogue; further
  ///   pages (RFC 5005) come behind. Errors: see `CatalogError`; they are in the podcast's `error` too, and
  ///   what was known stays.
  /// - Returns: cancelling it ends the wait, not the refresh.
  @discardableResult
  package func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void = { _ in }
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    feeds.refresh(id, cause, task)
    return task
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  @discardableResult
  package func waitForRefreshes(seconds: Double) -> Bool { feeds.wait(seconds: seconds) }

  /// What of a podcast's feed or archive (RFC 5005) is still missing, in words for a person; nil where it is whole.
  package func missingPages(ofPodcast id: Int64) throws(CatalogError) -> String? {
    try store.read { database in
      let archive = try ArchiveRecord.load(id, in: database)
      if archive.nextPage != nil { return archive.error ?? "older episodes are still to come" }
      return try FeedRecord.load(id, in: database)?.notice
    }
  }

  /// Puts a page of a feed, that did not come by a refresh, into the catalogue.
  package func merge(_ items: [ParsedEpisode], into podcast: Int64, now: Int64) throws(CatalogError) {
    do {
      let incoming = items.compactMap { IncomingEpisode($0, now: now) }
      try FeedMerge(store: store, podcast: podcast, now: now).merge(incoming) { _, changes, merged in
        changes += merged.changes(of: podcast)
      }
    } catch {
      throw CatalogError(wrapping: error)
    }
  }
}
