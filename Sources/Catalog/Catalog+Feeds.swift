package import FeedKit
internal import HTTPKit
internal import PodcastModel
package import PosixKit
internal import SQLiteKit

extension Catalog {
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

  /// - Returns: false where something still is after `seconds`.
  @discardableResult
  package func waitForRefreshes(seconds: Double) -> Bool { feeds.wait(seconds: seconds) }

  /// What of a podcast's feed or archive (RFC 5005) is still missing, in words for a person; nil where it is whole.
  package func missingPages(ofPodcast id: Int64) throws(CatalogError) -> String? {
    try store.read { database in
      guard let feed = try FeedRecord.load(id, in: database) else { return nil }
      return feed.complaint ?? (feed.archive.nextPage == nil ? nil : "older episodes are still to come")
    }
  }

  /// Puts a page of a feed, that did not come by a refresh, into the catalogue.
  package func merge(_ items: [ParsedEpisode], into podcast: Int64, now: Int64) throws(CatalogError) {
    try wrapping {
      let incoming = items.compactMap { IncomingEpisode($0, now: now) }
      try FeedMerge(store: store, podcast: podcast, now: now).merge(incoming) { _, changes, merged in
        changes += merged.changes(of: podcast)
      }
    }
  }
}
