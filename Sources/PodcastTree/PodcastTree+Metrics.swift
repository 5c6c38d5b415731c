internal import Catalog
internal import Configuration
internal import Glibc
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

  /// `.podcastfs/metrics`, as OpenMetrics.
  func metricsText() -> [UInt8] {
    let states = TransferState.allCases.filter { $0 != .remote }
    let (cached, counts) = state.withLock { state in (state.cachedBytes, states.map(state.count)) }
    var build = MetricFamily("podcastfs_build", .info, "The version of the program.")
    build.add(1.0, ["version": podcastfsVersion])
    var downloads = MetricFamily("podcastfs_downloads", .gauge, "Episodes by the state of their download.")
    for (state, count) in zip(states, counts) { downloads.add(Int64(count), ["state": state.name]) }
    var bytes = MetricFamily(
      "podcastfs_cache_bytes", .gauge, unit: "bytes", "Bytes of episodes in the cache.")
    bytes.add(cached)
    var limit = MetricFamily("podcastfs_cache_limit_bytes", .gauge, unit: "bytes", "The option cache_size.")
    limit.add(settings.cacheSize)
    let families =
      [requestMetrics].compactMap(\.self) + [
        build, reads.family, downloads, bytes, limit, feedMetrics, memoryMetrics,
      ]
    return Array(MetricFamily.document(families + transfers.httpCounts.families + heldMetrics).utf8)
  }

  private var feedMetrics: MetricFamily {
    var feeds = MetricFamily("podcastfs_feeds", .gauge, "Subscriptions by the outcome of the last refresh.")
    let podcasts = ((try? catalog.subscriptions()) ?? []).map(\.podcast)
    feeds.add(Int64(podcasts.count { $0.isFetched && $0.error == nil }), ["state": "ok"])
    feeds.add(Int64(podcasts.count { $0.error != nil }), ["state": "failing"])
    feeds.add(Int64(podcasts.count { !$0.isFetched && $0.error == nil }), ["state": "new"])
    return feeds
  }

  private var memoryMetrics: MetricFamily {
    var memory = MetricFamily(
      "process_resident_memory_bytes", .gauge, unit: "bytes", "Memory that the processes hold.")
    let daemon = (try? Directories.read(DaemonPlace.pidFile(runtime: places.runtime), limit: 32)).flatMap {
      Int32(String(decoding: $0, as: UTF8.self).filter(\.isNumber))
    }
    for (name, process) in [("mount", getpid()), ("transferd", daemon ?? 0)] {
      if let bytes = Processes.residentBytes(of: process) { memory.add(bytes, ["process": name]) }
    }
    return memory
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

/// Bytes that programs have read of episodes.
final class ReadMeter: Sendable {
  private let bytes = Monitor((cache: Int64(0), network: Int64(0)))

  /// - Parameter waited: whether the bytes had to come first.
  func count(_ count: Int, waited: Bool) {
    bytes.withLock { bytes in
      if waited { bytes.network += Int64(count) } else { bytes.cache += Int64(count) }
    }
  }

  var family: MetricFamily {
    let bytes = bytes.withLock { $0 }
    var family = MetricFamily(
      "podcastfs_read_bytes", .counter, unit: "bytes", "Bytes of episodes that programs have read.")
    family.add(bytes.cache, ["from": "cache"])
    family.add(bytes.network, ["from": "network"])
    return family
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
