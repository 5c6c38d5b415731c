internal import PosixKit

/// The threads that parse and merge feeds. What somebody waits for has some of its own: feeds that are slow to parse and
/// that nobody waits for, some of which always come at once, hold up each other only.
final class FeedThreads: Sendable {
  /// What nobody waits for: refreshes that are due, further pages, the full-text index.
  let behind: WorkQueue
  private let wanted: WorkQueue
  private let state = Monitor(State())

  private struct State: ~Copyable {
    /// Podcasts that somebody waits for.
    var isWanted: Set<Int64> = []
    /// What is to be done behind, and has not begun.
    var waiting: [Int64: [OnceOnly]] = [:]
  }

  init() {
    behind = WorkQueue(name: "catalog-feeds", threads: 2, courtesy: Self.courtesy)
    // More than there are processors: a feed that somebody has opened may be a slow one too.
    wanted = WorkQueue(name: "catalog-looks", threads: 3)
  }

  /// A third of what others get of a processor: who has listed a new folder reads it while its words are indexed.
  private static let courtesy: Int32 = 5

  /// For what somebody waits for.
  func run(_ body: @escaping @Sendable () -> Void) { wanted.async(body) }

  /// For one podcast: first among what is behind as soon as somebody waits for it.
  /// - Parameter body: is told whether nobody did when it began.
  func run(for podcast: Int64, _ body: @escaping @Sendable (_ isBehind: Bool) -> Void) {
    let work = OnceOnly(body)
    let isWanted = state.withLock { state in
      if !state.isWanted.contains(podcast) { state.waiting[podcast, default: []].append(work) }
      return state.isWanted.contains(podcast)
    }
    if isWanted { return wanted.async { work.run(isBehind: false) } }
    behind.async { [self] in
      state.withLock { state in
        state.waiting[podcast]?.removeAll { $0 === work }
        if state.waiting[podcast]?.isEmpty == true { state.waiting[podcast] = nil }
      }
      work.run(isBehind: true)
    }
  }

  /// Somebody waits for a podcast from now on.
  func want(_ podcast: Int64) {
    let waiting = state.withLock { state in
      state.isWanted.insert(podcast)
      return state.waiting.removeValue(forKey: podcast) ?? []
    }
    for work in waiting { wanted.async { work.run(isBehind: false) } }
  }

  /// Nobody waits for it any more.
  func settle(_ podcast: Int64) { state.withLock { _ = $0.isWanted.remove(podcast) } }

  /// Ends the threads when what is there already has run.
  func stop() {
    wanted.stop()
    behind.stop()
  }

  /// Work that stands in two lines.
  private final class OnceOnly: Sendable {
    private let body: @Sendable (Bool) -> Void
    private let hasBegun = Monitor(false)

    init(_ body: @escaping @Sendable (Bool) -> Void) { self.body = body }

    func run(isBehind: Bool) {
      let isFirst = hasBegun.withLock { hasBegun in
        defer { hasBegun = true }
        return !hasBegun
      }
      if isFirst { body(isBehind) }
    }
  }
}
