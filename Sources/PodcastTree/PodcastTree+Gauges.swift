internal import PosixKit
internal import TransferProtocol

/// What is kept, for who checks that nothing stays behind.
extension PodcastTree {
  /// The tree's own.
  package var gauges: [Gauge] {
    world.withLock { world in
      let names = world.listings.values.reduce(0) { $0 + $1.items.count }
      return [
        Gauge("open episodes", world.open.count),
        Gauge("to be dropped at close", world.open.dropsAtClose.count),
        Gauge("uploads", world.uploads.count),
        Gauge("names in memory", names, limit: World.namesInMemory * 2),
        Gauge("results", world.resultByID.count, limit: world.results.values.reduce(1000) { $0 + $1.count }),
        Gauge(
          "appearances", world.appearances.count,
          limit: 2 * (world.shelves.count + world.downloads.podcasts.count) + 512),
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
