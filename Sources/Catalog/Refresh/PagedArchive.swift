internal import FeedKit
internal import HTTPKit
internal import PodcastModel
internal import PosixKit
internal import SQLiteKit

/// Reads the further pages of a paged feed (RFC 5005), one after the other, behind the refresh that found them. The page
/// that is to be read next is kept: where that is interrupted, or a page cannot be had, a later refresh goes on with it.
struct PagedArchive: Sendable {
  let store: CatalogStore
  let fetcher: FeedFetcher
  let log: LogFile
  let podcast: Int64
  /// When its refresh began, in seconds since 1970.
  let now: Int64
  /// A person has asked for it.
  let isForced: Bool
  /// The most bytes of its pages.
  let limit: Int64

  /// Reads the remaining pages, starting with the stored next page, if its waiting time is over. A refresh that a person
  /// asked for ignores that time, but never the server's Retry-After.
  func read() throws {
    var pages = PagesRead()
    let now = store.now
    guard let state = try store.read({ try FeedState(podcast: podcast, in: $0) }),
      (state.archive.retryAfter ?? 0) <= now, isForced || (state.archive.notBefore ?? 0) <= now
    else { return }
    var next = state.archive.nextPage
    while let page = next, !pages.areEnough {
      pages.begin(page)
      do throws(FeedFailure) {
        let answer = try fetch(page, of: state)
        next = try take(answer, of: state, &pages)
      } catch {
        return try note(error, of: state)
      }
    }
  }

  private func fetch(_ page: WebAddress, of state: FeedState) throws(FeedFailure) -> FeedAnswer {
    let question = FeedFetcher.Question(
      address: FeedCredentials.lent(by: state.feedURL, to: page), podcast: state,
      privateHosts: state.isPrivate ? .allowed : .refused, bytes: PagesRead.pageBytes)
    return try fetcher.fetch(question, now: now, isBackground: true)
  }

  /// - Returns: the page after this one, if it is to be read.
  private func take(
    _ answer: FeedAnswer, of state: FeedState, _ pages: inout PagesRead
  ) throws(FeedFailure) -> WebAddress? {
    guard case .feed(let document) = answer.content else { throw FeedFailure(status: answer.head, now: now) }
    do {
      if !answer.head.redirects.isEmpty,
        let known = try store.read({ try FeedState(podcast: podcast, in: $0) }),
        let refusal = try RedirectedFeed(
          feed: document, head: answer.head, state: known, store: store, now: now
        ).refusalOfPage()
      {
        throw refusal
      }
      if let cut = answer.cut {
        // What has come of it stays, and the page is asked for again.
        try merge(of: document).merge(document.episodes) {
          _, changes, merged in
          changes += merged.changes(of: podcast)
        }
        throw FeedFailure(cut)
      }
      return try store(document, bytes: answer.bytes, of: state, &pages)
    } catch let failure as FeedFailure {
      throw failure
    } catch {
      // Where the catalogue's file fails, the next refresh reads the page again.
      return nil
    }
  }

  private func merge(of document: FetchedFeed) -> FeedMerge {
    FeedMerge(store: store, podcast: podcast, now: now, isSerial: document.isSerial)
  }

  private func store(
    _ document: FetchedFeed, bytes: Int, of state: FeedState, _ pages: inout PagesRead
  ) throws -> WebAddress? {
    let next = pages.add(document.episodes.lazy.map(\.parsed), next: document.nextPageURL)
    // Of very many pages, a refresh in a while reads on.
    let soon = pages.areEnough ? store.now + ArchiveRecord.patience : nil
    var following: WebAddress?
    var isTooLong = false
    try merge(of: document).merge(document.episodes) {
      database, changes, merged in
      guard var state = try FeedState(podcast: podcast, in: database) else { return }
      let goesOn = state.archive.readsWhole || !merged.outcome.newEpisodes.isEmpty
      state.archive.bytes += Int64(bytes)
      isTooLong = goesOn && next != nil && state.archive.bytes > limit
      following = goesOn && !isTooLong && merged.leftOut == 0 ? next : nil
      if state.feed.error == state.archive.error { state.feed.error = state.feed.notice }
      state.archive.came(next: following)
      if following != nil, let soon { state.feed.nextRefresh = min(state.feed.nextRefresh ?? soon, soon) }
      if state.feed.error == nil, merged.leftOut > 0 { state.feed.error = EpisodeNumbers.fullMessage }
      changes += merged.changes(of: podcast)
      if merged.changesListing {
        let old = state.podcast
        state.podcast.changed = wallClockNanoseconds()
        try state.podcast.save(replacing: old, in: database)
      }
      try state.archive.save(in: database)
      try state.feed.save(in: database)
    }
    if isTooLong {
      log.write(
        "the archive of \(state.feedURL.shown) has more than \(limit >> 20) MiB: older episodes are left out")
    }
    return following
  }

  /// A failure is said, and the page is asked for again: one that is not there on some other days, before that is taken for
  /// the archive's end.
  private func note(_ failure: FeedFailure, of state: FeedState) throws {
    if failure.isCancelled { return }
    let now = store.now
    let isEnd = try store.change(.refresh) { database, changes in
      guard var state = try FeedState(podcast: podcast, in: database) else { return false }
      changes.append(.refreshed(podcast: podcast, newEpisodes: 0))
      let former = state.archive.error
      let isEnd = state.archive.failed(failure, now: now)
      if isEnd {
        if state.feed.error == former { state.feed.error = state.feed.notice }
      } else {
        state.feed.error = state.archive.error
        let time = state.archive.notBefore ?? now
        state.feed.nextRefresh = min(state.feed.nextRefresh ?? time, time)
      }
      try state.archive.save(in: database)
      try state.feed.save(in: database)
      return isEnd
    }
    if isEnd { log.write("the archive of \(state.feedURL.shown) ends early: \(failure.error.message)") }
  }
}
