internal import CLinux
internal import Glibc

extension FileDescriptor {
  /// Makes sure that the first `size` bytes have room on the disk (posix_fallocate(3)): a mapped file without
  /// it kills its writer with SIGBUS when the disk is full.
  package func allocate(_ size: Int64) throws(PosixError) {
    try retrying("reserve room") {
      let reason = posix_fallocate(rawValue, 0, off_t(size))
      if reason == 0 { return 0 }
      errno = reason
      return -1
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

  /// Whether somebody has the exclusive lock, without trying to get it.
  package var isLocked: Bool { podcastfs_is_locked(rawValue) == 1 }
}

// Marks on places of a file (locks of a byte each, which others can have too): whoever lives is known by them, and
// nothing is left of who has died.
extension FileDescriptor {
  /// Marks a place, as long as this open file lives. It is to be open for reading.
  package func mark(_ place: Int64) throws(PosixError) {
    try retrying("mark a place of a file") { podcastfs_lock_byte(rawValue, off_t(place)) }
  }

  /// Places of a range that other open files have marked, `limit` at the most. This one is to be open for writing.
  package func marks(in range: Range<Int64>, limit: Int) -> Set<Int64> {
    var (found, ranges): (Set<Int64>, [Range<Int64>]) = ([], [range])
    while found.count < limit, let next = ranges.popLast() {
      if next.isEmpty { continue }
      let place = Int64(podcastfs_find_locked(rawValue, off_t(next.lowerBound), off_t(next.count)))
      guard next.contains(place) else { continue }
      found.insert(place)
      ranges += [next.lowerBound..<place, place + 1..<next.upperBound]
    }
    return found
  }
}

extension FileDescriptor {
  /// Sets the time of the last access to now, whatever the mount options say of it (futimens(3)).
  package func markAccessed() {
    // UTIME_NOW and UTIME_OMIT, which are macros with casts.
    var times = (timespec(tv_sec: 0, tv_nsec: (1 << 30) - 1), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2))
    _ = withUnsafePointer(to: &times) {
      $0.withMemoryRebound(to: timespec.self, capacity: 2) { futimens(rawValue, $0) }
    }
  }
}
