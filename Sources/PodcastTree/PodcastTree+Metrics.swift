internal import Catalog
internal import Configuration
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// Counts of what is in memory: a test checks that nothing stays behind.
extension PodcastTree {
  package var gauges: [Gauge] {
    state.withLock { state in
      let names = state.listings.values.reduce(0) { $0 + $1.items.count }
      return [
        Gauge("open episodes", state.open.count),
        Gauge("uploads", state.uploads.count),
        Gauge("names in memory", names, limit: TreeState.namesInMemory * 2),
        Gauge(
          "podcasts in memory", state.podcasts.count,
          limit: state.listings.count + state.downloads.count + 2 * settings.latest + 256),
      ]
    }
  }

  func metricsText() -> [UInt8] {
    let states = TransferState.allCases.filter { $0 != .remote }
    let (cached, counts) = state.withLock { state in (state.cachedBytes, states.map(state.count)) }
    var downloads = MetricFamily("podcastfs_downloads", .gauge, "Episodes by the state of their download.")
    for (state, count) in zip(states, counts) { downloads.add(Int64(count), ["state": state.name]) }
    var bytes = MetricFamily(
      "podcastfs_cache_bytes", .gauge, unit: "bytes", "Bytes of episodes in the cache.")
    bytes.add(cached)
    let families = [requestMetrics].compactMap(\.self) + [downloads, bytes]
    return Array(MetricFamily.document(families + transfers.httpCounts.families + heldMetrics).utf8)
  }

  private var heldMetrics: [MetricFamily] {
    let all = gauges + [Gauge("asked of the daemon", transfers.underWay)] + observerGauges
    var held = MetricFamily("podcastfs_held", .gauge, "What is open, parked or in memory.")
    var most = MetricFamily("podcastfs_held_limit", .gauge, "The most of it while nothing is under way.")
    for gauge in all {
      held.add(Int64(gauge.count), ["what": gauge.name])
      most.add(Int64(gauge.limit), ["what": gauge.name])
    }
    return [held, most]
  }

  /// Waits until all that was begun on the tree's own thread is done.
  /// - Throws: ETIMEDOUT after half a minute.
  package func awaitIdle() throws {
    let isDone = Monitor(false)
    loader.async { isDone.withLockNotifying { $0 = true } }
    guard isDone.wait(until: .after(30), for: { $0 ? true : nil }) != nil else { throw Errno.ETIMEDOUT }
  }
}

/// A count of something that comes and goes, for tests that nothing stays behind.
package struct Gauge: Hashable, Sendable {
  package var name: String
  package var count: Int
  /// The largest count while nothing is under way.
  package var limit: Int

  package init(_ name: String, _ count: Int, limit: Int = 0) {
    (self.name, self.count, self.limit) = (name, count, limit)
  }
}
