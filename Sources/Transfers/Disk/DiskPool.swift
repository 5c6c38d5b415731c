package import PodcastModel
internal import PosixKit

/// Serial queues for work that waits for the disk. Lanes of one kind share a few; those of different kinds none.
package final class DiskPool: Sendable {
  package enum Lane: Hashable, Sendable {
    /// An episode's files: opened, written, closed, removed.
    case files(MediaKey)
    /// An episode's bytes on their way from the page cache to the disk.
    case flush(MediaKey)
    case store
    case log
    case cache
  }

  /// Sixteen for episodes' files; four for flushes, which take longest and nobody waits for; three for the others.
  private let queues = (0..<23).map { _ in WorkQueue(name: "disk", stackSize: 256 << 10) }

  package init() {}

  /// Runs `job` after those that `lane` has.
  package func run(_ lane: Lane, _ job: @escaping @Sendable () -> Void) {
    let number =
      switch lane {
      case .files(let key): Int(UInt(bitPattern: key.hashValue) % 16)
      case .flush(let key): 16 + Int(UInt(bitPattern: key.hashValue) % 4)
      case .store: 20
      case .log: 21
      case .cache: 22
      }
    queues[number].async(job)
  }
}
