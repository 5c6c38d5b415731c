internal import Configuration
internal import PosixKit
internal import TransferProtocol

/// Counts of what is in memory: a test checks that nothing stays behind.
extension PodcastTree {
  /// The tree's own.
  package var gauges: [Gauge] {
    state.withLock { state in
      let names = state.listings.values.reduce(0) { $0 + $1.items.count }
      return [
        Gauge("open episodes", state.open.count),
        Gauge("to be dropped at close", state.open.dropsAtClose.count),
        Gauge("uploads", state.uploads.count),
        Gauge("names in memory", names, limit: TreeState.namesInMemory * 2),
        Gauge(
          "podcasts in memory", state.podcasts.count,
          limit: state.listings.count + state.downloads.count + 2 * settings.latest + 256),
      ]
    }
  }

  /// `.podcastfs/gauges`: a line for each, with its count, its limit and its name.
  func gaugesText() -> [UInt8] {
    let all = gauges + [Gauge("asked of the daemon", transfers.underWay)] + observerGauges
    return Array(all.map { "\($0.count) \($0.limit) \($0.name)\n" }.joined().utf8)
  }

  /// Waits until all that was begun on the tree's own thread is done.
  /// - Throws: ETIMEDOUT after half a minute.
  package func awaitIdle() throws {
    let isDone = Monitor(false)
    loader.async { isDone.withLockNotifying { $0 = true } }
    guard isDone.wait(until: .after(30), for: { $0 ? true : nil }) != nil else { throw Errno.ETIMEDOUT }
  }
}
