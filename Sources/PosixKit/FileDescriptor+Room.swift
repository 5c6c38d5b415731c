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
    // FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE
    _ = fallocate(rawValue, 1 | 2, off_t(range.lowerBound), off_t(range.count))
  }

  /// The open file description's lock on the whole file: many may share it, one may have it alone. It ends
  /// with the description, so also with its process.
  package enum Lock: Sendable { case shared, exclusive }

  /// - Returns: whether it was had; never waits.
  package func tryLock(_ kind: Lock) -> Bool {
    lock(Self.set, kind == .shared ? F_RDLCK : F_WRLCK) != nil
  }

  package func unlock() { _ = lock(Self.set, F_UNLCK) }

  /// Whether somebody has the exclusive lock, without trying to get it.
  package var isLocked: Bool { lock(Self.get, F_WRLCK).map { Int32($0.l_type) != F_UNLCK } ?? false }

  /// F_OFD_GETLK and F_OFD_SETLK (fcntl(2)).
  private static let (get, set): (Int32, Int32) = (36, 37)

  /// - Parameter count: 0 for all from `first` on.
  /// - Returns: the lock as the system has it; nil where it fails.
  private func lock(_ command: Int32, _ kind: Int32, first: Int64 = 0, count: Int64 = 0) -> flock? {
    var lock = flock()
    (lock.l_type, lock.l_whence) = (Int16(kind), Int16(SEEK_SET))
    (lock.l_start, lock.l_len) = (off_t(first), off_t(count))
    return fcntl(rawValue, command, &lock) == 0 ? lock : nil
  }
}

// Marks on places of a file (locks of a byte each, which others can have too): whoever lives is known by them, and
// nothing is left of who has died.
extension FileDescriptor {
  /// Marks a place, as long as this open file lives. It is to be open for reading.
  package func mark(_ place: Int64) throws(PosixError) {
    if lock(Self.set, F_RDLCK, first: place, count: 1) == nil { throw .last("mark a place of a file") }
  }

  /// Places of a range that other open files have marked, `limit` at the most. This one is to be open for writing.
  package func marks(in range: Range<Int64>, limit: Int) -> Set<Int64> {
    var (found, ranges): (Set<Int64>, [Range<Int64>]) = ([], [range])
    while found.count < limit, let next = ranges.popLast() {
      if next.isEmpty { continue }
      guard let held = lock(Self.get, F_WRLCK, first: next.lowerBound, count: Int64(next.count)),
        Int32(held.l_type) != F_UNLCK
      else { continue }
      let place = max(Int64(held.l_start), next.lowerBound)
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
