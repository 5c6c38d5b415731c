internal import Catalog
internal import Configuration
internal import Glibc
internal import PodcastModel
internal import PosixKit
internal import TransferProtocol

/// The files in `.podcastfs/`, and `subscriptions.opml`: for the owner alone, because private feeds have tokens.
struct ControlFile: TreeNode {
  let tree: PodcastTree
  let id: NodeID
  private var isList: Bool { id == .subscriptionList }
  var hasVerbs: Bool { isList }

  func attributes() -> Answer<NodeAttributes> {
    if id == .log {
      var attributes = tree.state.withLock { tree.controlFileAttributes(id, $0) }
      attributes.size = FollowedFile.size(tree.places.logFile)
      return .value(attributes)
    }
    return .inMemory(or: tree.loader) {
      tree.state.withLock { state in
        isList && state.subscriptionListSize == nil ? nil : tree.controlFileAttributes(id, state)
      }
    } load: {
      let size = try tree.catalog.subscriptionListSize()
      tree.state.withLock { $0.subscriptionListSize = size }
    }
  }

  /// What is written to `subscriptions.opml` is a list to be subscribed to. The text that was open is gone with the process
  /// that made it.
  func open(writes: Bool, for caller: Caller) -> Answer<any OpenFile> {
    guard tree.owner.admits(caller) else { return .failure(.EACCES) }
    if writes { return isList ? .on(tree.loader) { try tree.writtenList() } : .failure(.EROFS) }
    switch id {
    case .events: return .value(tree.events.open())
    case .log: return .value(FollowedFile(tree.places.logFile))
    case _ where caller.resumes != nil: return .failure(.ESTALE)
    case .status: return .on(tree.loader) { TextFile(tree.statusText()) }
    case .metrics: return .on(tree.loader) { TextFile(tree.metricsText()) }
    default: return .on(tree.loader) { TextFile(try tree.catalog.exportOPML()) }
    }
  }
}

extension PodcastTree {
  func controlFileAttributes(_ node: NodeID, _ state: TreeState) -> NodeAttributes {
    let isList = node == .subscriptionList
    let size = isList ? state.subscriptionListSize : nil
    var attributes = NodeAttributes(
      node: node, permissions: isList ? 0o600 : 0o400, size: size ?? 4096,
      modified: isList ? state.time(state.listTimes.subscriptionList) ?? started : .now)
    if size == nil { attributes.timeout = 0 }
    return attributes
  }

  func statusText() -> [UInt8] {
    let statuses = transfers.allStatuses()
    let told = state.withLock { state in
      statuses.map { status in
        status.withLength(ofFeed: state.downloadOfKey[status.key].flatMap { state.downloads[$0]?.feedLength })
      }
    }
    let report = StatusReport.json(told, version: podcastfsVersion, cacheLimit: settings.cacheSize)
    return Array(report.indentedText.utf8) + [UInt8(ascii: "\n")]
  }
}

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
    var held = MetricFamily("podcastfs_held", .gauge, "What is open, parked or in memory.")
    var most = MetricFamily("podcastfs_held_limit", .gauge, "The most of it while nothing is under way.")
    for gauge in gauges + (kernel?.gauges ?? []) {
      held.add(Int64(gauge.count), ["what": gauge.name])
      most.add(Int64(gauge.limit), ["what": gauge.name])
    }
    let families = [downloads, bytes] + transfers.httpCounts.families + [held, most]
    return Array(MetricFamily.document(families).utf8)
  }

  /// Waits until all that was begun on the tree's own thread is done.
  /// - Throws: ETIMEDOUT after half a minute.
  package func awaitIdle() throws {
    let isDone = Monitor(false)
    loader.async { isDone.withLockNotifying { $0 = true } }
    guard isDone.wait(until: .after(30), for: { $0 ? true : nil }) != nil else { throw Errno.ETIMEDOUT }
  }
}

/// How many of one kind of object there are now. Tests compare counts, to find objects that are never freed.
package struct Gauge: Hashable, Sendable {
  package var name: String
  package var count: Int
  /// The largest count while nothing is under way.
  package var limit: Int

  package init(_ name: String, _ count: Int, limit: Int = 0) {
    (self.name, self.count, self.limit) = (name, count, limit)
  }
}
