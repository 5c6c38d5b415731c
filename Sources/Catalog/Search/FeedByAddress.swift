internal import FeedKit
internal import Glibc
internal import HTTPKit
internal import Identity
package import PodcastModel
package import PosixKit
internal import SQLiteKit

/// What is at an address that a user gave, or at one that a web page there names.
struct FeedAtAddress {
  var document: FetchedFeed
  var answer: FeedAnswer
  var address: WebAddress
  /// Whether the user named the address, rather than a web page.
  var isNamed: Bool

  var podcast: FoundPodcast {
    var podcast = FoundPodcast(feedURL: address, title: address.host ?? "")
    podcast.podcast.take(document)
    podcast.episodeCount = document.episodes.count
    podcast.newest = document.episodes.compactMap(\.traits.published).max()
    podcast.isListed = false
    return podcast
  }
}

extension Catalog {
  /// Feeds of a page that are looked at.
  private static let mostLinks = 5

  /// Looks at addresses, one after the other, until one is a feed's, or that of a web page. Of the feeds that a page names
  /// the first with something to play counts, else the first: it may name a blog's before the podcast's.
  func feed(
    at addresses: [WebAddress], isTyped: Bool, for task: CatalogWork<some Sendable>
  ) throws -> FeedAtAddress {
    func fetch(
      _ address: WebAddress, _ privateHosts: FeedFetcher.PrivateHosts, isNamed: Bool
    ) throws(FeedFailure) -> FeedAtAddress {
      let question = FeedFetcher.Question(
        address: address, privateHosts: privateHosts, now: store.now)
      let answer = try feeds.fetcher.fetch(question) { request in task.onCancel { request.cancel() }
      }
      let document = try answer.feed(now: question.now)
      return FeedAtAddress(document: document, answer: answer, address: address, isNamed: isNamed)
    }
    var failure = FeedFailure(HTTPError(.malformedURL, "not a feed address", .EINVAL))
    for address in addresses {
      do throws(FeedFailure) {
        return try fetch(address, isTyped ? .typed : .untyped, isNamed: true)
      } catch {
        failure = error
      }
      if failure.isCancelled { break }
      if failure.links.isEmpty { continue }
      let privateHosts = isTyped && failure.isFromPrivateHost ? FeedFetcher.PrivateHosts.allowed : .refused
      var found: [FeedAtAddress] = []
      for link in failure.links.prefix(Self.mostLinks) where found.last?.document.episodes.isEmpty ?? true {
        do throws(FeedFailure) {
          let link = FeedCredentials.lent(by: address, to: link)
          found.append(try fetch(link, privateHosts, isNamed: false))
        } catch {
          if error.isCancelled { throw error }
          failure = error
        }
      }
      if let best = found.last.flatMap({ $0.document.episodes.isEmpty ? found.first : $0 }) {
        return best
      }
      break
    }
    throw failure
  }

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
      do {
        let meant = try feedAddress(address, for: task)
        let isTyped = isTyped && meant.mayBePrivate
        let addresses = SubscriptionAddress.typed(meant.address)
        let turn = try turn(at: addresses, task)
        defer { turn.unlock() }
        for address in addresses { try refuseKnown(at: address, isTyped: isTyped) }
        let found = try feed(at: addresses, isTyped: isTyped, for: task)
        if let moved = found.answer.head.permanentLocation {
          try refuseKnown(at: moved, isTyped: false)
        }
        try task.beginCommit()
        task.finish(.success(try subscribe(to: found, as: name, mayBePrivate: isTyped && found.isNamed)))
      } catch {
        let error = CatalogError(wrapping: error)
        // Called off, or followed already, it is no failure for the log.
        if ![.ECANCELED, .EINTR, .EEXIST].contains(error.errno) {
          log.write("cannot subscribe to \(WebAddress(address).shown): \(error)")
        }
        task.finish(.failure(error))
      }
    }
    return task
  }

  /// Waits while another thread or process subscribes to one of these addresses. Its host is then asked only once.
  private func turn(at addresses: [WebAddress], _ task: CatalogWork<ListedPodcast>) throws -> FileDescriptor {
    let key = addresses.first.map(FeedKey.text) ?? ""
    let file = try FileDescriptor(opening: store.path + "-commits", O_RDWR | O_CREAT, mode: 0o600)
    let byte = Int64(CRC32C.checksum(Array(key.utf8)[...]))
    while !file.tryLock(.exclusive, byte: byte) {
      if task.isOver { throw CatalogError.cancelled }
      usleep(10_000)
    }
    return file
  }

  /// Where the user has typed the address of a subscription, it may lead to a private host from now on.
  /// - Throws: EEXIST where there is a subscription at an address.
  private func refuseKnown(at url: WebAddress, isTyped: Bool) throws {
    guard let known = try store.read({ try ListedRow.subscription(at: url, in: $0) }) else {
      return
    }
    if isTyped, known.podcast.lastRefresh == nil {
      try store.change { database, changes in
        try PodcastRecord.change(known.podcast.id, in: database) { podcast in
          (podcast.mayBePrivate, podcast.nextRefresh, podcast.failures) = (true, 0, 0)
        }
        changes.append(.subscription(known.id, podcast: known.podcast.id))
      }
    }
    throw CatalogError.alreadyFollowed(known.name)
  }

  private func subscribe(
    to found: FeedAtAddress, as name: String?, mayBePrivate: Bool
  ) throws -> ListedPodcast {
    let claimedUntil = store.now + FeedRefresher.claimTime
    let (listed, known) = try store.change { database, changes in
      let podcast = try PodcastRecord.recordNamed(
        found.address, title: found.document.title, mayBePrivate: mayBePrivate, in: database)
      let listed = try SubscriptionRows.subscribe(podcast, as: name, or: nil, in: database)
      // A mount that hears of the subscription must not fetch the same feed at the same time.
      try PodcastRecord.change(podcast, in: database) { $0.claimedUntil = claimedUntil }
      changes.append(.subscription(listed.id, podcast: podcast))
      return (listed, try existing("podcast", PodcastRecord.load(podcast, in: database)))
    }
    let refresh = feeds.refresh(of: known, isForced: true)
    do throws(CatalogError) {
      feeds.follow(refresh, announced: try refresh.run(with: found.answer).announced)
    } catch {
      // Another process may have subscribed meanwhile to where the address leads.
      if let moved = found.answer.head.permanentLocation { try refuseKnown(at: moved, isTyped: false) }
      throw CatalogError(
        error.errno,
        "subscribed to \(listed.name), but not all of its episodes could be kept: \(error.message)")
    }
    // With the name that the feed's title has made.
    return try store.read { try ListedRow.subscription(listed.id, in: $0) } ?? listed
  }
}
