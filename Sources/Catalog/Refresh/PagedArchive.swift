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
  /// The podcast as its refresh left it.
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
    /// Their items, as hashes.
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
    guard case .feed(let document) = answer.content else { throw FeedFailure(status: answer.head, now: now) }
    let isRepeated = document.episodes.filter { walk.seen.insert($0.traits.hashValue).inserted }.isEmpty
    walk.repetitions = isRepeated ? walk.repetitions + 1 : 0
    // Some pages lead back to each other.
    let next = document.nextPageURL.flatMap { [walk] page in
      page.isWeb && !walk.visited.contains(page) && walk.repetitions < Self.mostRepetitions ? page : nil
    }
    var following: WebAddress?
    var isTooLong = false
    let merge = FeedMerge(store: store, podcast: state.id, now: now, isSerial: document.isSerial)
    try merge.merge(document.episodes) { database, changes, merged in
      guard var known = try FeedState(podcast: state.id, in: database) else { return }
      changes += merged.changes(of: state.id)
      if merged.changesListing {
        let old = known.podcast
        known.podcast.changed = wallClockNanoseconds()
        try known.podcast.save(replacing: old, in: database)
      }
      let goesOn = known.archive.readsWhole || !merged.outcome.newEpisodes.isEmpty
      known.archive.bytes += Int64(answer.bytes)
      isTooLong = goesOn && next != nil && known.archive.bytes > limit
      following = goesOn && !isTooLong ? next : nil
      if known.feed.error == known.archive.error { known.feed.error = known.feed.notice }
      known.archive.came(next: following)
      try known.archive.save(in: database)
      try known.feed.save(in: database)
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
      guard var known = try FeedState(podcast: state.id, in: database) else { return false }
      changes.append(.refreshed(podcast: state.id, newEpisodes: 0))
      let former = known.archive.error
      let isEnd = known.archive.failed(failure, now: now)
      if isEnd {
        if known.feed.error == former { known.feed.error = known.feed.notice }
      } else {
        known.feed.error = known.archive.error
      }
      try known.archive.save(in: database)
      try known.feed.save(in: database)
      return isEnd
    }
    if isEnd { log.write("the archive of \(state.feedURL.shown) ends early: \(failure.error.message)") }
  }
}
