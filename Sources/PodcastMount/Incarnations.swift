internal import PodcastTree
internal import PosixKit

/// How often the kernel's directory for a number has ended: that of a folder of `Downloaded/` by rmdir(2), that of a
/// search's result where rename(2) moved it in the kernel only. The folder comes back under the same number, as another
/// generation (`fuse_entry_param`). Else the kernel would find the directory that has ended, or fail with ESTALE because
/// it has that directory in another place.
final class Incarnations: Sendable {
  private let counts = Monitor<[UInt64: UInt64]>([:])

  /// - Parameter number: the kernel's.
  subscript(number: UInt64) -> UInt64 { counts.withLock { $0[number] ?? 0 } }

  /// The generation of a folder that has just gone.
  func last(of number: UInt64) -> UInt64 {
    NodeID(rawValue: number).kind == .downloadedPodcast ? max(self[number], 1) - 1 : self[number]
  }

  func end(_ number: UInt64) { counts.withLock { $0[number, default: 0] += 1 } }
}
