internal import PosixKit

/// What is kept, for who checks that nothing stays behind.
extension PodcastTree {
  /// How many there are of things that come and go, and how many there may be at the most where nothing is under way.
  package var gauges: [(name: String, count: Int, limit: Int)] {
    world.withLock { world in
      let names = world.listings.values.reduce(0) { $0 + $1.items.count }
      return [
        ("open episodes", world.open.count, 0),
        ("to be dropped at close", world.open.dropsAtClose.count, 0),
        ("uploads", world.uploads.count, 0),
        ("names in memory", names, World.namesInMemory * 2),
        ("results", world.resultByID.count, world.results.values.reduce(1000) { $0 + $1.count }),
        (
          "appearances", world.appearances.count,
          2 * (world.shelves.count + world.downloads.podcasts.count) + 512
        ),
      ]
    }
  }

  /// Waits until all that was begun on the tree's own thread is done.
  /// - Throws: ETIMEDOUT after half a minute.
  package func awaitIdle() throws {
    let isDone = Monitor(false)
    loader.async { isDone.withLockNotifying { $0 = true } }
    guard isDone.wait(until: .after(30), for: { $0 ? true : nil }) != nil else { throw Errno.ETIMEDOUT }
  }
}
