internal import Catalog
internal import PodcastModel
internal import PosixKit

/// The times of directories: those of the catalogue's, and of `Latest/`, come from its rows, those of the other views from
/// `ViewTimes`. All of it runs on the loader's thread.
extension PodcastTree {
  /// The one thing here that runs where the tree is made.
  func readFirstTimes() {
    catalog.gatherViews(seconds: Self.gatheringPatience)
    readFolderTimes()
    let stored = (try? catalog.viewTimes()) ?? [:]
    world.withLock { world in
      for node in World.fixedViews {
        if let time = stored[node.key] { _ = world.viewTimes.adopt(time, of: node) }
      }
    }
  }

  func readFolderTimes() {
    guard let times = try? catalog.folderTimes() else { return }
    world.withLock { $0.folderTimes = times }
  }

  // MARK: Views

  /// At the start, when what the views list is known.
  /// - Parameter changed: when that last changed as far as the transfers know, in seconds since 1970.
  func readViewTimes(changed: Int64) {
    guard let stored = try? catalog.viewTimes() else {
      return loader.async(after: 1) { [weak self] in self?.readViewTimes(changed: changed) }
    }
    var known = Difference()
    known.attributes = world.withLock { world in
      var others: [NodeID] = []
      for node in world.views {
        guard let mark = world.mark(of: node) else { continue }
        let isAnother: Bool
        if let time = stored[node.key] {
          isAnother = world.viewTimes.adopt(time, of: node)
        } else {
          let since = changed > 0 ? min(FileTime(changed), .now) : .now
          isAnother = world.viewTimes.change(node, to: mark, at: since, isForced: false)
        }
        if isAnother { others.append(node) }
      }
      return others
    }
    tell(known)
    // At once: the next mount is to begin with the same.
    settleViewTimes()
    // What has changed while no mount was there; the daemon may first have to say how things stand.
    loader.async(after: 1) { [weak self] in
      guard let self else { return }
      var difference = Difference()
      difference.attributes = viewsChanged(world.withLock { $0.views }, isForced: false)
      tell(difference)
    }
  }

  /// Views that may list something else: looked at when all that is known by now has been taken in, because states
  /// come one by one that belong together.
  /// - Parameter time: when that happened, as every mount hears it; nil where it is not known, or nothing has moved.
  func viewsMayHaveChanged(_ nodes: some Sequence<NodeID>, at time: FileTime?) {
    let isFirst = world.withLock { world in
      let isFirst = world.doubtfulViews.isEmpty
      for node in nodes {
        let known = world.doubtfulViews[node] ?? nil
        world.doubtfulViews[node] = .some([known, time].compactMap(\.self).max())
      }
      return isFirst
    }
    if isFirst { loader.async { [weak self] in self?.lookAtViews() } }
  }

  func lookAtViews() {
    let views = world.withLock { world in
      defer { world.doubtfulViews = [:] }
      return world.doubtfulViews
    }
    if views.isEmpty { return }
    var difference = Difference()
    difference.attributes = viewsChanged(views.keys, at: views.compactMapValues(\.self), isForced: false)
    tell(difference)
  }

  /// Views that list something else, or may: moves their times.
  /// - Parameters:
  ///   - times: when that happened, for every mount the same; now where it is not known.
  ///   - isForced: names have come or gone.
  func viewsChanged(
    _ nodes: some Sequence<NodeID>, at times: [NodeID: FileTime] = [:], isForced: Bool
  ) -> [NodeID] {
    let now = FileTime.now
    let changed = world.withLock { world in
      nodes.filter { node in
        guard let mark = world.mark(of: node) else {
          world.viewTimes.forget(node)
          return false
        }
        // What lies ahead is of a clock that has been set back.
        let time = min(times[node] ?? now, now)
        return world.viewTimes.change(
          node, to: mark, at: time, isHeardByAll: times[node] != nil, isForced: isForced)
      }
    }
    if !changed.isEmpty { settleSoon() }
    return changed
  }

  /// A burst of changes costs one commit.
  private func settleSoon() {
    if world.withLock({ $0.viewTimes.isSettled || $0.isSettling }) { return }
    world.withLock { $0.isSettling = true }
    loader.async(after: Self.settlingTime) { [weak self] in self?.settleViewTimes() }
  }

  /// In seconds.
  private static let settlingTime = 0.25
  /// Seconds that other mounts have to say what they have not settled yet: a moment later they have anyhow.
  private static let gatheringPatience = 0.2

  /// Has the catalogue keep the times: where another mount was first, its times count.
  func settleViewTimes() {
    let times = world.withLock { world in
      world.isSettling = false
      return world.viewTimes.takeUnsettled()
    }
    if times.isEmpty { return }
    let keyed = Dictionary(times.map { ($0.key.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    guard let stored = try? catalog.settleViews(keyed) else {
      return world.withLock { $0.viewTimes.giveBack(times) }
    }
    adopt(stored)
  }

  /// Another mount has settled some, or begins and is to know all.
  func readViewTimes() throws {
    lookAtViews()
    settleViewTimes()
    adopt(try catalog.viewTimes())
  }

  private func adopt(_ stored: [Int64: ViewTime]) {
    var difference = Difference()
    difference.attributes = world.withLock { world in
      stored.compactMap { key, time in
        let node = NodeID(key: key)
        // A folder of downloads that is not here, or not yet.
        guard let mark = world.mark(of: node) else { return nil }
        // What it lists by now, or still, has another time, which is that of the change itself.
        if mark != time.mark { return nil }
        return world.viewTimes.adopt(time, of: node) ? node : nil
      }
    }
    tell(difference)
  }

  // MARK: Latest

  /// Where a commit has changed the rows that say when `Latest/` changed: to be called when all of it has been taken in.
  func latestTimeMayHaveChanged() {
    let isOther = world.withLock { world in
      defer { world.latestTimeTold = world.latestTime }
      return world.latestTimeTold != world.latestTime
    }
    if !isOther { return }
    var difference = Difference()
    difference.attributes = [.latest]
    tell(difference)
  }

  // MARK: Folders of podcasts

  /// The rows of the folders that show a podcast say when they last changed: reads those that are in memory again.
  /// - Returns: the folders whose time is another.
  func timesChanged(of podcast: Int64) throws -> Difference {
    let (subscription, results) = world.withLock { world in
      (
        world.subscriptionOfPodcast[podcast],
        world.folders(showing: podcast).filter { $0.kind == .result && world.resultByID[$0.row] != nil }.map(
          \.row)
      )
    }
    var difference = Difference()
    if let subscription, let now = try catalog.subscription(subscription.id).map({ Folder($0) }),
      now != subscription
    {
      world.withLock { $0.replaceSubscription(now) }
      difference.attributes.append(NodeID(.subscription, now.id))
    }
    for id in results {
      if try resultTimeChanged(id) { difference.attributes.append(NodeID(.result, id)) }
    }
    return difference
  }

  /// - Returns: whether it is another.
  func resultTimeChanged(_ id: Int64) throws -> Bool {
    guard let now = try catalog.result(id).map({ Folder($0) }) else { return false }
    return world.withLock { world in
      guard let old = world.resultByID[id], old != now else { return false }
      world.resultByID[id] = now
      return true
    }
  }
}

extension NodeID {
  /// What the catalogue calls a view.
  fileprivate var key: Int64 { Int64(bitPattern: rawValue) }
  fileprivate init(key: Int64) { self.init(rawValue: UInt64(bitPattern: key)) }

  /// Whether it lists episodes that other directories list too.
  var isView: Bool {
    kind == .downloadedPodcast || self == .downloading || self == .downloaded || self == .latest
  }
}

extension World {
  fileprivate static var fixedViews: [NodeID] { [.root, .control, .downloading, .downloaded] }

  /// The directories whose times the catalogue keeps by what they list; those of the fixed ones stand still.
  fileprivate var views: [NodeID] {
    Self.fixedViews + downloads.downloaded.keys.map { NodeID(.downloadedPodcast, $0) }
  }

  /// What a view lists, as a number; nil where it is not there, or not known yet.
  fileprivate func mark(of node: NodeID) -> Int64? {
    switch node {
    case .root, .control: 0
    case .downloading: downloads.downloading.mark
    case .downloaded: downloads.downloadedMark
    default: node.kind == .downloadedPodcast ? downloads.downloaded[node.row]?.mark : nil
    }
  }
}
