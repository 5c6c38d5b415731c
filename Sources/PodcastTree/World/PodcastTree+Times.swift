internal import Catalog
internal import PodcastModel
internal import PosixKit

/// The times of directories that come from the catalogue's rows. On the loader's thread.
extension PodcastTree {
  func readFolderTimes() {
    guard let times = try? catalog.folderTimes() else { return }
    world.withLock { $0.folderTimes = times }
  }

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
