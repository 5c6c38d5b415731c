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

  /// The open file description's lock on the whole file: many may share it, one may have it alone. It ends
  /// with the description, so also with its process.
  package enum Lock: Sendable { case shared, exclusive }

  /// Tries to lock the file, and never waits.
  /// - Parameter byte: the offset of the one byte to lock, also behind the file's end; nil for the whole file.
  /// - Returns: whether the lock was free.
  package func tryLock(_ kind: Lock, byte: Int64? = nil) -> Bool {
    lock(Self.set, kind == .shared ? F_RDLCK : F_WRLCK, byte) != nil
  }

  package func unlock() { _ = lock(Self.set, F_UNLCK) }

  /// Whether the file has an exclusive lock. Does not try to get it.
  package var isLocked: Bool { lock(Self.get, F_WRLCK).map { Int32($0.l_type) != F_UNLCK } ?? false }

  /// F_OFD_GETLK and F_OFD_SETLK (fcntl(2)).
  private static let (get, set): (Int32, Int32) = (36, 37)

  /// - Returns: the lock as the system has it; nil where it fails.
  private func lock(_ command: Int32, _ kind: Int32, _ byte: Int64? = nil) -> flock? {
    var lock = flock()
    if let byte { (lock.l_start, lock.l_len) = (off_t(byte), 1) }
    (lock.l_type, lock.l_whence) = (Int16(kind), Int16(SEEK_SET))
    return fcntl(rawValue, command, &lock) == 0 ? lock : nil
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
