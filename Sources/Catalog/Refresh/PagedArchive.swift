internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them. The page
/// that is to be read next is kept: where that is interrupted, or a page cannot be had, a later refresh goes on with it.
struct PagedArchive: Sendable {
  let store: CatalogStore
  let fetcher: FeedFetcher
  let log: LogFile
  let state: FeedState
  /// When its refresh began, in seconds since 1970.
  let now: Int64
  /// The most bytes of its pages.
  let limit: Int64

  private static let pageBytes: Int64 = 16 << 20
  private static let mostPages = 5000
  /// Pages in a row that only repeat others, after which the archive counts as read: some lead on for ever.
  private static let mostRepetitions = 3

  private struct Walk {
    var visited: Set<WebAddress> = []
    /// Items, as hashes.
    var seen: Set<Int> = []
    /// Pages in a row that had no item of their own.
    var repetitions = 0
  }

  /// Reads the remaining pages, starting with the stored next page, unless its server has asked to wait.
  func read() throws {
    if let time = state.archive.notBefore, time > store.now { return }
    var walk = Walk()
    var next = state.archive.nextPage
    while let page = next, walk.visited.count < Self.mostPages {
      walk.visited.insert(page)
      do {
        next = try take(try fetch(page), &walk)
      } catch let failure as FeedFailure {
        return try note(failure)
      }
    }
  }

  private func fetch(_ page: WebAddress) throws(FeedFailure) -> FeedAnswer {
    try fetcher.fetch(
      FeedFetcher.Question(
        address: FeedCredentials.lent(by: state.feedURL, to: page), podcast: state,
        privateHosts: state.isPrivate ? .allowed : .refused, bytes: Self.pageBytes, now: now))
  }

  /// - Returns: the page after this one, if it is to be read.
  private func take(_ answer: FeedAnswer, _ walk: inout Walk) throws -> WebAddress? {
    let document = try answer.feed(now: now)
    let isRepeated = document.episodes.filter { walk.seen.insert($0.traits.hashValue).inserted }.isEmpty
    walk.repetitions = isRepeated ? walk.repetitions + 1 : 0
    // Some pages lead back to each other.
    let next = document.webNextPage.flatMap { [walk] page in
      walk.visited.contains(page) || walk.repetitions >= Self.mostRepetitions ? nil : page
    }
    var following: WebAddress?
    var isTooLong = false
    let merge = FeedMerge(store: store, podcast: state.id, now: now, isSerial: document.isSerial)
    try merge.merge(document.episodes) { database, changes, merged in
      changes += merged.changes(of: state.id)
      if merged.changesListing {
        try database.run("UPDATE podcast SET changed = ? WHERE id = ?", wallClockNanoseconds(), state.id)
      }
      try FeedRecord.change(state.id, in: database) { feed in
        feed.changeArchive { archive in
          let goesOn = archive.readsWhole || !merged.outcome.newEpisodes.isEmpty
          archive.bytes += Int64(answer.bytes)
          isTooLong = goesOn && next != nil && archive.bytes > limit
          following = goesOn && !isTooLong ? next : nil
          archive.came(next: following)
        }
      }
    }
    if isTooLong {
      log.write(
        "the archive of \(state.feedURL.shown) has more than \(limit >> 20) MiB: older episodes are left out")
    }
    return following
  }

  /// A failure is said, and the page is asked for again, until it has failed for days.
  private func note(_ failure: FeedFailure) throws {
    if failure.isCancelled { return }
    let isEnd = try store.change(.refresh) { [now = store.now] database, changes in
      changes.append(.refreshed(podcast: state.id, newEpisodes: 0))
      return try FeedRecord.change(state.id, in: database) { feed in
        feed.changeArchive { $0.failed(failure, now: now) }
      }
    }
    if isEnd == true {
      log.write("the archive of \(state.feedURL.shown) ends early: \(failure.error.message)")
    }
  }
}

/// What is known of the further pages that are still to be read.
struct ArchiveState: FieldCoded {
  var nextPage: WebAddress?
  /// Bytes of the pages that have come since the first.
  var bytes: Int64 = 0
  /// It is read up to its end, whether its episodes are known or not.
  var readsWhole = false
  /// How often in a row the next page could not be had.
  var failures = 0
  var error: String?
  /// Until when its server wishes not to be asked for it.
  var notBefore: Int64?

  /// Failures in a row, over some days, after which the archive ends before the page.
  private static let mostFailures = 30

  mutating func code(_ fields: inout BinaryFields) throws(BinaryError) {
    try fields.code(&nextPage, &bytes, &readsWhole)
    try fields.code(&failures, &error, &notBefore)
  }

  /// Stores the address of the second page if later pages may hold new episodes. All pages are read for a new feed, or if
  /// new episodes arrive before the last reading has ended: what is still to be read has moved on to later pages then.
  /// Otherwise reading stops at the first page without new episodes: an item that is pinned to the first page says nothing.
  mutating func note(_ document: FetchedFeed, hasNew: Bool, isFirst: Bool) {
    readsWhole = nextPage != nil && (readsWhole || hasNew) || isFirst
    guard isFirst || hasNew, let next = document.webNextPage else { return }
    (nextPage, bytes, failures, error, notBefore) = (next, 0, 0, nil, nil)
  }

  /// A page has come.
  /// - Parameter next: the page after it; nil at the end.
  mutating func came(next: WebAddress?) {
    nextPage = next
    if next == nil { readsWhole = false }
    (failures, error, notBefore) = (0, nil, nil)
  }

  /// The page could not be had: the next refresh of the feed tries again.
  /// - Returns: whether the archive ends before it.
  mutating func failed(_ failure: FeedFailure, now: Int64) -> Bool {
    failures += 1
    if failures >= Self.mostFailures {
      came(next: nil)
      return true
    }
    error = "older episodes could not be fetched yet: \(failure.error.message)"
    notBefore = RefreshTimes.notBefore(now: now, retryAfter: failure.retryAfter)
    return false
  }
}

extension FetchedFeed {
  fileprivate var webNextPage: WebAddress? { channel.nextPageURL.flatMap { $0.isWeb ? $0 : nil } }
}
