internal import CLinux
internal import Glibc

extension FileDescriptor {
  /// Makes sure that the first `size` bytes have room on the disk (posix_fallocate(3)): a mapped file without
  /// it kills its writer with SIGBUS when the disk is full.
  package func allocate(_ size: Int64) throws(PosixError) {
    while true {
      let reason = Errno(rawValue: posix_fallocate(rawValue, 0, off_t(size)))
      if reason.rawValue == 0 { return }
      if reason != .EINTR { throw PosixError(reason, "reserve room") }
    }
  }

  /// Gives the room of a range back to the disk, where it can do that: it reads as zeros (fallocate(2)).
  package func punchHole(_ range: Range<Int64>) {
    _ = podcastfs_punch_hole(rawValue, off_t(range.lowerBound), off_t(range.count))
  }

  /// The open file description's lock on the whole file: many may share it, one may have it alone. It ends
  /// with the description, so also with its process.
  package enum Lock: Sendable { case shared, exclusive }

  /// - Returns: whether it was had; never waits.
  package func tryLock(_ kind: Lock) -> Bool {
    switch kind {
    case .shared: podcastfs_try_lock_shared(rawValue) == 0
    case .exclusive: podcastfs_try_lock(rawValue) == 0
    }
  }

  package func unlock() { _ = podcastfs_unlock(rawValue) }
}
