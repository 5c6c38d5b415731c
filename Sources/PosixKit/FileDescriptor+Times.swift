internal import Glibc

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
