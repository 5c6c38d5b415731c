internal import FeedKit
internal import HTTPKit
internal import Identity
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

extension FeedRefresh {
  private static let pageBytes: Int64 = 16 << 20
  private static let mostPages = 5000
  /// Pages in a row that only repeat others, after which the archive counts as read: some lead on for ever.
  private static let mostRepetitions = 3

  /// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them, unless
  /// their server has asked to wait. The page that is to be read next is kept: where that is interrupted, or a page cannot
  /// be had, a later refresh goes on with it.
  /// - Parameter limit: the most bytes of its pages.
  func readArchive(limit: Int64) throws {
    if let time = podcast.archive.notBefore, time > store.now { return }
    var visited: Set<WebAddress> = []
    // Items, as hashes.
    var seen: Set<Int> = []
    var repetitions = 0
    var next = podcast.archive.nextPage
    while let page = next, visited.count < Self.mostPages {
      visited.insert(page)
      do {
        let address = FeedCredentials.lent(by: podcast.feedURL, to: page)
        let answer = try askElsewhere(address, bytes: Self.pageBytes)
        let document = try answer.feed(now: now)
        let isRepeated = document.episodes.filter { seen.insert($0.traits.hashValue).inserted }.isEmpty
        repetitions = isRepeated ? repetitions + 1 : 0
        next = document.webNextPage
        // Some pages lead back to each other.
        if next.map(visited.contains) == true || repetitions >= Self.mostRepetitions { next = nil }
        next = try take(document, bytes: answer.bytes, next: next, limit: limit)
      } catch let failure as FeedFailure {
        return try note(failure)
      }
    }
  }

  private func take(_ document: FetchedFeed, bytes: Int, next: WebAddress?, limit: Int64) throws
    -> WebAddress?
  {
    var following: WebAddress?
    var isTooLong = false
    let merge = FeedMerge(store: store, podcast: podcast.id, now: now, isSerial: document.isSerial)
    try merge.merge(document.episodes) { database, changes, merged in
      changes += merged.changes(of: podcast.id)
      try PodcastRecord.change(podcast.id, in: database) { podcast in
        if merged.changesListing { podcast.changed = wallClockNanoseconds() }
        podcast.changeArchive { archive in
          let goesOn = archive.readsWhole || !merged.outcome.newEpisodes.isEmpty
          archive.bytes += Int64(bytes)
          isTooLong = goesOn && next != nil && archive.bytes > limit
          following = goesOn && !isTooLong ? next : nil
          archive.came(next: following)
        }
      }
    }
    if isTooLong {
      log.write(
        "the archive of \(podcast.feedURL.shown) has more than \(limit >> 20) MiB: older episodes are left out"
      )
    }
    return following
  }

  /// A failure is said, and the page is asked for again, until it has failed for days.
  private func note(_ failure: FeedFailure) throws {
    if failure.isCancelled { return }
    let isEnd = try store.change(.refresh) { [now = store.now] database, changes in
      changes.append(.refreshed(podcast: podcast.id, newEpisodes: 0))
      return try PodcastRecord.change(podcast.id, in: database) { podcast in
        podcast.changeArchive { $0.failed(failure, now: now) }
      }
    }
    if isEnd == true {
      log.write("the archive of \(podcast.feedURL.shown) ends early: \(failure.error.message)")
    }
  }
}

/// What is known of the further pages that are still to be read.
struct ArchiveState: FieldCoded, Equatable {
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
