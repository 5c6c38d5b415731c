internal import EpisodeCache
internal import PosixKit

/// Tells in the log, once each time, that the runtime folder has no room for live maps.
final class MapsRoom: Sendable {
  private let layout: CacheLayout
  private let log: LogFile
  private let isLacking = Monitor(false)

  init(_ layout: CacheLayout, _ log: LogFile) {
    self.layout = layout
    self.log = log
  }

  /// A map was made, or taken over: `isSpare` where it had to be made in the cache.
  func made(isSpare: Bool) {
    let isNew = isLacking.withLock { isLacking in
      defer { isLacking = isSpare }
      return isSpare && !isLacking
    }
    guard isNew else { return }
    log.write("no space left in \(layout.runtime): what it should hold of downloads is kept in the cache")
  }
}
