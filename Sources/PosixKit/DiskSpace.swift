internal import Glibc

/// Room on a file system.
package enum DiskSpace {
  /// Bytes that this user may still write at `path`; nil where that can't be learnt.
  package static func available(at path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int64(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }
}
