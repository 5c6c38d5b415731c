internal import HTTPKit
internal import PodcastModel
internal import PosixKit

extension FeedRefresher {
  /// Fetches a podcast's feed and puts what is new into the catalogue. Those who want the same at the same
  /// time share one request.
  /// - Parameters:
  ///   - completion: called once, on any thread, when the first page of the feed is in the catalogue; further
  ///     pages (RFC 5005) come behind. Errors: see `CatalogError`; they are in the podcast's `error` too, and
  ///     what was known stays.
  /// - Returns: cancelling it ends the wait, not the refresh.
  func refresh(
    podcast id: Int64, cause: RefreshCause,
    completion: @escaping @Sendable (Result<RefreshOutcome, CatalogError>) -> Void = { _ in }
  ) -> any Cancellable {
    let task = CatalogWork(tasks, completion)
    let isAwaited = cause == .firstLook || cause == .forced
    let begin = { @Sendable [self] in
      do {
        guard let state = try store.read({ try FeedState(podcast: id, in: $0) }) else {
          throw CatalogError.unknown("podcast")
        }
        let now = wallClockSeconds()
        guard try isWanted(state, cause, now: now) else { return task.finish(.success(.unchanged)) }
        // Before anybody can join it: who waits for the feed must not be sent away with one that does not come.
        if cause == .due {
          if try !claim(id, now: now) { return task.finish(.success(.unchanged)) }
        } else {
          // One that is due leaves it to this one. Where that can't be written, it is fetched twice.
          try? store.write(.refresh) { try RefreshRows.take(id, until: now + Self.claimTime, in: $0) }
        }
        let isFirst: Bool? = table.withLock { $0.isClosed ? nil : $0.join(id, task) }
        guard let isFirst else { throw CatalogError.cancelled }
        if isAwaited { threads.want(id) }
        guard isFirst else { return }
        RefreshRun(feeds: self, state: state, now: now, isForced: cause == .forced).begin()
      } catch {
        task.finish(.failure(CatalogError(wrapping: error)))
      }
    }
    if isAwaited { threads.run(begin) } else { threads.behind.async(begin) }
    return task
  }

  /// Waits until nothing of any refresh of this process is under way, further pages of feeds included.
  /// - Returns: false where something still is after `seconds`.
  func waitForRefreshes(seconds: Double) -> Bool {
    let isOver: Bool? = table.wait(until: .after(seconds)) { table in
      table.activities == 0 || table.isClosed ? true : nil
    }
    return isOver ?? false
  }

  /// - Throws: the last error, where the server has asked not to be asked again yet.
  private func isWanted(_ state: FeedState, _ cause: RefreshCause, now: Int64) throws(CatalogError) -> Bool {
    switch cause {
    case .firstLook where state.lastRefresh != nil, .ahead where state.lastRefresh != nil: return false
    case .firstLook, .ahead:
      if let error = table.withLock({ $0.restingError(of: state.id) }) { throw error }
    case .due where (state.nextRefresh ?? 0) > now: return false
    default: break
    }
    if let notBefore = state.notBefore, notBefore > now {
      throw CatalogError(.EAGAIN, state.error ?? "the server has asked to wait \(notBefore - now) s")
    }
    return true
  }

  /// Keeps other processes from refreshing the same podcast meanwhile.
  /// - Returns: false where one is at it, or has just been.
  private func claim(_ id: Int64, now: Int64) throws(CatalogError) -> Bool {
    try store.write(.refresh) { try RefreshRows.claim(id, now: now, period: Self.claimTime, in: $0) }
  }

  /// Seconds after which a process that claimed a refresh counts as gone.
  static let claimTime = Int64(feedTimeout) + 30

  /// Answers those who wait.
  func finishRefresh(_ id: Int64, _ result: Result<RefreshOutcome, CatalogError>) {
    threads.settle(id)
    let waiters = table.withLock { table in
      table.note(result.failure, of: id)
      return table.end(id)
    }
    for waiter in waiters { waiter.finish(result) }
    scheduler.wake()
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
