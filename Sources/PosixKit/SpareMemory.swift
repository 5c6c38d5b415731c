internal import CLinux

/// Memory that a burst of work has left behind: the allocator keeps it for the next one, which may be hours away.
package enum SpareMemory {
  private static let isDue = Monitor(false)

  /// Gives it back to the system, which takes some milliseconds.
  package static func giveBack() { podcastfs_trim_memory() }

  /// The same in a moment: once for many bursts.
  /// - Parameter queue: whose thread does it.
  package static func giveBackSoon(on queue: WorkQueue) {
    let isFirst = isDue.withLock { isDue in
      defer { isDue = true }
      return !isDue
    }
    guard isFirst else { return }
    queue.async(after: 2) {
      isDue.withLock { $0 = false }
      giveBack()
    }
  }
}
