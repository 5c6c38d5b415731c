package import FeedKit
package import PodcastModel
package import PosixKit

// Feeds, over the network.
extension Catalog {
  /// Fetches a podcast's feed and puts what is new into the catalogue. Those who want the same at the same
  /// time share one request.
  /// - Parameters:
  ///   - completion: called once, on any thread, when the first page of the feed is in the catalogue; further
  ///     pages (RFC 5005) come behind. Errors: see `CatalogError`; they are in the podcast's `error` too, and
  ///     what was known stays.
  /// - Returns: cancelling it ends the wait, not the refresh.
  @discardableResult
  package func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void = { _ in }
  ) -> any Cancellable {
    feeds.refresh(podcast: id, cause: cause, completion: completion)
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  @discardableResult
  package func waitForRefreshes(seconds: Double) -> Bool { feeds.waitForRefreshes(seconds: seconds) }

  /// What of a podcast's feed or archive (RFC 5005) is still missing, in words for a person; nil where it is whole.
  package func missingPages(ofPodcast id: Int64) throws(CatalogError) -> String? {
    try store.read { database in
      try FeedRecord.load(id, in: database)?.missing(try ArchiveRecord.load(id, in: database))
    }
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
    let task = CatalogWork(feeds.tasks, completion)
    feeds.perform(on: feeds.foreground) { [feeds] in
      SubscribeByAddress(feeds: feeds, address: address, name: name, isTyped: isTyped, task: task).run()
    }
    return task
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
